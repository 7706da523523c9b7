"""What went wrong elsewhere (field-reports.md, first table): rows 1 to 4 and every other way to spoil a line. Row 5 is
in test_eve.py, rows 13 and 15 in test_json_lines.py."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.feed.reading import got, line
from tests.unit.feed.zeek_logs import CONN as TSV
from tests.unit.feed.zeek_logs import ROW
from workers.feed.options import FeedOptions

DATA = Path(__file__).parents[2] / "fixtures" / "apt29-zeek"
LINES = [line(uid=f"C{at}", ts=1588205199 + at) for at in range(5)]


def test_row_1_a_last_record_cut_in_the_middle() -> None:
    observations, (fault,), counts = got(b"".join(LINES) + b'{"ts":1704738946.0,"_path":"conn","hist')
    assert len(observations) == 5
    assert (fault.line, fault.error.code, counts.read) == (6, "cut_record", 6)
    assert "no line feed" in str(fault.error)


def test_row_1_a_whole_last_record_without_its_line_feed_is_fed() -> None:
    assert len(got(b"".join(LINES).removesuffix(b"\n")).observations) == 5


def test_rows_2_and_3_invalid_utf8_is_one_record() -> None:
    for raw in (b"0123456789012345678\xc1.example", b"\x61\xff\x62\x2e\x65\x78"):
        bad = line(_path="dns", query="QUERY").replace(b"QUERY", raw)
        observations, (fault,), counts = got(LINES[0] + bad + LINES[1])
        assert (len(observations), fault.line, fault.data) == (2, 2, bad.removesuffix(b"\n"))
        assert (counts.read, counts.appended, counts.quarantined) == (3, 2, 1)


def test_row_4_an_offset_in_words() -> None:
    bad = line(ts="2020-06-28T09:56:08.167548Eastern Daylight Time")
    observations, (fault,), _ = got(LINES[0] + bad + LINES[1])
    assert len(observations) == 2
    assert str(fault.error) == "ts: neither a number of seconds nor an ISO 8601 time"


OTHERS = {
    "eve": b'{"event_type":"dns","timestamp":"%s","flow_id":%d,"src_ip":"10.0.0.5","query":"%s"}\n',
    "windows": b'{"EventID":1,"Channel":"Security","TimeCreated":"%s","EventRecordID":%d,"Computer":"%s"}\n',
    "json": b'{"time":"%s","n":%d,"query":"%s"}\n',
}
"""By kind: a line without its time, number and text."""
TIME = b"2020-04-30T00:06:39.824370+0000"


@pytest.mark.parametrize("kind", OTHERS)
def test_rows_1_to_4_of_every_kind_of_json_lines(kind: str) -> None:
    good = b"".join(OTHERS[kind] % (TIME, at, b"x.example") for at in range(5))
    spoiled = {
        OTHERS[kind] % (TIME, 7, b"0123456789012345678\xc1.example"): "not JSON",
        OTHERS[kind] % (TIME, 8, b"\x61\xff\x62\x2e\x65\x78"): "not JSON",
        OTHERS[kind] % (b"2020-06-28T09:56:08.167548Eastern Daylight Time", 9, b"x"): "ISO 8601 time",
        (OTHERS[kind] % (TIME, 10, b"x"))[:30]: "no line feed",
    }
    observations, faults, counts = got(good + b"".join(spoiled), FeedOptions(kind=kind))
    assert (len(observations), counts.read) == (5, 9)
    assert [fault.line for fault in faults] == [6, 7, 8, 9]
    for fault, said in zip(faults, spoiled.values(), strict=True):
        assert said in str(fault.error)
    assert [fault.error.code for fault in faults] == ["record_invalid"] * 3 + ["cut_record"]


def test_rows_2_and_3_in_a_tsv_log_the_byte_is_kept_as_zeek_writes_it() -> None:
    rows = [ROW.replace(b"C1", raw) for raw in (b"0123456789012345678\xc1.example", b"\x61\xff\x62\x2e\x65\x78")]
    observations, faults, _ = got(TSV + b"".join(rows) + ROW)
    assert [(one.data or {})["uid"] for one in observations] == [
        "0123456789012345678\\xc1.example",
        "a\\xffb.ex",
        "C1",
    ]
    assert faults == []


def test_the_real_days_close() -> None:
    for name, read in (("day1", 2140), ("day2", 5664)):
        observations, faults, counts = got(gzip.decompress((DATA / f"{name}.zeek.json.gz").read_bytes()))
        assert (counts.read, faults) == (read, [])
        if name == "day2":
            timeless = [one for one in observations if one.flags == ("no_time",)]
            assert len(timeless) == 2880
            assert len({one.id for one in timeless}) == 2880 - 2399
        assert not [one for one in observations if one.flags == ("clock",)]


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A log of good lines with bytes replaced, taken out, put in or cut off."""
    content = bytearray(b"".join(LINES))
    start = len(LINES[0])
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(start, len(content) - 1))
        kind = draw(st.sampled_from(["replace", "remove", "insert", "cut"]))
        some = draw(st.one_of(st.binary(max_size=4), st.sampled_from([b"\n", b"{", b"[" * 300, b"1e999", b"\\ud800"])))
        if kind == "replace":
            content[at : at + len(some)] = some
        elif kind == "remove":
            del content[at : at + draw(st.integers(1, 20))]
        elif kind == "insert":
            content[at:at] = some
        else:
            del content[at:]
        content += b"x" * (len(content) <= start)
    return bytes(content).replace(b"\0", b"?")


@given(spoiled(), st.sampled_from(["auto", "zeek.conn", "text"]))
def test_whatever_is_spoiled_the_counts_close_and_the_good_lines_stay(content: bytes, kind: str) -> None:
    observations, faults, counts = got(content, FeedOptions(kind=kind))
    assert counts.read == sum(bool(one.strip()) for one in content.split(b"\n"))
    assert (counts.appended, counts.quarantined) == (len(observations), len(faults))
    good = {one.id for one in got(b"".join(LINES), FeedOptions(kind=kind)).observations}
    assert good.intersection(one.id for one in observations)


@given(st.text(st.sampled_from("abcdefghij"), min_size=12, max_size=20), st.data())
def test_a_secret_in_a_bad_line_is_never_in_its_reason(secret: str, data: st.DataObject) -> None:
    whole = line(password=secret, ts=data.draw(st.sampled_from([secret, 1.5, [secret]])), id__orig_h=secret + "\u0001")
    cut = data.draw(st.integers(len(whole) // 2, len(whole)))
    for fault in got(LINES[0] + whole[:cut] + b"\n" + whole.replace(b'"uid"', b'"' + secret.encode())).faults:
        assert secret not in str(fault.error)
