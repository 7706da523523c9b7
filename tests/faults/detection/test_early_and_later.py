"""What is said early, and what later words make of it: superseded, or taken back."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.observation import Observation
from schemas.scales import HOUR, MINUTE
from tests.factories import START, observation
from tests.faults.detection.detectors import Early
from tests.faults.detection.early import FEW, by_evidence, early, traffic
from tests.faults.detection.rig import Hosted, Rig
from tests.faults.detection.traffic import SUBJECT, closer, regular
from workers.detection.plugin import Finding
from workers.detection.windowed import Rows, Span

CASE = f"default/{SUBJECT}"


class Fading(Early):
    """Speaks while there are few: more evidence silences it."""

    name = "fading"

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """Up to six rows."""
        return Finding("suspicious", 0.5, fingerprint=key, title="few") if len(rows.at) <= 6 else None


class Naming(Early):
    """Says something else at each count."""

    name = "naming"

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """The number of rows is the fingerprint, as far as five."""
        return Finding("suspicious", 0.5, fingerprint=f"{min(len(rows.at), 5)}", title="so many")


class Failing(Early):
    """Fails at its second count."""

    name = "failing"

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """Five rows are too many."""
        if len(rows.at) == 5:
            raise ValueError("five")
        return super().conclude(key, rows, span)


def silence(rig: Rig, live: Hosted) -> None:
    rig.clock.seconds += 3_601
    live.consumer.heartbeat()
    live.idle()


def test_out_of_order_within_the_lateness_the_final_words_are_the_same(tmp_path: Path) -> None:
    events, ends = traffic()[:-4], traffic()[-4:]
    finals = []
    for seed in range(3):
        chance = random.Random(seed)
        jittered = events if seed == 0 else sorted(events, key=lambda one: (one.at or 0) + chance.randrange(HOUR))
        rig = Rig(tmp_path / f"{seed}")
        rig.append([*jittered, *ends])
        rig.host(Early(FEW)).read(13)
        finals.append({one.id for one in rig.said() if not one.provisional})
        final = {one.fingerprint for one in rig.said() if not one.provisional}
        assert {one.fingerprint for one in rig.said() if one.provisional} <= final
        assert rig.counts().late == 0
    assert len(finals[0]) > 20
    assert all(one == finals[0] for one in finals)


@pytest.mark.parametrize("killed", [False, True])
def test_what_the_final_word_does_not_say_is_withdrawn(tmp_path: Path, killed: bool) -> None:
    rig = Rig(tmp_path / "live")
    events = regular(10, every=60)
    rig.append(events)
    live = rig.host(Fading()).read(3)
    assert early(rig) == [("k", 2), ("k", 5)]
    if killed:
        live.save()
        live.die()
        live = rig.host(Fading())
    rig.append([closer(9)])
    live.read()
    (withdrawn,) = (one for one in rig.current()[CASE].values() if one.fingerprint == "k")
    assert (withdrawn.verdict, withdrawn.score, withdrawn.provisional) == ("unknown", 0, False)
    assert withdrawn.evidence.total == 10

    bounded = Rig(tmp_path / "bounded")
    bounded.append(events)
    bounded.host(Fading(), bounded=True).read().drain()
    assert bounded.said() == []


def test_a_count_takes_back_what_an_earlier_one_said(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "live")
    rig.append([*regular(14, every=60), closer(9)])
    rig.host(Naming()).read()
    verdicts = {one.fingerprint: (one.verdict, one.provisional) for one in rig.current()[CASE].values()}
    assert verdicts["2"] == ("unknown", True)
    assert verdicts["5"] == ("suspicious", False)
    bounded = Rig(tmp_path / "bounded")
    bounded.append(regular(14, every=60))
    bounded.host(Naming(), bounded=True).read().drain()
    assert early(bounded) == [("5", 5), ("5", 12)]


def test_a_second_bounded_run_takes_back_what_the_first_said_early(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    rig.host(Fading(), bounded=True).read().drain().leave()
    assert early(rig) == [("k", 2), ("k", 5)]
    rig.append(regular(3, every=60, start=6))
    rig.host(Fading(), bounded=True).read().drain().leave()
    (current,) = rig.current()[CASE].values()
    assert (current.verdict, current.provisional, current.evidence.total) == ("unknown", False, 9)


def test_a_silent_source_and_a_count_speak_of_the_same_window(tmp_path: Path) -> None:
    """What silence said is superseded by a count, and both by the final word."""
    rig = Rig(tmp_path)
    live = rig.host(Early(FEW))
    steps: list[Callable[[], object]] = [
        lambda: rig.append(regular(3, every=60)),
        live.read,
        lambda: silence(rig, live),
        lambda: rig.append(regular(3, every=60, start=3)),
        live.read,
        lambda: rig.append([closer(9)]),
        live.read,
    ]
    for step in steps:
        step()
    found = [one for one in by_evidence(rig) if one.fingerprint == "k" and one.at and one.at < START + HOUR]
    assert [(one.provisional, one.evidence.total) for one in found] == [(True, 2), (True, 3), (True, 5), (False, 6)]


@pytest.mark.parametrize("bounded", [False, True])
def test_one_that_fails_early_costs_that_word_only(tmp_path: Path, bounded: bool) -> None:
    """I9."""
    rig = Rig(tmp_path)
    rig.append([*regular(13, every=60), closer(9)])
    host = rig.host(Failing(FEW), bounded=bounded).read()
    if bounded:
        host.drain()
    assert [(one.fingerprint, one.evidence.total, one.provisional) for one in by_evidence(rig)] == [
        ("k", 2, True),
        ("k", 12, True),
        ("k", 13, False),
    ]
    assert [(one.author, one.what) for one in rig.quarantined()] == [("failing", "result")]


def fading_twice() -> list[Observation]:
    """An hour of which the last word is a finding; and one whose early word is taken back."""
    first = START // HOUR * HOUR + HOUR
    hour_of_few = [observation(n, at=first + n * MINUTE, data={"n": n}) for n in range(4)]
    hour_of_many = [observation(100 + n, at=first + HOUR + n * MINUTE, data={"n": n}) for n in range(12)]
    return [*hour_of_few, *hour_of_many, closer(60)]


@pytest.mark.parametrize("pause", [False, True])
def test_what_is_taken_back_of_one_window_lets_an_earlier_ones_word_stand(tmp_path: Path, pause: bool) -> None:
    """Live as in a bounded run; also where the early word is taken back before the earlier window is closed, and where
    another worker takes over in between."""
    current = []
    for bounded in (True, False):
        rig = Rig(tmp_path / f"{bounded}", partitions=1)
        rig.append(fading_twice())
        host = rig.host(Fading(FEW), bounded=bounded)
        for _ in range(3 if pause else 0):
            host.step(4)
            host.save().leave()
            host = rig.host(Fading(FEW), bounded=bounded)
        host.read().drain()
        (said,) = (one for one in rig.current()[CASE].values() if one.fingerprint == "k")
        current.append((said.verdict, said.score, said.title, said.evidence))
    assert current[0] == current[1]
    assert current[0][:3] == ("suspicious", 500_000, "few")
