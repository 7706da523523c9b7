"""An observation's content in one line: the fields that matter come first, and a look-up's name is never left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casetape.cli.observed import content_words
from tests import factories

DNS = Path(__file__).parents[2] / "fixtures" / "suricata" / "dns.json"
ZEEK = {"ts": 1.5, "id.orig_h": "10.0.0.5", "id.orig_p": 5, "id.resp_h": "10.0.0.4", "id.resp_p": 53}
EVE = {
    "timestamp": "2020-04-30T12:00:00",
    "flow_id": 5,
    "src_ip": "10.0.0.5",
    "src_port": 5,
    "dest_ip": "10.0.0.4",
    "dest_port": 53,
}
LONG = f"{'a' * 60}.{'b' * 60}.{'c' * 60}.tunnel.example"
ENDS = "10.0.0.5:5 -> 10.0.0.4:53"


def words(data: dict[str, Any]) -> str:
    return content_words(factories.observation(data=data))


@pytest.mark.parametrize(
    "data",
    [
        {**ZEEK, "query": LONG},
        {name.replace(".", "_"): value for name, value in ZEEK.items()} | {"query": LONG},
        {**EVE, "dns": {"type": "query", "rrname": LONG}},
        {**EVE, "dns": {"version": 3, "queries": [{"rrname": LONG}, {"rrname": "other.example"}]}},
        {**EVE, "dns": {"query": [{"rrname": LONG}]}},
    ],
)
def test_a_long_name_loses_its_middle(data: dict[str, Any]) -> None:
    said = words(data)
    assert said.startswith(f"{ENDS} query=aaaa")
    assert "\u2026" in said
    assert said.split()[3].endswith("tunnel.example")
    assert len(said) <= 100


def test_records_of_a_sensor() -> None:
    text = gzip.decompress(DNS.read_bytes()) if DNS.suffix == ".gz" else DNS.read_bytes()
    asked = json.loads(text.splitlines()[0])
    said = words(asked)
    assert said.startswith("10.16.1.11:53679 -> 10.16.1.1:53 query=client-cf.dropbox.com event_type=dns proto=UDP")


def test_a_name_is_shown_beside_the_longest_addresses() -> None:
    long = "2001:0db8:0000:0000:0000:ff00:0042:8329"
    said = words({**EVE, "src_ip": long, "dest_ip": long, "dns": {"rrname": LONG}})
    assert f"{long}:5 -> {long}:53 query=aaaa" in said
    assert "tunnel.example" in said


def test_who_talked_to_whom_without_a_look_up() -> None:
    assert words({**EVE, "proto": "TCP"}).startswith(f"{ENDS} proto=TCP")
    assert words({"src_ip": "10.0.0.5", "n": 1}) == "src_ip=10.0.0.5 n=1", "one end is no connection"
    assert words({"a": "x" * 200}) == f"a={'x' * 97}\u2026"


@given(
    st.dictionaries(
        st.sampled_from(["dns", "query", "id.orig_h", "id.resp_h", "src_ip", "dest_ip"]),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from(["rrname", "queries", "query"]), inner, max_size=3)
            ),
        ),
        min_size=1,
    )
)
def test_any_record_has_words(data: dict[str, Any]) -> None:
    """Foreign data may hold anything under these names."""
    assert words(data)
