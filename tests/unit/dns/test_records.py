"""Zeek's and Suricata's DNS records, in all the forms they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.detectors.dns.record_types import carrying, code_of, name_of, of_mail
from workers.detectors.dns.records import ANSWERED, ASKED, EXCHANGE, NOERROR, NXDOMAIN, LookUp, look_ups

ZEEK = {"query": "a.example.com", "qtype": 16, "qtype_name": "TXT", "rcode": 0, "rcode_name": "NOERROR"}


def zeek(**more: Any) -> list[LookUp]:
    return list(look_ups("zeek.dns", ZEEK | more))


def eve(dns: Any, **more: Any) -> list[LookUp]:
    return list(look_ups("eve.dns", {"event_type": "dns", "src_ip": "10.0.0.5", "dest_port": 53, "dns": dns, **more}))


def test_zeek() -> None:
    assert zeek(answers=["TXT 5 hello", "192.0.2.1"]) == [LookUp("a.example.com", 16, EXCHANGE, NOERROR, 20)]
    assert zeek() == [LookUp("a.example.com", 16, EXCHANGE, NOERROR, 0)]
    assert list(look_ups("zeek.dns", {"query": "a.b"})) == [LookUp("a.b", -1, EXCHANGE, -1, -1)]
    assert zeek(rcode_name=None, rcode=3)[0].rcode == NXDOMAIN
    assert zeek(qtype_name="query-65399", qtype=65_399)[0].type == 65_399


def test_the_letters_as_they_were_sent() -> None:
    """Where a site logs them: base64 depends on it."""
    assert zeek(original_query="A.eXample.com")[0].query == "A.eXample.com"
    assert zeek(original_query="something.else")[0].query == "a.example.com"


@pytest.mark.parametrize(
    "more",
    [
        {"query": None},
        {"query": 5},
        {"id.resp_p": 5353},
        {"id_resp_p": 5355},
        {"id.resp_p": 137, "qtype_name": "NB"},
        {"qtype_name": "NB"},
    ],
)
def test_what_is_no_dns(more: dict[str, Any]) -> None:
    assert zeek(**more) == []


def test_suricata_version_1_and_2() -> None:
    asked = {"type": "query", "id": 7, "rrname": "a.example.com", "rrtype": "TXT", "tx_id": 0}
    assert eve(asked) == [LookUp("a.example.com", 16, ASKED, -1, -1)]
    first = {
        "type": "answer",
        "rrname": "a.example.com",
        "rrtype": "TXT",
        "rcode": "NOERROR",
        "ttl": 5,
        "rdata": "hello",
    }
    assert eve(first) == [LookUp("a.example.com", 16, ANSWERED, NOERROR, 5)]
    none = {"type": "answer", "version": 2, "rrname": "a.example.com", "rrtype": "A", "rcode": "NXDOMAIN"}
    assert eve(none) == [LookUp("a.example.com", 1, ANSWERED, NXDOMAIN, 0)]
    answers = [{"rrname": "a.example.com", "rrtype": "TXT", "rdata": "hello"}, {"rdata": "you"}, 5]
    assert eve(first | {"version": 2, "answers": answers})[0].reply == 8
    assert eve({**none, "rcode": "NOERROR", "grouped": {"A": ["192.0.2.1"], "CNAME": ["b.c"]}})[0].reply == 12


def test_suricata_version_3() -> None:
    queries = [{"rrname": "a.example.com", "rrtype": "NULL"}, {"rrname": "b.example.com", "rrtype": "TYPE65399"}]
    asked = {"version": 3, "type": "request", "rcode": "NOERROR", "queries": queries}
    assert eve(asked) == [
        LookUp("a.example.com", 10, ASKED, -1, -1),
        LookUp("b.example.com", 65_399, ASKED, -1, -1),
    ]
    answered = asked | {"type": "response", "answers": [{"rdata": "xyz"}]}
    assert eve(answered)[0] == LookUp("a.example.com", 10, ANSWERED, NOERROR, 3)
    assert eve(asked, dest_port=5353) == []


json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 70_000)
    | st.floats(allow_nan=False)
    | st.text("aA.\ufffd1", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["rrname", "rrtype", "rdata"]), inner),
    max_leaves=6,
)
fields = st.sampled_from(
    ["query", "original_query", "qtype", "qtype_name", "rcode", "rcode_name", "answers", "id.resp_p", "dns"]
)
of_dns = st.dictionaries(
    st.sampled_from(["type", "rrname", "rrtype", "rcode", "queries", "answers", "grouped", "rdata"]),
    json | st.sampled_from(["answer", "response", "query"]),
)


@given(st.dictionaries(fields, json), json | of_dns, st.sampled_from(["zeek.dns", "eve.dns"]))
def test_no_record_is_too_strange(data: dict[str, Any], dns: Any, kind: str) -> None:
    for one in look_ups(kind, data | {"dns": dns}):
        assert type(one.query) is str
        assert all(type(number) is int and -1 <= number < 2**32 for number in one[1:])


def test_types() -> None:
    assert [code_of(one) for one in ("TXT", "txt", "TYPE65399", "query-65399", "*", "", None, "?")] == [
        *(16, 16, 65_399, 65_399, 255, -1, -1, -1),
    ]
    assert code_of(None, 28) == code_of("strange", 28) == 28
    assert code_of(None, True) == code_of(None, -3) == code_of(None, 70_000) == -1
    assert (name_of(255), name_of(28), name_of(65_399)) == ("ANY", "AAAA", "TYPE65399")
    codes = np.array([16, 10, 5, 65_399, 1, 28, 65, 12, -1], dtype=np.int64)
    assert carrying(codes).tolist() == [True] * 4 + [False] * 5
    assert of_mail(codes).tolist() == [True] + [False] * 8
