"""From a finding to an analysis: whatever a plug-in returns, it is an analysis or a fault that names no content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.analysis import Analysis
from schemas.errors import PluginError
from schemas.observation import Observation
from schemas.scales import AHEAD, LIMIT
from tests.factories import START, observation
from workers.detection.complete import FINGERPRINT_LIMIT, Basis, complete, named, on_one
from workers.detection.guard import Guard
from workers.detection.plugin import Answer, Detector, Finding

CANARY = "canary-5f0e"
SEEN = observation(1, data={"n": 1, "secret": CANARY})


class Plain(Detector):
    """One that leaves out what it may."""

    name = "plain"

    def detect(self, observation: Observation) -> Answer:
        """The least."""
        return Finding("suspicious", 0.25)


class Turncoat(Plain):
    """One that takes a person's name once it has been let in."""

    name = "person:ada"


def endless() -> Iterator[str]:
    while True:
        yield CANARY


class Awkward:
    """Whatever is asked of it, it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(CANARY)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError(CANARY)


class Sub(Finding):
    """A finding whose fields could be code."""


def made(**fields: Any) -> Finding:
    chosen: dict[str, Any] = {"verdict": "suspicious", "score": 0.5, "fingerprint": "f", "title": "t"} | fields
    return Finding(**chosen)


AWKWARD = "an awkward value"
"""Stands for one, which nobody could even print."""
RUBBISH: list[tuple[str, Any]] = [
    *((field, value) for field in ("score", "confidence") for value in (-0.1, 1.1, float("nan"), True, "1", None, 1j)),
    *(("verdict", value) for value in ("evil", CANARY, None, 5, b"benign")),
    *(("fingerprint", value) for value in ("", "x" * (FINGERPRINT_LIMIT + 1), 5, b"x", "\ud800", AWKWARD)),
    *(("title", value) for value in (5, b"x", "\ud800", ["x"], AWKWARD)),
    *(("text", value) for value in (None, 5, "x" * 65_537, "\ud800", AWKWARD)),
    *(("target", value) for value in (5, "x" * 1_025, "\ud800")),
    *(("techniques", value) for value in ("T1071", 5, None, [5], [None], endless(), ["x"] * 101, AWKWARD)),
    *(("numbers", value) for value in (None, 5, [1], {CANARY: CANARY}, {CANARY: 1.5}, {CANARY: 2**63}, {5: 5})),
    ("numbers", {f"{n}": n for n in range(100_000)}),
    *(("at", value) for value in ("now", 1.5, True, LIMIT, -(2**70))),
]


@pytest.mark.parametrize(("field", "value"), RUBBISH, ids=[f"{field} {n}" for n, (field, _) in enumerate(RUBBISH)])
def test_rubbish_is_named_without_its_content(field: str, value: Any) -> None:
    with pytest.raises(PluginError) as caught:
        complete(Plain(), made(**{field: Awkward() if value is AWKWARD else value}), on_one(SEEN))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("finding", [None, 5, "finding", {}, AWKWARD, Finding, Sub("benign", 0.0), [made()]])
def test_what_is_no_finding(finding: Any) -> None:
    with pytest.raises(PluginError) as caught:
        complete(Plain(), cast(Any, Awkward() if finding is AWKWARD else finding), on_one(SEEN))
    assert CANARY not in str(caught.value)
    with pytest.raises(PluginError):
        named(Plain(), finding, SEEN, Guard())


@given(
    st.builds(
        made,
        score=st.floats(0, 1),
        confidence=st.floats(0, 1) | st.integers(0, 1),
        title=st.text(st.characters(exclude_categories=["Cs"]), max_size=600),
        techniques=st.lists(st.just("T1071"), max_size=3) | st.just(()),
        numbers=st.dictionaries(st.text("ab"), st.integers(-(2**63), 2**63 - 1)),
        at=st.none() | st.integers(0, 10**15),
    )
)
def test_a_good_one_is_an_analysis_that_proves_itself(finding: Finding) -> None:
    one = complete(Plain(), finding, on_one(SEEN))
    assert one.proven() == Analysis.load(one.model_dump(mode="json", by_alias=True))
    assert one.at == (SEEN.at if finding.at is None else finding.at)
    assert finding.title is not None
    assert one.title == finding.title[:512]
    assert (one.evidence.total, one.evidence.sample) == (1, (SEEN.id,))


def test_event_time_that_cannot_be_trusted_is_no_time_of_a_finding() -> None:
    flagged = SEEN.model_copy(update={"flags": ("clock",)})
    assert complete(Plain(), made(), on_one(flagged)).at is None
    basis = Basis(on_one(SEEN).case, on_one(SEEN).evidence, 77, provisional=True)
    assert (complete(Plain(), made(), basis).at, complete(Plain(), made(), basis).provisional) == (77, True)


def fails(error: BaseException) -> Callable[[Observation], str]:
    def ask(_observation: Observation) -> str:
        raise error

    return ask


@pytest.mark.parametrize("field", ["title", "fingerprint"])
@pytest.mark.parametrize("answer", [None, 5, "", b"x", "x" * 1_025, "\ud800", KeyError(CANARY), SystemExit(CANARY)])
def test_a_title_that_cannot_be_had_does_not_lose_the_finding(field: str, answer: Any) -> None:
    """First table, row 12: the finding goes out with a plain title or fingerprint, and the fault is told."""
    detector = Plain()
    ask = fails(answer) if isinstance(answer, BaseException) else lambda _observation: answer
    setattr(detector, field, ask)
    finding, faults = named(detector, Finding("suspicious", 0.5), SEEN, Guard())
    one = complete(detector, finding, on_one(SEEN))
    assert (one.title, one.fingerprint) == ("plain", "plain zeek.conn")
    (fault,) = faults
    assert fault.reason.startswith(f"{field}: ")
    assert CANARY not in str(fault)


def test_what_was_given_is_not_asked_for() -> None:
    detector = Plain()
    for field in ("title", "fingerprint"):
        setattr(detector, field, fails(KeyError(CANARY)))
    finding = made()
    assert named(detector, finding, SEEN, Guard()) == (finding, [])


def test_a_finding_of_the_day_after_tomorrow_is_refused() -> None:
    """It would stay the current one of its fingerprint for ever."""
    basis = on_one(SEEN)
    now = START
    for ahead in (AHEAD, AHEAD + 1):
        finding = Finding("suspicious", 0.5, at=now + ahead)
        if ahead > AHEAD:
            with pytest.raises(PluginError, match="a day ahead"):
                complete(Plain(), finding, basis, now=now)
        else:
            assert complete(Plain(), finding, basis, now=now).at == now + ahead


def test_no_finding_is_in_a_persons_name() -> None:
    """The registry refuses the name; one that is given later costs that detector's findings only (I9)."""
    with pytest.raises(PluginError, match="in a person's name"):
        complete(Turncoat(), made(), on_one(SEEN))
