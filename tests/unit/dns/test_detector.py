"""What the detector makes of records: keys, fingerprints, targets, techniques, and words that an analyst can act on."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.observation import Observation
from schemas.scales import SECOND
from tests.factories import START, observation
from tests.unit.dns import benign, tunnels, vain
from tests.unit.dns.asks import BASE32, Ask, once, text, zeek
from tests.unit.dns.judged import judged
from workers.detectors.dns import Dns
from workers.detectors.dns.detector import Settings


def eve(dns: dict[str, Any], number: int = 0) -> Observation:
    return observation(
        kind="eve.dns",
        at=START + number * SECOND,
        data={"event_type": "dns", "src_ip": "10.0.0.5", "dest_ip": "10.0.0.53", "n": number, "dns": dns},
    )


def test_a_tunnel() -> None:
    asks = tunnels.dns2tcp(random.Random(1))
    (words,) = judged(zeek(asks)).values()
    found = words[-1].finding
    assert (found.fingerprint, found.target) == ("dns tunnel example.info", "example.info")
    assert (found.verdict, tuple(found.techniques)) == ("malicious", ("T1071.004", "T1048"))
    assert found.title == "DNS tunnel: 200 random names below example.info in 3.3 min"
    for part in (
        "200 questions in 3.3 min, one about every 1 s",
        "(base64, ",
        "bits of entropy a character",
        "Most ask for TXT; 100 % of the questions",
        "Hardly one was asked for again later",
        f"{asks[0].query}",
    ):
        assert part in found.text
    assert found.numbers["type"] == 16
    assert found.at == START + round(asks[-1].at * SECOND)


def test_a_small_one_is_no_exfiltration() -> None:
    (words,) = judged(zeek(tunnels.dnscat2(random.Random(1), 30))).values()
    assert tuple(words[-1].finding.techniques) == ("T1071.004",)


def test_a_burst() -> None:
    made = vain.generated(random.Random(1), "abcdefghijklmnopqrstuvwxyz", 12, 16, 40)
    (words,) = judged(zeek([*made, *vain.mail_senders(random.Random(2))])).values()
    found = words[-1].finding
    assert (found.fingerprint, found.target, tuple(found.techniques)) == ("dns nxdomain burst", None, ("T1568.002",))
    assert found.title == "NXDOMAIN burst: 40 domains that do not exist and look generated"
    for part in ("for 40 registered domains", "150 domains were left out", "bits a character", made[0].query):
        assert part in found.text


def test_all_answers_in_vain_are_pointed_out() -> None:
    (words,) = judged(zeek(tunnels.hexadecimal(random.Random(1)))).values()
    assert "Nearly all were answered NXDOMAIN" in words[-1].finding.text
    assert "They are numbered" in words[-1].finding.text


def test_the_names_of_one_network_are_one_finding() -> None:
    """First table, row 23: names listed, once."""
    found = judged(zeek(tunnels.iodine(random.Random(1), 500)))
    assert list(found) == ["dns tunnel iodine-server.net"]
    assert sum(not word.early for words in found.values() for word in words) == 1


@pytest.mark.parametrize("version", [1, 2, 3])
def test_suricata_and_zeek_say_the_same(version: int) -> None:
    """All versions of the record, each question with its answer as two records."""
    asks = tunnels.dns2tcp(random.Random(1), 60)
    records = []
    for number, one in enumerate(asks):
        if version == 3:
            queries = [{"rrname": one.query, "rrtype": one.type}]
            answers = [{"rrname": one.query, "rdata": text} for text in one.answers]
            asked: dict[str, Any] = {"version": 3, "type": "request", "queries": queries}
            answered: dict[str, Any] = {"version": 3, "type": "response", "rcode": "NOERROR", "queries": queries}
            answered["answers"] = answers
        else:
            named = {"rrname": one.query, "rrtype": one.type}
            asked = {"type": "query", **named}
            answered = {"type": "answer", "rcode": "NOERROR", **named}
            answered |= {"rdata": one.answers[0]} if version == 1 else {"answers": [{"rdata": one.answers[0]}]}
        records += [eve(asked, 2 * number), eve(answered, 2 * number + 1)]
    (zeeks,), (eves,) = judged(zeek(asks)).values(), judged(records).values()
    assert eves[0].rows <= 50
    same = ("queries", "names", "random_names", "bits", "bytes", "carrying", "reply_median", "type")
    ours, theirs = zeeks[-1].finding, eves[-1].finding
    assert {name: ours.numbers[name] for name in same} == {name: theirs.numbers[name] for name in same}
    assert (ours.score, ours.verdict, ours.fingerprint) == (theirs.score, theirs.verdict, theirs.fingerprint)


def test_a_burst_in_suricatas_answers() -> None:
    made = vain.generated(random.Random(1), "abcdefghijklmnopqrstuvwxyz", 12, 16, 40)
    records = [
        eve({"type": "answer", "rrname": one.query, "rrtype": "A", "rcode": "NXDOMAIN"}, number)
        for number, one in enumerate(made)
    ]
    assert list(judged(records)) == ["dns nxdomain burst"]


def test_known_services_and_those_of_the_settings_are_left_out() -> None:
    rng = random.Random(1)
    asks = once(rng, [f"{text(rng, BASE32, 60)}.a.e5.sk" for _ in range(100)])
    own = once(rng, [f"{text(rng, BASE32, 60)}.ask.Bücher.example" for _ in range(100)])
    assert judged(zeek(asks)) == {}
    assert list(judged(zeek(asks), Dns(Settings(known_services=False)))) == ["dns tunnel e5.sk"]
    assert list(judged(zeek(own))) == ["dns tunnel xn--bcher-kva.example"]
    assert judged(zeek(own), Dns(Settings(services=("bücher.example.",)))) == {}


def test_private_suffixes_both_ways() -> None:
    """First table, row 26: hosts that anybody can rent are strangers to each other, or one domain's."""
    rng = random.Random(1)
    asks = once(rng, [f"api.{text(rng, BASE32, 16)}.cloudfront.net" for _ in range(100)])
    assert judged(zeek(asks)) == {}
    assert list(judged(zeek(asks), Dns(Settings(private_suffixes=False)))) == ["dns tunnel cloudfront.net"]


def test_the_settings() -> None:
    for wrong in ({"report_from": 2_000_000}, {"fewest_names": 1}, {"unknown": 1}, {"burst_span": 0}):
        with pytest.raises(ValidationError):
            Settings.model_validate(wrong)
    fields = Settings.model_fields.values()
    assert all(one.description for one in fields)
    asks = zeek(tunnels.unnumbered(random.Random(1), "0123456789abcdef", 24, 60))
    assert judged(asks, Dns(Settings(report_from=800_000))) == {}


def test_bytes_that_are_no_text_survive() -> None:
    """First table, rows 2 and 3: a control character in a domain reaches no terminal."""
    rng = random.Random(1)
    asks = once(rng, [f"{text(rng, BASE32, 60)}\\xff\ufffd.a\x1b[2J.com" for _ in range(100)])
    (words,) = judged(zeek(asks)).values()
    found = words[-1].finding
    assert found.fingerprint == "dns tunnel a\\x1b[2j.com"
    assert f"{found.title}{found.text}{found.target}".isprintable()


def test_records_without_names_are_no_rows() -> None:
    detector = Dns()
    for data in ({}, {"query": "SCRANTON", "qtype_name": "NB"}, {"query": "192.0.2.1"}, {"query": "www.example.com"}):
        assert list(detector.measure(observation(kind="zeek.dns", data=data))) == []
    assert list(detector.measure(observation(kind="zeek.dns", text="no record"))) == []
    one = observation(kind="zeek.dns", data={"query": "a.example.com", "rcode_name": "NXDOMAIN"})
    assert [(row.key, row.label) for row in detector.measure(one)] == [
        ("example.com", "a"),
        ("nxdomain", "example.com"),
    ]


def test_benign_names_beside_a_tunnel_hide_nothing() -> None:
    rng = random.Random(1)
    asks: list[Ask] = [*benign.tenants(rng), *tunnels.dns2tcp(rng), *benign.telemetry(rng)]
    assert list(judged(zeek(asks))) == ["dns tunnel example.info"]
