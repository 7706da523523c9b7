"""Putting a person's text onto the tape: evidence that starts work again on a case."""

from __future__ import annotations

import uuid
from typing import NamedTuple

from engines.failpoints import fail_point
from engines.log import EventLog
from engines.store import StateStore
from engines.topics import OBSERVATIONS
from merge.reading import head_number
from schemas.keys import parse_case
from schemas.observation import TEXT, Observation
from schemas.persons import detector_of
from workers.feed.encode import Encoder
from workers.feed.reader import Item
from workers.people.requests import Note, claim, recall, request
from workers.people.word import check_person, check_text


class Replied(NamedTuple):
    """What a reply became: the id of its observation, and whether the same request had been made before."""

    observation: str
    repeated: bool


def reply(
    log: EventLog, store: StateStore, case: str, text: str, by: str, now: int, request_id: str | None = None
) -> Replied:
    """Appends the text as an observation of the case, unless the case has it. Its origin names the person and the
    request; it has no event time of its own, for what it tells of is of another time than the telling. `now` in
    microseconds. Raises UnknownCase, UsageError, RequestReused and EngineErrors."""
    check_person(by)
    check_text("the text", text)
    head_number(store, case)
    tenant, subject = parse_case(case)
    name = uuid.uuid4().hex if request_id is None else request_id
    asked = request(case, by, name, {"verb": "reply", "text": text})
    repeated = request_id is not None and recall(store, asked) is not None
    encoder = Encoder(tenant, redaction=None, secret=None)
    encoder.now = now
    record = encoder.record(Item(TEXT, subject, None, {"text": text}, f"{detector_of(by)}/{name}"))
    identifier = Observation.parse(record.value).id
    if request_id is not None:
        # what it puts on the tape follows from the request itself: the note need not hold it
        claim(store, asked, Note(asked.arguments, identifier))
        fail_point("request.noted")
    if identifier not in store.known(case, [identifier]):
        log.append(OBSERVATIONS, [record])
        fail_point("request.appended")
    return Replied(identifier, repeated)
