"""I9: a plug-in cannot hurt the pipeline, whatever it does to its own results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engines.log import NewRecord
from engines.topics import OBSERVATIONS
from schemas.observation import Observation
from tests.factories import observation
from tests.faults.detection.detectors import Each, Limits, Threshold
from tests.faults.detection.rig import Rig
from tests.faults.detection.traffic import regular
from workers.detection.plugin import KEEP, Answer, Detector, Finding, detector
from workers.detection.windowed import Conclusion, Measure, Rows, Span, WindowedDetector

CANARY = "canary-5f0e"


def number(one: Observation) -> int:
    return int((one.data or {})["n"])


def bad(answer: Callable[[Observation], Any]) -> Detector:
    """One that does something bad at every third observation."""

    class Bad(Detector):
        name = "bad"

        def detect(self, observation: Observation) -> Any:
            """Good, good, bad."""
            if number(observation) % 3 == 2:
                return answer(observation)
            return Finding("suspicious", 0.5, fingerprint=f"bad {number(observation)}", title="t")

    return Bad()


def fail(one: Observation) -> None:
    raise ValueError(CANARY)


def leave(_one: Observation) -> None:
    raise SystemExit


def hang(_one: Observation) -> None:
    while True:
        pass


def endless(_one: Observation) -> Iterator[Finding]:
    while True:
        yield Finding("benign", 0.0, fingerprint="endless", title="t")


def failing(one: Observation) -> Iterator[Finding]:
    yield Finding("benign", 0.0, fingerprint="first", title="t")
    raise ValueError(CANARY)


@pytest.mark.parametrize(
    "answer",
    [
        fail,
        leave,
        hang,
        failing,
        lambda one: 5,
        lambda one: "text",
        lambda one: [KEEP, None],
        lambda one: Finding("evil", 2.0),  # type: ignore[arg-type]  # the mistake under test
        lambda one: Finding("benign", 0.0, numbers={CANARY: CANARY}),  # type: ignore[dict-item]  # the mistake under test
    ],
)
def test_a_bad_result_costs_itself_only(tmp_path: Path, answer: Callable[[Observation], Any]) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(9))
    rig.host(bad(answer), Each(), call_seconds=0.2).read().save()
    said = {one.fingerprint for one in rig.said()}
    assert {f"each {n}" for n in range(9)} <= said
    assert {f"bad {n}" for n in (0, 1, 3, 4, 6, 7)} <= said
    faults = [one for one in rig.quarantined() if one.author == "bad"]
    assert {one.source.options["observation"] for one in faults} == {
        one.id for one in regular(9) if number(one) % 3 == 2
    }
    assert all(one.what == "result" and CANARY not in one.reason for one in faults)
    assert rig.counts().faults >= 3
    assert rig.counts().new == 9


def test_endless_findings_are_cut(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(3))
    rig.host(bad(endless), Each()).read().save()
    (fault,) = rig.quarantined()
    assert "more than 1000 findings" in fault.reason


class Meddler(Detector):
    """Edits whatever it gets hold of."""

    name = "a-meddler"

    def detect_batch(self, observations: Sequence[Observation]) -> Sequence[Answer]:
        """It leaves title and fingerprint to be asked for."""
        for one in observations:
            self._edit(one)
        return [Finding("suspicious", 0.5) for _ in observations]

    def title(self, observation: Observation) -> str:
        """It edits here too."""
        self._edit(observation)
        return "t"

    def fingerprint(self, observation: Observation) -> str:
        """And here."""
        self._edit(observation)
        return f"m {number(observation)}"

    @staticmethod
    def _edit(observation: Observation) -> None:
        assert observation.data is not None
        assert "planted" not in observation.data or observation.data["planted"] == CANARY
        observation.data["planted"] = CANARY
        observation.data.setdefault("list", []).append(1)


class MeddlingWindow(Threshold):
    """Edits what it is to measure."""

    name = "b-meddler"

    def measure(self, observation: Observation) -> Measure | Iterable[Measure] | None:
        """Edits first."""
        Meddler._edit(observation)
        return super().measure(observation)


class Witness(Detector):
    """Tells what it sees."""

    name = "witness"

    def detect(self, observation: Observation) -> Answer:
        """The record's names."""
        names = ",".join(sorted(observation.data or {}))
        return Finding("benign", 0.0, fingerprint=f"w {number(observation)}", title="t", text=names)


def test_evidence_cannot_be_edited(tmp_path: Path) -> None:
    """I3: neither what is recorded nor what other detectors see."""
    rig = Rig(tmp_path)
    events = regular(6, every=60)
    rig.append(events)
    rig.host(Meddler(), MeddlingWindow(), Threshold(), Witness(), bounded=True).read().drain()
    assert rig.quarantined() == []
    assert {one.text for one in rig.said() if one.detector == "witness"} == {"n"}
    assert rig.kept() == {one.id for one in events}
    for version in rig.versions():
        for content in version.contents:
            record = content.opened()
            if isinstance(record, Observation):
                assert set(record.data or {}) == {"n"}
    numbers = {one.detector: one.numbers for one in rig.said() if one.detector in {"threshold", "b-meddler"}}
    assert numbers["threshold"] == numbers["b-meddler"]


def measuring(measure: Callable[[Observation], Any]) -> Detector:
    class Bad(Threshold):
        name = "bad"

        def measure(self, observation: Observation) -> Any:
            """Bad at every third."""
            if number(observation) % 3 == 2:
                return measure(observation)
            return Measure("k", (1,))

    return Bad(Limits(threshold=6))


@pytest.mark.parametrize(
    "measure",
    [
        fail,
        leave,
        hang,
        lambda one: 5,
        lambda one: ("k", (1,), None),
        lambda one: Measure("k", (1, 2)),
        lambda one: Measure("k", (1.5,)),  # type: ignore[arg-type]  # the mistake under test
        lambda one: Measure("k", (2**64,)),
        lambda one: Measure(5, (1,)),  # type: ignore[arg-type]  # the mistake under test
        lambda one: Measure("\ud800", (1,)),
        lambda one: Measure("k", (1,), 7),  # type: ignore[arg-type]  # the mistake under test
        lambda one: Measure("k" * 10_000, (1,)),
        lambda one: [Measure("k", (1,), "\udfff")],
        lambda one: (Measure("k", (1,)) for _ in iter(int, 1)),
    ],
)
def test_a_bad_measure_costs_itself_only(tmp_path: Path, measure: Callable[[Observation], Any]) -> None:
    """The rows of the others survive a snapshot, a restart and a spill."""
    rig = Rig(tmp_path)
    rig.append(regular(9, every=60))
    rig.host(measuring(measure), Threshold(), bounded=True, call_seconds=0.2).read(4).leave()
    rig.host(measuring(measure), Threshold(), bounded=True, window_bytes=1).read().drain()
    assert {(one.detector, one.numbers["count"]) for one in rig.said()} == {("bad", 6), ("threshold", 9)}
    assert len([one for one in rig.quarantined() if one.author == "bad"]) == 3


class TooClever(WindowedDetector):
    """Whatever it concludes is wrong."""

    name = "clever"
    columns = ()

    def __init__(self, answer: Callable[[str, Rows], Any]) -> None:
        super().__init__()
        self._answer = answer

    def measure(self, observation: Observation) -> Measure:
        """By its number, but for the first, whose conclusion is the good one."""
        return Measure(f"{number(observation)}", ())

    def conclude(self, key: str, rows: Rows, span: Span) -> Any:
        """Good for the first key."""
        return Finding("benign", 0.0) if key == "0" else self._answer(key, rows)


@pytest.mark.parametrize(
    "answer",
    [
        lambda key, rows: 5,
        lambda key, rows: Conclusion(None),  # type: ignore[arg-type]  # the mistake under test
        lambda key, rows: Conclusion(Finding("benign", 0.0), rows.at),
        lambda key, rows: Conclusion(Finding("benign", 0.0), rows.at < 0),
        lambda key, rows: Conclusion(Finding("benign", 0.0), [True]),  # type: ignore[arg-type]  # the mistake under test
        lambda key, rows: Conclusion(Finding("benign", 0.0), CANARY),  # type: ignore[arg-type]  # the mistake under test
        lambda key, rows: rows.at.sort(),
        lambda key, rows: fail(observation()),
        lambda key, rows: hang(observation()),
    ],
)
def test_a_bad_conclusion_costs_itself_only(tmp_path: Path, answer: Callable[[str, Rows], Any]) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(3))
    rig.host(TooClever(answer), Each(), bounded=True, call_seconds=0.2).read().drain()
    assert {one.fingerprint for one in rig.said() if one.detector == "clever"} == {"clever 0"}
    faults = rig.quarantined()
    assert len(faults) == 2
    assert all(CANARY not in one.reason for one in faults)
    assert rig.counts().faults == 2


def test_a_plugin_that_fails_on_sealed_content(tmp_path: Path) -> None:
    value = b'{"schema":1,"content":{"sealed":"eA=="},"key_id":"k","kind":"k","subject":"s","tenant":"t","id":"inp_%b"}'
    rig = Rig(tmp_path)
    rig.engine.log.append(OBSERVATIONS, [NewRecord("t/s", value % (b"0" * 64))])
    rig.host(bad(fail), Each()).read().save()
    (fault,) = rig.quarantined()
    assert fault.data == value % (b"0" * 64)
    assert [one.fingerprint for one in rig.said()] == ["each None"]


def test_a_decorated_function_is_a_detector(tmp_path: Path) -> None:
    @detector("mine", kinds=["zeek.*"])
    def mine(observation: Observation) -> Answer:
        return Finding("benign", 0.0)

    rig = Rig(tmp_path)
    rig.append([*regular(2), observation(5, kind="text", text="x")])
    rig.host(mine()).read().save()
    assert {(one.detector, one.title, one.fingerprint) for one in rig.said()} == {("mine", "mine", "mine zeek.conn")}
    assert {one.evidence.total for one in rig.said()} == {1}


def test_kept_observations_come_into_their_case_without_an_analysis(tmp_path: Path) -> None:
    @detector("keeper")
    def keeper(observation: Observation) -> Answer:
        return KEEP if number(observation) == 1 else None

    rig = Rig(tmp_path)
    events = regular(3)
    rig.append(events)
    rig.host(keeper()).read().save()
    assert rig.kept() == {events[1].id}
    assert rig.said() == []
