"""Detectors at work on a batch of new observations of one partition: results by case, and faults. No I/O but the calls
into plug-ins."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engines.log import NewRecord
from schemas.analysis import Analysis, evidence_of
from schemas.digests import OBSERVATION
from schemas.errors import PluginError
from schemas.keys import CaseKey, parse_case
from schemas.observation import Observation
from workers.detection.branch import Result
from workers.detection.calling import BATCH, Call
from workers.detection.complete import FINGERPRINT_LIMIT, Basis, complete, named, on_one, with_fields
from workers.detection.groups import Group
from workers.detection.guard import Fault, Guard
from workers.detection.plugin import KEEP, Answer, Detector, Finding
from workers.detection.quarantining import fault_about, fault_on
from workers.detection.seen import ID_BYTES
from workers.detection.snapshot import Said
from workers.detection.window import Due, WindowState
from workers.detection.windowed import Conclusion, Measure, WindowedDetector

FINDINGS_LIMIT = 1_000
"""A detector says at most this much of one observation."""


class Taken(NamedTuple):
    """A new observation: its place on the partition, its bytes as they came, its id as 32 bytes, the key of its case,
    and the log's time of it in microseconds."""

    offset: int
    value: bytes
    raw: bytes
    case: str
    heard: int
    observation: Observation


@dataclass(slots=True)
class Outcome:
    """What a batch brought: results by case key, the sampled observations still to be fetched (offset by id, by case
    key), records for quarantine, and how many faults of plug-ins there were."""

    results: dict[str, Result] = field(default_factory=dict)
    wanted: dict[str, dict[str, int]] = field(default_factory=dict)
    quarantine: list[NewRecord] = field(default_factory=list)
    faults: int = 0

    def result(self, key: str, case: CaseKey) -> Result:
        """The result of a case, made where it is missing."""
        found = self.results.get(key)
        if found is None:
            found = self.results[key] = Result(case)
        return found

    def take(self, other: Outcome) -> None:
        """Adds all of another."""
        for key, result in other.results.items():
            mine = self.result(key, result.case)
            mine.analyses.update(result.analyses)
            mine.inputs.update(result.inputs)
        for key, wanted in other.wanted.items():
            self.wanted.setdefault(key, {}).update(wanted)
        self.quarantine.extend(other.quarantine)
        self.faults += other.faults

    def say(self, analysis: Analysis, key: str) -> None:
        """Adds an analysis."""
        self.result(key, CaseKey(analysis.tenant, analysis.subject)).analyses[analysis.id] = analysis


@dataclass(frozen=True, slots=True)
class Looking:
    """How detectors are called: the clock's time (microseconds), the guard, the tenant's secret."""

    now: int
    guard: Guard = field(default_factory=Guard)
    secret: bytes | None = None

    def at_each(self, detector: Detector, wanted: Sequence[Taken], outcome: Outcome, *, trusted: bool) -> None:
        """Shows observations to a detector without a window, and takes in what it says. A plug-in gets its own copies,
        so that it cannot edit evidence."""
        seen = [one.observation if trusted else copied(one) for one in wanted]
        batch = Call(detector.name, BATCH)
        answers: Sequence[Answer] | Fault = ()
        # a detector under which a process died is shown one at a time, to find out which one it cannot bear
        if not self.guard.suspects(batch):
            answers = self.guard.call(lambda: list(detector.detect_batch(seen)), None if trusted else batch)
        if isinstance(answers, Fault) or len(answers) != len(wanted):
            # one bad record must not cost the others' results: each is shown by itself
            each: Sequence[Answer | Fault] = [self._alone(detector, one) for one in seen]
        else:
            each = answers
        for one, answer in zip(wanted, each, strict=True):
            if answer is not None:
                self.answered(detector, one, answer, outcome, trusted=trusted)

    def _alone(self, detector: Detector, observation: Observation) -> Answer | Fault:
        call = Call(detector.name, observation.id)
        answers = self.guard.call(lambda: list(detector.detect_batch([observation])), call)
        if isinstance(answers, Fault):
            return answers
        if len(answers) != 1:
            return Fault(PluginError.code, "returned another number of answers than it was shown observations")
        return answers[0]

    def answered(
        self, detector: Detector, one: Taken, answer: Answer | Fault, outcome: Outcome, *, trusted: bool
    ) -> None:
        """Takes in what a detector answered about an observation, or how it failed."""
        if answer is None:
            return
        if answer is KEEP:
            self._keep(one, outcome)
            return
        if isinstance(answer, Fault):
            self._fault(detector, one, answer, outcome)
            return
        if isinstance(answer, str | bytes | dict):
            kind = type(answer).__name__
            self._fault(detector, one, Fault(PluginError.code, f"returned {kind} where a Finding was due"), outcome)
            return
        findings: Iterable[Finding] = [answer] if isinstance(answer, Finding) else answer
        call = Call(detector.name, one.observation.id)
        said = self.guard.call(lambda: list(itertools.islice(findings, FINDINGS_LIMIT + 1)), call)
        if isinstance(said, Fault):
            self._fault(detector, one, said, outcome)
            return
        if len(said) > FINDINGS_LIMIT:
            fault = Fault(PluginError.code, f"returned more than {FINDINGS_LIMIT} findings for one observation")
            self._fault(detector, one, fault, outcome)
        for finding in said[:FINDINGS_LIMIT]:
            self._said(detector, one, finding, outcome, trusted)

    def _said(self, detector: Detector, one: Taken, finding: Finding, outcome: Outcome, trusted: bool) -> None:
        shown = one.observation if trusted else copied(one)
        try:
            chosen, faults = named(detector, finding, shown, self.guard)
            analysis = complete(detector, chosen, on_one(one.observation), self.secret, now=self.now)
        except PluginError as error:
            self._fault(detector, one, Fault(error.code, str(error)), outcome)
            return
        for fault in faults:
            self._fault(detector, one, fault, outcome)
        outcome.say(analysis, one.case)
        self._keep(one, outcome)

    def _keep(self, one: Taken, outcome: Outcome) -> None:
        observation = one.observation
        case = CaseKey(observation.tenant, observation.subject)
        outcome.result(one.case, case).inputs[observation.id] = observation

    def measured(self, window: WindowState, one: Taken, at: int, outcome: Outcome, *, trusted: bool) -> Sequence[str]:
        """Puts what a detector keeps of an observation, whose event time is `at`, into its window. Returns the keys of
        the rows that this made, if the window counts them."""
        detector = window.detector
        keys: list[str] = []
        try:
            if trusted:
                measure = detector.measure(one.observation)
                if measure is None:
                    return keys
                if isinstance(measure, Measure):
                    key, numbers, label = measure
                    window.table.add((one.case, key), one.raw, at, one.offset, numbers, label)
                    return keys if window.tally is None else [key]
                measures: Fault | list[Measure] = list(measure)
            else:
                call = Call(detector.name, one.observation.id)
                measures = self.guard.call(lambda: _measures(detector, copied(one)), call)
            if isinstance(measures, Fault):
                self._fault(detector, one, measures, outcome)
                return keys
            for key, numbers, label in measures:
                window.table.add((one.case, key), one.raw, at, one.offset, numbers, label)
                if window.tally is not None:
                    keys.append(key)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything, or keep anything; it is recorded
            self._fault(detector, one, Fault(PluginError.code, f"measure: {type(error).__name__}"), outcome)
        return keys

    def conclude(
        self, window: WindowState, due: Due, outcome: Outcome, *, provisional: bool = False
    ) -> Analysis | Fault | None:
        """Asks a detector what a window says, and takes it in; or how it failed."""
        detector = window.detector
        case = parse_case(due.group.name[0])
        call = Call(detector.name, f"{due.group.name[0]} {due.group.name[1]} until {due.span.end}")
        answer = self.guard.call(lambda: detector.conclude(due.group.name[1], due.rows, due.span), call)
        if answer is None:
            return None
        if isinstance(answer, Fault):
            return self._window_fault(detector, case, due, answer, outcome)
        conclusion = answer if isinstance(answer, Conclusion) else Conclusion(answer)
        try:
            rested = _rested(due.group, conclusion.evidence)
            finding = _with_fingerprint(detector, conclusion.finding, due.group.name[1])
            return self._rest(detector, finding, case, rested, outcome, provisional)
        except PluginError as error:
            return self._window_fault(detector, case, due, Fault(error.code, str(error)), outcome)

    def say_again(self, case: str, said: Analysis, outcome: Outcome) -> None:
        """Says what an earlier window said, under another time: its evidence is in the case already."""
        outcome.say(said.identified(self.secret), case)

    def withdraw(
        self, detector: WindowedDetector, due: Due, early: Said, at: int, outcome: Outcome, *, provisional: bool
    ) -> None:
        """Takes back what was said early of a window that, with more in it, says nothing or something else; under event
        time `at` (microseconds)."""
        title = f"{detector.name}: withdrawn"
        finding = Finding("unknown", 0.0, fingerprint=early.fingerprint, title=title, at=at)
        self._rest(detector, finding, parse_case(due.group.name[0]), due.group, outcome, provisional)

    def _rest(
        self,
        detector: WindowedDetector,
        finding: Finding,
        case: CaseKey,
        group: Group,
        outcome: Outcome,
        provisional: bool,
    ) -> Analysis:
        ids = [f"{OBSERVATION}_{one}" for one in _hex(group)]
        evidence = evidence_of(list(zip(ids, group.at.tolist(), strict=True)))
        basis = Basis(case, evidence, evidence.last, provisional)
        analysis = complete(detector, finding, basis, self.secret, now=self.now)
        outcome.say(analysis, group.name[0])
        places = dict(zip(ids, group.offset.tolist(), strict=True))
        outcome.wanted.setdefault(group.name[0], {}).update({one: places[one] for one in evidence.sample})
        return analysis

    def _window_fault(self, detector: Detector, case: CaseKey, due: Due, fault: Fault, outcome: Outcome) -> Fault:
        about = f"{due.group.name[1]} until {due.span.end}"
        outcome.faults += 1
        outcome.quarantine.append(fault_about(case.tenant, case.subject, about, fault, detector.name, self.now))
        return fault

    def _fault(self, detector: Detector, one: Taken, fault: Fault, outcome: Outcome) -> None:
        outcome.faults += 1
        outcome.quarantine.append(fault_on(one.observation, one.value, fault, detector.name, self.now))


def _with_fingerprint(detector: WindowedDetector, finding: Finding, key: str) -> Finding:
    if type(finding) is not Finding or finding.fingerprint is not None:
        return finding
    return with_fields(finding, {"fingerprint": f"{detector.name} {key}"[:FINGERPRINT_LIMIT]})


def _rested(group: Group, evidence: npt.NDArray[np.bool_] | None) -> Group:
    """The rows a conclusion rests on. Raises PluginError where what it named does not fit what it was given."""
    if evidence is None:
        return group
    fits = type(evidence) is np.ndarray and evidence.dtype == np.bool_ and evidence.shape == group.at.shape
    if not fits or not evidence.any():
        raise PluginError("named evidence that does not fit the rows it was given")
    labels = [group.labels[row] for row in np.flatnonzero(evidence).tolist()]
    return Group(
        group.name, group.ids[evidence], group.at[evidence], group.offset[evidence], group.numbers[evidence], labels
    )


def _hex(group: Group) -> list[str]:
    whole = group.ids.tobytes().hex()
    return [whole[start : start + 2 * ID_BYTES] for start in range(0, len(whole), 2 * ID_BYTES)]


def _measures(detector: WindowedDetector, observation: Observation) -> list[Measure]:
    measure = detector.measure(observation)
    if measure is None:
        return []
    measures = [measure] if isinstance(measure, Measure) else list(itertools.islice(measure, FINDINGS_LIMIT + 1))
    if len(measures) > FINDINGS_LIMIT or not all(type(one) is Measure for one in measures):
        raise TypeError(f"measure returned something else than at most {FINDINGS_LIMIT} measures")
    return [Measure(one.key, tuple(one.numbers), one.label) for one in measures]


def copied(one: Taken) -> Observation:
    """The observation with contents of its own, for a plug-in, which could edit them."""
    return one.observation.model_copy(update={"content": Observation.parse(one.value).content})
