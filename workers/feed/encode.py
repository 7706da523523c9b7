"""From an item to the record for the tape: canonical bytes, id, flags, key. The hot end of the feed."""

from __future__ import annotations

from typing import NamedTuple

from engines.log import NewRecord
from schemas.canonical import canonical_bytes
from schemas.digests import OBSERVATION, digest
from schemas.errors import RecordInvalid, RecordTooLarge
from schemas.keys import case_key, valid_subject
from schemas.observation import TEXT, identity, layout
from schemas.record import CONTENT_LIMIT
from schemas.scales import AHEAD, EARLIEST
from workers.feed.reader import Item

NOTE_DIGITS = 16
_KEPT = 65_536
_Flags = tuple[str, ...]
_NONE: _Flags = ()
_NO_TIME: _Flags = ("no_time",)
_CLOCK: _Flags = ("clock",)
_ID = "@"
_new = tuple.__new__
"""A named tuple made at half the cost of its own constructor: it is made for every line."""


class _Ending(NamedTuple):
    """What records of one kind, origin and subject have in common: the key, and the end of their canonical bytes."""

    key: str
    body: bytes


class Encoder:
    """Makes records of one tenant. `now` (microseconds) is the receipt that an event time is held against.

    The canonical bytes of an observation's identity are put together from their parts, most of which repeat from line
    to line: that saves more than half a microsecond a line. `untimed` counts records, other than texts, that have no
    time that can be used; `kinds` are those of all records so far.
    """

    def __init__(self, tenant: str, *, redaction: str | None, secret: bytes | None) -> None:
        self.now = 0
        self.untimed = 0
        self.kinds: set[str] = set()
        self._tenant = tenant
        self._secret = secret
        self._endings: dict[tuple[str, str, str], _Ending] = {}
        self._around = {flags: _around(flags, redaction) for flags in (_NONE, _NO_TIME, _CLOCK)}

    def record(self, item: Item) -> NewRecord:
        """The record of an item.

        Raises RecordTooLarge above 900 KiB of canonical content, NotCanonical and RecordInvalid.
        """
        kind, subject, at, content, origin = item
        if subject is None:
            subject = self._note(item)
        key, ending = self._endings.get((kind, origin, subject)) or self._ending(kind, origin, subject)
        if at is None:
            flags, start = _NO_TIME, b'{"at":null,"content":'
        else:
            flags, start = _NONE, b'{"at":%d,"content":' % at
            if at < EARLIEST or at > self.now + AHEAD:
                flags = _CLOCK
        body = start + canonical_bytes(content) + ending
        if len(body) > CONTENT_LIMIT:
            raise RecordTooLarge(f"the record has {len(body)} bytes of content; at most {CONTENT_LIMIT} fit")
        if at is None and TEXT not in content:
            self.untimed += 1
        before, after = self._around[flags]
        identifier = digest(OBSERVATION, body, self._secret).encode()
        return _new(NewRecord, (key, b"".join((before, identifier, after, body[1:]))))

    def _ending(self, kind: str, origin: str, subject: str) -> _Ending:
        if not valid_subject(subject):
            raise RecordInvalid("subject: not 1 to 512 printable characters")
        if len(self._endings) >= _KEPT:
            self._endings.clear()
        whole = canonical_bytes(identity(self._tenant, subject, kind, None, {}, origin))
        self.kinds.add(kind)
        ending = _Ending(case_key(self._tenant, subject), whole.removeprefix(b'{"at":null,"content":{}'))
        return self._endings.setdefault((kind, origin, subject), ending)

    def _note(self, item: Item) -> str:
        unnamed = identity(self._tenant, "", item.kind, item.at, item.content, item.origin)
        del unnamed["subject"]
        return f"note:{digest(OBSERVATION, canonical_bytes(unnamed), self._secret)[4 : 4 + NOTE_DIGITS]}"


def _around(flags: _Flags, redaction: str | None) -> tuple[bytes, bytes]:
    before, _, after = layout(b"{", _ID, flags, redaction).rpartition(_ID.encode())
    return before, after
