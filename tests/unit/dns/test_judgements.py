"""The two judgements: pure, equal for equal rows, and each part of the score does what the page says."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from schemas.scales import MINUTE, SECOND
from tests.unit.dns.asks import BASE32, BASE36, HEX, LETTERS, labels, text
from workers.detectors.dns import burst, tunnel
from workers.detectors.dns.burst import BurstParameters, Vain
from workers.detectors.dns.judgement import Judgement
from workers.detectors.dns.tunnel import Questions, TunnelParameters

A, NULL, MX, TXT = 1, 10, 15, 16
NOERROR, NXDOMAIN = 0, 3
EXCHANGE, ASKED, ANSWERED = 0, 1, 2


def questions(below: list[str], *, every: int = SECOND, kind: Any = A, **more: Any) -> Questions:
    def column(value: Any) -> Any:
        return np.array(value if isinstance(value, list) else [value] * len(below), dtype=np.int64)

    return Questions(
        at=column(more.get("at", [n * every for n in range(len(below))])),
        below=below,
        role=column(more.get("role", EXCHANGE)),
        type=column(kind),
        rcode=column(more.get("rcode", NOERROR)),
        reply=column(more.get("reply", 4)),
    )


def score(made: Questions, **parameters: Any) -> int:
    found = tunnel.judge(made, TunnelParameters(report_from=0, **parameters))
    return found.score if found else 0


def rolled(count: int = 60, width: int = 30, alphabet: str = HEX, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [labels(text(rng, alphabet, width)) + ".t" for _ in range(count)]


def test_wider_names_more_of_them_and_telling_types_score_higher() -> None:
    widths = [score(questions(rolled(width=width))) for width in (8, 12, 14, 18, 30, 60, 120)]
    assert widths == sorted(widths)
    counts = [score(questions(rolled(count, 18))) for count in (9, 12, 25, 50, 100, 250)]
    assert counts[0] == 0
    assert counts == sorted(counts)
    kinds = [score(questions(rolled(width=12), kind=kind)) for kind in (A, TXT)]
    assert kinds[0] < 600_000 < kinds[1]
    numbered = [f"{n}.{one}" for n, one in enumerate(rolled(width=12))]
    assert score(questions(numbered)) > kinds[0] + 100_000


def test_names_that_return_are_no_tunnels() -> None:
    """In place of the amount of data, what speaks for a content network is that its names are asked for again."""
    names = rolled(100)
    once = questions(names)
    soon = questions([one for one in names for _ in (1, 2)], at=[n // 2 * SECOND for n in range(200)])
    later = questions([*names, *names[:25]])
    assert score(soon) == score(once) > 700_000
    assert score(later) == 0
    assert 0 < score(questions([*names, *names[:8]])) < score(once)
    assert score(later, returns_after=200 * SECOND) == score(once)


def test_letters_of_another_size_are_no_other_name() -> None:
    names = [one.upper() if n % 2 else one for n in range(30) for one in rolled(5)]
    assert tunnel.judge(questions(names), TunnelParameters(report_from=0)) is None


def test_a_question_and_its_answer_are_one() -> None:
    names = [one for one in rolled(60) for _ in (1, 2)]
    both = tunnel.judge(questions(names, role=[ASKED, ANSWERED] * 60), TunnelParameters(report_from=0))
    answers = tunnel.judge(questions(rolled(60), role=ANSWERED), TunnelParameters(report_from=0))
    assert both is not None
    assert answers is not None
    assert both.numbers["queries"] == answers.numbers["queries"] == both.numbers["names"] == 60
    assert both.score == answers.score


def test_a_digest_with_much_in_the_answer_is_a_tunnel() -> None:
    names = rolled(60, 32)
    assert tunnel.judge(questions(names, kind=TXT, reply=20), TunnelParameters()) is None
    assert tunnel.judge(questions(names, kind=TXT, reply=200), TunnelParameters()) is not None
    assert tunnel.judge(questions(names, kind=A, reply=200), TunnelParameters()) is None


def test_only_what_carries_data_back_is_malicious() -> None:
    long = rolled(100, 150, BASE32)
    verdicts = {}
    for kind in (A, -1, NULL, TXT, 65_399):
        found = tunnel.judge(questions(long, kind=kind), TunnelParameters())
        assert found is not None
        assert 0 < found.confidence < 1_000_000
        verdicts[kind] = found.verdict
    assert verdicts == {A: "suspicious", -1: "suspicious", NULL: "malicious", TXT: "malicious", 65_399: "malicious"}


@pytest.mark.parametrize("seed", range(5))
def test_the_judgement_depends_on_nothing_but_the_rows(seed: int) -> None:
    """The score never exceeds 0.94, and numbers are integers."""
    rng = random.Random(seed)
    names = [*rolled(rng.randrange(10, 300), rng.randrange(8, 150), BASE36, seed), *rolled(20, 5, LETTERS)]
    made = questions(
        names, kind=[rng.choice((A, TXT, -1)) for _ in names], reply=[rng.randrange(-1, 300) for _ in names]
    )
    first, second = (tunnel.judge(made, TunnelParameters(report_from=0)) for _ in (1, 2))
    assert first == second is not None
    assert isinstance(first, Judgement)
    assert first.score <= 940_000
    assert all(type(number) is int for number in first.numbers.values())


def test_of_very_many_rows_some_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "MOST_ROWS", 100)
    monkeypatch.setattr(tunnel, "LOOKED_INTO", 50)
    found = tunnel.judge(questions(rolled(1_000, 60)), TunnelParameters())
    assert found is not None
    assert (found.numbers["queries"], found.numbers["names"]) == (1_000, 100)
    assert found.numbers["random_names"] == 100


def vain(domains: list[str], *, every: int = SECOND, kind: Any = A) -> Vain:
    kinds = kind if isinstance(kind, list) else [kind] * len(domains)
    return Vain(np.arange(len(domains), dtype=np.int64) * every, domains, np.array(kinds, dtype=np.int64))


def domains(count: int, width: int = 12, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [f"{text(rng, LETTERS, width)}.{rng.choice(('com', 'net', 'ru'))}" for _ in range(count)]


def test_ten_domains_close_together_are_a_burst() -> None:
    """The facts page: ten, then more."""
    assert burst.judge(vain(domains(9)), BurstParameters()) is None
    scores = []
    for count in (10, 20, 50, 100):
        found = burst.judge(vain(domains(count)), BurstParameters())
        assert found is not None
        assert found.numbers["together"] == found.numbers["domains"] == count
        scores.append(found.score)
    assert scores == sorted(set(scores))
    assert (scores[0], scores[-1]) == (600_000, 900_000)


def test_the_same_domain_counts_once() -> None:
    assert burst.judge(vain(domains(5) * 100), BurstParameters()) is None


def test_further_apart_it_takes_more() -> None:
    for count, said in ((10, False), (29, False), (30, True)):
        found = burst.judge(vain(domains(count), every=11 * MINUTE), BurstParameters())
        assert (found is not None) is said
    assert burst.judge(vain(domains(10), every=11 * MINUTE), BurstParameters(burst_span=200 * MINUTE)) is not None


def test_only_the_burst_itself_is_looked_at() -> None:
    """A day of typing errors before it does not dilute it."""
    typed = [f"{one}x.com" for one in ("gogle", "facebok", "amazn", "wikipeda", "youtub", "linkedn", "twiter") * 3]
    typed = [f"{one}{n}.com" for n, one in enumerate(typed)]
    made = Vain(
        np.array([*(n * 20 * MINUTE for n in range(21)), *(600 * MINUTE + n * SECOND for n in range(12))]),
        [*typed, *domains(12)],
        np.full(33, A),
    )
    found = burst.judge(made, BurstParameters())
    assert found is not None
    assert found.numbers["together"] >= 12


def test_what_a_mail_server_asks_about_is_left_out() -> None:
    asked = [one for one in domains(40) for _ in (1, 2)]
    assert burst.judge(vain(asked, kind=[MX, A] * 40), BurstParameters()) is None
    assert burst.judge(vain(asked, kind=[28, A] * 40), BurstParameters()) is not None
