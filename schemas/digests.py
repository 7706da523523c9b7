"""Ids are digests of canonical bytes, so that whoever holds the content can check the id, in any language.

`<prefix>_` + lower-case hexadecimal SHA-256 of `<prefix>\\n` + the canonical bytes. A tenant may set a secret: then it
is HMAC-SHA-256 with that key, and ids no longer let a stranger confirm a guess at the content.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

OBSERVATION = "inp"
ANALYSIS = "ana"
VERSION = "ver"
ASSESSMENT = "ass"
PARAMETERS = "par"
SET = "set"
QUARANTINED = "qua"

HEX_LENGTH = 64
"""Hexadecimal digits behind a prefix."""


def digest(prefix: str, body: bytes, secret: bytes | None = None) -> str:
    """The id of `body` (canonical bytes) as a thing of this prefix."""
    message = b"%b\n%b" % (prefix.encode(), body)
    if secret is None:
        return f"{prefix}_{hashlib.sha256(message).hexdigest()}"
    return f"{prefix}_{hmac.new(secret, message, hashlib.sha256).hexdigest()}"


def set_digest(ids: Iterable[str]) -> str:
    """The digest of a set of ids: of the sorted ids, each followed by a line feed. Order and repeats do not matter."""
    return digest(SET, "".join(f"{one}\n" for one in sorted(set(ids))).encode())
