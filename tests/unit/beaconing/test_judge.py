"""The contract of `judge`: bounds, determinism, what moves it and what must not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.unit.beaconing import traffic
from tests.unit.beaconing.recorded import CHANNELS, keys_of
from tests.unit.beaconing.traffic import DAY, START, WINDOW, Beacon, connections, shifted
from workers.detectors.beaconing import conn_state
from workers.detectors.beaconing.connections import MICROSECONDS, Connections, Span, conversations
from workers.detectors.beaconing.judge import BeaconingParameters, Judgement, judge
from workers.detectors.beaconing.scale import MILLION

DEFAULT = BeaconingParameters()
EVERYTHING = BeaconingParameters(report_from=0)
MEDIUM = 600_000


def judged(made: Connections, parameters: BeaconingParameters = EVERYTHING) -> Judgement:
    found = judge(made, WINDOW, parameters)
    assert found is not None
    return found


def clock(count: int = 60, **changes: object) -> Connections:
    return replace(connections(np.arange(count) * 60.0 + 0.25), **changes)  # type: ignore[arg-type]  # fields by name


@st.composite
def any_connections(draw: st.DrawFn) -> Connections:
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, DAY * MICROSECONDS - 1),
                st.integers(-1, 10**9),
                st.integers(-1, 10**9),
                st.integers(0, len(conn_state.NAMES) - 1),
            ),
            max_size=40,
        )
    )
    at, sent, received, state = (
        np.array(column, dtype=np.int64) for column in (zip(*sorted(rows), strict=True) if rows else ([],) * 4)
    )
    services = draw(st.sampled_from([(), ("ssl",), ("dns",), ("gssapi,smb,krb", "smb"), ("dns", "ssl")]))
    return Connections(
        at=at + START * MICROSECONDS,
        sent=sent,
        received=received,
        state=state,
        services=services,
        names=(),
        transport="tcp",
    )


@given(any_connections())
def test_any_connections_are_judged_within_bounds(made: Connections) -> None:
    found = judge(made, WINDOW, EVERYTHING)
    if found is None:
        return
    assert 0 <= found.score <= MILLION
    assert 0 <= found.confidence <= MILLION
    assert all(type(value) is int for value in found.numbers.values())
    for name in ("regularity", "sameness", "persistence", "lightness", "explained", "established_share"):
        assert 0 <= found.numbers[name] <= MILLION
    quiet = judge(made, WINDOW, DEFAULT)
    assert quiet == (found if found.score >= DEFAULT.report_from else None)


@given(any_connections(), st.integers(-10_000, 10_000))
def test_whole_days_later_is_the_same(made: Connections, days: int) -> None:
    later = days * DAY * MICROSECONDS
    there = Span(WINDOW.start + later, WINDOW.end + later)
    assert judge(shifted(made, later), there, EVERYTHING) == judge(made, WINDOW, EVERYTHING)


@given(any_connections(), st.lists(st.text(max_size=5), max_size=8))
def test_names_change_only_the_text(made: Connections, names: list[str]) -> None:
    plain, named = (judge(each, WINDOW, EVERYTHING) for each in (made, replace(made, names=tuple(sorted(names)))))
    assert (plain is None) == (named is None)
    if plain and named:
        assert replace(named, text=plain.text) == plain


@given(any_connections(), st.sampled_from(["dns", "ntp", "krb_tcp", "smb,gssapi"]))
def test_a_label_only_lowers_and_never_wholly(made: Connections, label: str) -> None:
    bare, labelled = (judge(replace(made, services=each), WINDOW, EVERYTHING) for each in ((), (label,)))
    assert (bare is None) == (labelled is None)
    if bare and labelled:
        assert bare.score * 2 // 5 - 1 <= labelled.score <= bare.score


@pytest.mark.parametrize("day", [1, 2])
def test_the_recorded_channels_stand_out(day: int) -> None:
    made, span = keys_of(day)
    scores = {key: found.score for key, each in made.items() if (found := judge(each, span, EVERYTHING))}
    assert scores.pop(CHANNELS[day]) >= 700_000
    assert max(scores.values()) < DEFAULT.report_from


@pytest.mark.parametrize("day", [1, 2])
def test_the_recorded_background_is_burstier_than_chance(day: int) -> None:
    made, span = keys_of(day)
    found = {key: judge(each, span, EVERYTHING) for key, each in made.items() if key != CHANNELS[day]}
    regularities = [each.numbers["regularity"] for each in found.values() if each]
    assert len(regularities) >= 8
    assert max(regularities) == 0


def test_failed_connections_are_left_out_and_do_not_hide_a_beacon() -> None:
    beacon = connections(np.arange(60) * 60.0)
    noise = traffic.retries(np.random.default_rng(1))
    order = np.argsort(np.concatenate([beacon.at, noise.at]), kind="stable")
    mixed = replace(
        beacon,
        at=np.concatenate([beacon.at, noise.at])[order],
        sent=np.concatenate([beacon.sent, noise.sent])[order],
        received=np.concatenate([beacon.received, noise.received])[order],
        state=np.concatenate([beacon.state, noise.state])[order],
    )
    alone, together = judged(beacon), judged(mixed)
    assert together.score == alone.score
    assert together.numbers["failed"] == len(noise)
    assert "failed connections were left out" in together.text


@pytest.mark.parametrize("state", sorted(conn_state.FAILED_NAMES))
def test_a_rhythm_of_failures_is_no_beacon(state: str) -> None:
    assert judge(clock(state=np.full(60, conn_state.CODES[state])), WINDOW, EVERYTHING) is None


@pytest.mark.parametrize("state", ["RSTO", "S1", "", "OTH"])
def test_other_endings_count_if_something_came_back(state: str) -> None:
    states = np.full(60, conn_state.CODES[state])
    assert judged(clock(state=states)).score >= MEDIUM
    assert judge(clock(state=states, received=np.zeros(60, dtype=np.int64)), WINDOW, EVERYTHING) is None
    assert conversations(clock(state=states, received=np.full(60, -1))).all()


def test_unknown_sizes_lend_no_support_but_do_not_stop_the_rhythm() -> None:
    unknown = np.full(60, -1)
    found = judged(clock(sent=unknown, received=unknown))
    assert (found.numbers["sent_median"], found.numbers["size_width"], found.numbers["sameness"]) == (-1, -1, 0)
    assert MEDIUM <= found.score < judged(clock()).score


def test_large_exchanges_and_varying_requests_lower() -> None:
    plain = judged(clock()).score
    assert judged(clock(received=np.full(60, 3_000_000))).score < MEDIUM
    assert judged(clock(sent=np.arange(60) * 50)).score < plain


@pytest.mark.parametrize(("size", "excused"), [(48, True), (400, False)])
def test_a_time_server_is_excused_only_while_it_looks_like_one(size: int, excused: bool) -> None:
    made = clock(sent=np.full(60, size), received=np.full(60, size), services=("ntp",), transport="udp")
    assert (judged(made).score < DEFAULT.report_from) is excused


def test_one_more_label_outside_the_table_ends_the_excuse() -> None:
    assert judged(clock(services=("krb_tcp",))).score < judged(clock(services=("krb_tcp", "ssl"))).score


def test_too_few_or_too_short_is_nothing() -> None:
    assert judge(clock(5), WINDOW, EVERYTHING) is None
    assert judge(connections(np.arange(50.0)), WINDOW, EVERYTHING) is None
    assert judged(connections(np.arange(70.0) + 0.001)).score >= MEDIUM


def test_a_day_of_answered_connections_every_second_is_a_strobe() -> None:
    found = judged(connections(np.arange(DAY) * 1.0), DEFAULT)
    assert found.title.startswith("Strobe")
    assert found.numbers["strobe"] == 1
    assert found.verdict == "suspicious"
    below = judged(connections(np.arange(DAY - 1) * 1.0), DEFAULT)
    assert (below.numbers["strobe"], below.title.split(":")[0]) == (0, "Beaconing")


def test_a_strobe_of_failures_is_reported_as_just_that() -> None:
    made = connections(np.arange(DAY) * 1.0, -1, -1, state="S0", services=())
    found = judged(made, DEFAULT)
    assert (found.score, found.verdict) == (400_000, "unknown")
    assert found.numbers["calls"] == 0
    assert "86,400 of them failed" in found.text


def test_random_strobe_is_still_a_strobe() -> None:
    times = np.sort(np.random.default_rng(0).uniform(0, DAY, DAY))
    assert judged(connections(times), DEFAULT).score >= MEDIUM


def test_what_an_analyst_reads() -> None:
    made = replace(connections(Beacon(60, 2).times(np.random.default_rng(0))), names=tuple("abcdefg"))
    found = judged(made)
    assert found.title == "Beaconing: 119 calls in 1.9 h, one about every 1 min"
    assert found.text == (
        "119 calls, one about every 1 min, kept up over 100 % of 1.9 h: the gaps vary 0 % as much as chance would make "
        "them. Requests of the same size (typically 500 bytes, typical answer 1,200). Names: a, b, c, d, e and 2 more."
    )
    assert (found.numbers["period"], found.numbers["jitter"], found.numbers["rita_timestamp"]) == (
        60_000_000,
        0,
        MILLION,
    )


def test_parameters_are_strict_and_frozen() -> None:
    with pytest.raises(ValidationError, match="extra"):
        BeaconingParameters(reprot_from=1)  # type: ignore[call-arg]  # the mistake under test
    with pytest.raises(ValidationError, match="frozen"):
        DEFAULT.report_from = 1  # type: ignore[misc]  # the mistake under test
    with pytest.raises(ValidationError):
        BeaconingParameters(report_from=MILLION + 1)


def test_state_codes_are_a_bijection_and_every_state_is_of_one_kind() -> None:
    assert [conn_state.code_of(name) for name in conn_state.NAMES] == list(range(len(conn_state.NAMES)))
    assert [conn_state.name_of(code) for code in range(len(conn_state.NAMES))] == list(conn_state.NAMES)
    kinds = (conn_state.ESTABLISHED_NAMES, conn_state.FAILED_NAMES, conn_state.UNKNOWN_NAMES)
    assert sorted(name for kind in kinds for name in kind) == sorted(conn_state.NAMES)
    assert conn_state.code_of(None) == conn_state.code_of("new in Zeek 9") == conn_state.UNKNOWN
