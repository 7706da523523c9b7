"""What is found, at how many look-ups, and what is not: `measure.py` prints the full tables."""

from __future__ import annotations

import pytest

from tests.unit.dns import benign, tunnels, vain
from tests.unit.dns.asks import zeek
from tests.unit.dns.judged import judged
from tests.unit.dns.measure import rows
from tests.unit.dns.recorded import TUNNELS, replayed

ROUNDS = 3
WITHIN_50 = {
    *(name for name in tunnels.TUNNELS if name.startswith(("iodine", "dns2tcp", "dnscat2"))),
    *("Cobalt Strike, upload", "numbered, 16 hex", "numbered, 16 hex, one in 5 min", "numbered, 32 hex"),
    *("base32 over TXT, numbered", "24 hex", "three labels of 10 hex", "sixty labels of 1 hex", "10 hex over CNAME"),
    *("20 letters", "40 base64, one an hour", "as SUNBURST, one in 15 min"),
}
"""Tunnels of which something is said at the fiftieth look-up at the latest; of the others at the hundredth."""


def test_tunnels_are_found_in_time() -> None:
    found = list(rows(tunnels.TUNNELS, ROUNDS))
    assert [row for row in found if (row.said, row.stood) != (ROUNDS, ROUNDS)] == []
    assert [row for row in found if row.first > (50 if row.name in WITHIN_50 else 100)] == []
    assert [row for row in found if row.score < 0.7] == []


def test_generated_domains_are_found_in_time() -> None:
    found = list(rows(vain.GENERATED, ROUNDS))
    assert [row for row in found if row.stood != ROUNDS or row.first > 34] == []


def test_what_is_neither_is_never_said() -> None:
    """Neither early nor in the end."""
    for families in (benign.BENIGN, vain.OTHERS):
        assert [row for row in rows(families, ROUNDS) if row.said] == []


def test_what_is_not_seen_is_said_so() -> None:
    """docs/explanation/dns.md names these, and this keeps the page honest."""
    for families in (tunnels.NOT_SEEN, vain.NOT_SEEN):
        assert [row for row in rows(families, ROUNDS) if row.said] == []


@pytest.mark.parametrize("kind", ["A", "TXT"])
def test_the_recorded_tunnels(kind: str) -> None:
    """SOURCE.md's truth: three tunnels, and not one of the plain domains."""
    found = judged(zeek(replayed("dns2tcp-names", kind)))
    assert list(found) == ["dns tunnel hidemyself.org"]
    first, *_, last = found["dns tunnel hidemyself.org"]
    assert first.rows <= 50
    assert (last.rows, last.early) == (4_537, False)
    found = judged(zeek(replayed("train", kind)))
    assert set(found) == {f"dns tunnel {domain}" for domain in TUNNELS}
    assert max(words[0].rows for words in found.values()) <= 50
    assert judged(zeek(replayed("plain-names", kind))) == {}
