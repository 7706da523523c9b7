"""What a batch brought, made durable: branch versions on `versions`, bad records on `quarantine`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord, TopicPartition
from engines.store import StateStore
from engines.topics import QUARANTINE, VERSIONS
from schemas.keys import CaseKey
from schemas.observation import Observation
from schemas.version import Author, genesis
from workers.detection.branch import Result, branches
from workers.detection.intake import taken_in
from workers.detection.looking import Outcome
from workers.detection.plugin import Detector

NAME_LIMIT = 256
"""An author's name has at most this many characters."""


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes outcomes in the name of an author. `clock` gives microseconds."""

    log: EventLog
    store: StateStore
    author: Author
    clock: Callable[[], int]
    secret: bytes | None = None

    def publish(self, outcomes: Sequence[tuple[TopicPartition, Outcome]]) -> None:
        """Durable on return. Each result goes on top of the head that its case has now."""
        for at, outcome in outcomes:
            self._fetch_samples(at, outcome)
        results = [result for _, outcome in outcomes for result in outcome.results.items()]
        if results:
            self.log.append(VERSIONS, list(self._branches(results)))
            fail_point("worker.published")
        bad = [record for _, outcome in outcomes for record in outcome.quarantine]
        if bad:
            self.log.append(QUARANTINE, bad)
            fail_point("worker.quarantined")

    def _fetch_samples(self, at: TopicPartition, outcome: Outcome) -> None:
        """What retention has deleted meanwhile stays an id in the sample, without its content."""
        offsets = sorted({offset for wanted in outcome.wanted.values() for offset in wanted.values()})
        records = self.log.fetch(at, offsets) if offsets else {}
        for case, wanted in outcome.wanted.items():
            for identifier, offset in wanted.items():
                record = records.get(offset)
                observation = None if record is None else taken_in(record, self.secret)
                if isinstance(observation, Observation) and observation.id == identifier:
                    outcome.results[case].inputs[identifier] = observation

    def _branches(self, results: Sequence[tuple[str, Result]]) -> Iterator[NewRecord]:
        heads = self.store.heads([key for key, _ in results])
        now = self.clock()
        for key, result in results:
            head = heads.get(key)
            parent = _genesis_id(result.case, self.secret) if head is None else head.id
            for version in branches(result, parent, self.author, now, self.secret):
                yield NewRecord(key, version.encode())


def author_of(detectors: Sequence[Detector]) -> Author:
    """The author that a set of detectors is: their names, or the first of them and how many more there are."""
    names = sorted(one.name for one in detectors)
    shown = len(names)
    name = ",".join(names)
    while len(name) > NAME_LIMIT:
        shown -= 1
        name = ",".join([*names[:shown], f"and {len(names) - shown} more"])
    return Author(kind="detectors", name=name, version="1")


def _genesis_id(case: CaseKey, secret: bytes | None) -> str:
    return genesis(case.tenant, case.subject).version_id(secret)
