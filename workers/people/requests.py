"""Requests with an id: the same one again finds what the first one did, whenever it comes and however many come.

One note of the store per request: `request/<case>/<digest of the person and the request id>`. It is written before
anything goes onto the tape, by compare-and-swap, so that of two at once one is first; and it holds what goes onto the
tape until the case has it, so that one that was killed in between is finished by the next. Notes live as long as their
case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from engines.store import StateStore
from schemas.canonical import canonical_bytes
from schemas.errors import UsageError
from workers.people.errors import RequestReused

PREFIX = "request/"
ID_LIMIT = 256
_DIGITS = 32


class Request(NamedTuple):
    """A request that a person named: the key of its note, the digest of all that it asks for."""

    key: str
    arguments: str


class Note(msgspec.Struct, frozen=True):
    """What a request came to: the digest of its arguments, the id of what it put on the tape, and that record as text
    until the case has it."""

    arguments: str
    id: str
    record: str | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Note).decode


def request(case: str, person: str, request_id: str, arguments: Mapping[str, Any]) -> Request:
    """The request of this person on this case under this id. Raises UsageError for an id that cannot be used."""
    if not 0 < len(request_id) <= ID_LIMIT or not request_id.isprintable():
        raise UsageError(f"the request id cannot be used: 1 to {ID_LIMIT} printable characters")
    return Request(f"{PREFIX}{case}/{_digest([person, request_id])}", _digest(dict(arguments)))


def recall(store: StateStore, asked: Request) -> Note | None:
    """What the request came to before, or None. Raises RequestReused where it was another one."""
    found = store.note(asked.key)
    return None if found is None else _same(asked, _decode(found))


def claim(store: StateStore, asked: Request, note: Note) -> Note:
    """The note that stands now: this one, or that of whoever was first. Raises RequestReused."""
    while not store.move_note(asked.key, None, _encode(note)):
        first = recall(store, asked)
        if first is not None:
            return first
    return note


def settle(store: StateStore, asked: Request, note: Note) -> None:
    """The case has it: the note no longer needs to hold it. Whoever else says the same was as right."""
    if note.record is not None:
        store.move_note(asked.key, _encode(note), _encode(Note(note.arguments, note.id)))


def _same(asked: Request, note: Note) -> Note:
    if note.arguments != asked.arguments:
        raise RequestReused
    return note


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical_bytes(value)).hexdigest()[:_DIGITS]
