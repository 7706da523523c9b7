"""What the tape says about cases, gathered once for a verification: the witness that a store is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from engines.log import EventLog, LogRecord, TopicPartition
from engines.partitioner import partition_of
from engines.topics import QUARANTINE, STATES, VERSIONS
from merge.branches import SecretOf, read_branch
from merge.chain import Fault, fingerprint
from merge.contents import carried
from merge.tape import MERGER, partitions_of, records
from schemas.errors import CasetapeError, InputError, TenantMismatch
from schemas.quarantined import Quarantined
from schemas.version import StateVersion


class Published(NamedTuple):
    """A version in `states`: its id, the digest of the record's bytes, and where it lies."""

    id: str
    digest: bytes
    offset: int


@dataclass(slots=True)
class Seen:
    """What the tape holds of one case. `states`: by number, the first record of it; `repeats`: by number, the offsets
    of further ones. `branches`: ids on `versions`. `handled`: by content id, the offset of the first branch with it
    that the merger has handled. `envelopes`: by content id, digests of its envelopes on `versions`, of which the case
    keeps one."""

    states: dict[int, Published] = field(default_factory=dict)
    repeats: dict[int, set[int]] = field(default_factory=dict)
    branches: set[str] = field(default_factory=set)
    handled: dict[str, int] = field(default_factory=dict)
    envelopes: dict[str, set[bytes]] = field(default_factory=dict)


class Witness:
    """Reads `states` and `versions` of one case (or of all, for None). `faults` is what the tape itself does not
    stand up to."""

    def __init__(self, log: EventLog, case: str | None, secret_of: SecretOf) -> None:
        self._log = log
        self._case = case
        self.secret_of = secret_of
        self.faults: list[Fault] = []
        self.cases: defaultdict[str, Seen] = defaultdict(Seen)
        # a trim goes up to what is handled at most, so that the beginnings are read before that
        self._begun = log.start_offsets(VERSIONS)
        # then what the merger says it has handled: the rest of the tape can only have grown since
        self._committed = log.committed(MERGER, VERSIONS)
        self._starts = {topic: dict(log.start_offsets(topic)) for topic in (STATES, VERSIONS, QUARANTINE)}

    def whole(self, topic: str, case: str) -> bool:
        """Whether retention has removed nothing from the partition that holds the case."""
        return self._starts[topic][partition_of(case, len(self._starts[topic]))] == 0

    @property
    def trimmed(self) -> dict[str, int]:
        """By topic: how many records retention has removed from what was read, where it has removed any."""
        gone = {
            topic: sum(starts[at.partition] for at in partitions_of(self._log, topic, self._of(topic)))
            for topic, starts in self._starts.items()
        }
        return {topic: count for topic, count in gone.items() if count}

    def _of(self, topic: str) -> str | None:
        """Whose partition of a topic is read: quarantine is kept by tenant, and read whole."""
        return None if topic == QUARANTINE else self._case

    def read(self) -> None:
        """Reads both topics to their ends: `states` first, so that the branches of what it holds are on `versions`."""
        for topic, take in ((STATES, self._take_state), (VERSIONS, self._take_branch)):
            ends = self._log.end_offsets(topic)
            for at in partitions_of(self._log, topic, self._case):
                self._read(at, ends[at.partition], take)
                if topic == VERSIONS:
                    self._check_handled(at, ends[at.partition])

    def _read(self, at: TopicPartition, end: int, take: Callable[[TopicPartition, LogRecord], None]) -> None:
        expected = self._starts[at.topic][at.partition]
        try:
            for record in records(self._log, at, end):
                self._check_gap(at, expected, record.offset)
                expected = record.offset + 1
                if self._of(at.topic) in (None, record.key):
                    take(at, record)
        except Exception as error:
            # bytes that were damaged on the disk can fail in any way, and are what is looked for here
            if isinstance(error, CasetapeError) and error.retriable:
                raise
            self._fault("", None, f"{_place(at, expected)} cannot be read: {type(error).__name__}: {error}")
        else:
            self._check_gap(at, expected, end)

    def _check_handled(self, at: TopicPartition, end: int) -> None:
        start, handled = self._begun[at.partition], self._committed.get(at.partition, 0)
        if handled > end:
            self._fault("", None, f"{_place(at, end)}: more was handled than there is")
        if start > handled:
            # retention keeps what the merger has still to handle
            self._fault("", None, f"{_place(at, handled)} up to {start} was cut, and no merger had handled it")

    def _check_gap(self, at: TopicPartition, expected: int, found: int) -> None:
        # retention may have moved the beginning while this was reading
        if expected < found and self._log.start_offsets(at.topic)[at.partition] <= expected:
            self._fault("", None, f"{_place(at, expected)} up to {found} is missing")

    def _take_state(self, at: TopicPartition, record: LogRecord) -> None:
        seen = self.cases[record.key]
        try:
            version = StateVersion.parse(record.value)
            secret = self.secret_of(version.tenant)
            version.proven(secret)
            if version.case != record.key:
                raise TenantMismatch
            number = version.number
            if sorted(one.opened(secret).id for one in version.contents) != list(carried(version)):
                self._fault(record.key, number, f"{_place(at, record.offset)}: it lacks contents that it names")
        except InputError as error:
            self._fault(record.key, None, f"{_place(at, record.offset)}: {error}")
            return
        known = Published(version.id, fingerprint(record.value), record.offset)
        first = seen.states.setdefault(number, known)
        if first[:2] != known[:2]:
            self._fault(record.key, number, f"{_place(at, record.offset)}: the number comes again with other content")
        elif first is not known:
            seen.repeats.setdefault(number, set()).add(record.offset)
        elif number > 1 and number - 1 not in seen.states and (self.whole(STATES, record.key) or len(seen.states) > 1):
            self._fault(record.key, number, f"{_place(at, record.offset)}: the number before has not come yet")

    def _take_branch(self, at: TopicPartition, record: LogRecord) -> None:
        handled = record.offset < self._committed.get(at.partition, 0)
        try:
            branch = read_branch(record, self.secret_of)
        except InputError as error:
            if handled and self._quarantine_whole and (at.partition, record.offset) not in self._set_aside:
                self._fault(record.key, None, f"{_place(at, record.offset)}: {error}, and it was not quarantined")
            return
        seen = self.cases[record.key]
        seen.branches.add(branch.id)
        for one in branch.contents:
            seen.envelopes.setdefault(one.id, set()).add(fingerprint(one.envelope))
            if handled:
                seen.handled.setdefault(one.id, record.offset)

    @property
    def _quarantine_whole(self) -> bool:
        return not any(self._starts[QUARANTINE].values())

    @cached_property
    def _set_aside(self) -> Set[tuple[int, int]]:
        """The records of `versions` that are in quarantine, by partition and offset: what the merger has handled is
        there before it says so."""
        found: set[tuple[int, int]] = set()

        def take(at: TopicPartition, record: LogRecord) -> None:
            try:
                source = Quarantined.parse(record.value).source
            except InputError as error:
                self._fault("", None, f"{_place(at, record.offset)}: {error}")
                return
            if source.topic == VERSIONS and source.partition is not None and source.offset is not None:
                found.add((source.partition, source.offset))

        ends = self._log.end_offsets(QUARANTINE)
        for at in partitions_of(self._log, QUARANTINE, None):
            self._read(at, ends[at.partition], take)
        return found

    def _fault(self, case: str, number: int | None, what: str) -> None:
        self.faults.append(Fault(case, number, what))


def _place(at: TopicPartition, offset: int) -> str:
    return f"{at.topic}[{at.partition}] offset {offset}"
