"""From a record on the tape to an observation that can be trusted: or the reason why not."""

from __future__ import annotations

from engines.log import LogRecord
from schemas.errors import InputError, TenantMismatch
from schemas.keys import case_key
from schemas.observation import Observation
from schemas.scales import AHEAD, EARLIEST
from workers.detection.reading import read


def taken_in(record: LogRecord, secret: bytes | None = None) -> Observation | InputError:
    """The observation with its id proved or computed, or what is wrong with it. A clock that is implausible at the time
    of the log's append is flagged here, whoever wrote the record."""
    try:
        observation = read(record.value, secret)
        if case_key(observation.tenant, observation.subject) != record.key:
            raise TenantMismatch("the record's key names another case than its body")
    except InputError as error:
        return error
    at = observation.at
    if at is None or EARLIEST <= at <= record.appended_at + AHEAD or "clock" in observation.flags:
        return observation
    return observation.model_copy(update={"flags": (*observation.flags, "clock")})


def event_time(observation: Observation) -> int | None:
    """Its event time where that may move a clock or fill a window, else None."""
    return None if "clock" in observation.flags else observation.at
