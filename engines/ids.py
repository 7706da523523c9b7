"""Ids as they lie in a store: `abc_` + 64 hexadecimal digits in 35 bytes, about half. Pure."""

from __future__ import annotations

import re

_DIGEST = re.compile(r"[a-z]{3}_[0-9a-f]{64}", re.ASCII)
_PREFIX = 3


def pack_id(identifier: str) -> bytes | str:
    """The id's short form, or itself where it is none of that shape."""
    if _DIGEST.fullmatch(identifier) is None:
        return identifier
    return identifier[:_PREFIX].encode() + bytes.fromhex(identifier[_PREFIX + 1 :])


def unpack_id(kept: bytes | str) -> str:
    """The id that was packed; of damaged bytes something that is no id, so that whoever compares it sees it."""
    if isinstance(kept, str):
        return kept
    prefix = kept[:_PREFIX].decode("ascii", "backslashreplace")
    return f"{prefix}_{kept[_PREFIX:].hex()}"
