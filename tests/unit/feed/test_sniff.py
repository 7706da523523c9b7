"""Which reader fits: by content, kind and, where the records are silent, the file's name."""

from __future__ import annotations

import pytest

from schemas.errors import UsageError
from tests.unit.feed.reading import line
from workers.feed.errors import UnknownKind
from workers.feed.options import FeedOptions
from workers.feed.sniff import Choice, sniff
from workers.feed.streams import stream_of_name

ZEEK = Choice("zeek", None)
NAMELESS = line(_path=...)


@pytest.mark.parametrize(
    ("head", "name", "kind", "choice"),
    [
        (line(), "x", "auto", ZEEK),
        (line(), "dns.log", "auto", ZEEK),
        (line(), "x.txt", "auto", ZEEK),
        (b"\xef\xbb\xbf\n\n" + line(), "x", "auto", ZEEK),
        (b"rubbish \xff\n" + line(), "x", "auto", ZEEK),
        (b'{"_path":"dns","query":"\xc1","id.orig_h":"10.0', "x", "auto", ZEEK),
        (NAMELESS, "conn.log", "auto", Choice("zeek", "conn")),
        (NAMELESS, "x", "zeek.conn", Choice("zeek", "conn")),
        (b'{"ts":1}\n', "known_hosts.log", "auto", Choice("zeek", "known_hosts")),
        (b"a sentence\n", "-", "auto", Choice("text", None)),
        (b"a sentence\n", "note.txt", "auto", Choice("text", None)),
        (b"a sentence\n", "README", "text", Choice("text", None)),
        (line(), "x", "text", Choice("text", None)),
        (b"", "x", "auto", None),
        (b"\xef\xbb\xbf \r\n\t\n", "x", "zeek", None),
    ],
)
def test_the_fitting_reader(head: bytes, name: str, kind: str, choice: Choice | None) -> None:
    assert sniff(head, name, FeedOptions(kind=kind)) == choice


@pytest.mark.parametrize(
    ("head", "name", "kind", "said"),
    [
        (b"\x7fELF\x00", "x", "auto", "binary"),
        (b"PK\x03\x04\x00", "x.txt", "text", "binary"),
        ("text".encode("utf-16"), "x.txt", "auto", "binary"),
        (NAMELESS, "x.json", "auto", "--kind zeek.conn"),
        (NAMELESS, "x.json", "zeek", "--kind zeek.conn"),
        (b"a sentence\n", "README.md", "auto", "no known kind"),
        (b"a,b\n1,2\n", "table.csv", "auto", "no known kind"),
        (b'{"a":1}\n', "x.txt", "auto", "no known kind"),
        (b"<xml/>", "-", "auto", "no known kind"),
        (b"%PDF-1.4\n\x01\x02", "x.txt", "auto", "no known kind"),
        (b"#separator \\x09\n#path\tconn\n", "conn.log", "zeek", "TSV"),
        (b"a sentence\n", "x", "zeek.conn", "JSON object"),
    ],
)
def test_what_no_reader_fits_says_why(head: bytes, name: str, kind: str, said: str) -> None:
    with pytest.raises(UnknownKind, match=said):
        sniff(head, name, FeedOptions(kind=kind))


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        ("conn.log", "conn"),
        ("CONN.LOG", "conn"),
        ("smb_files.log", "smb_files"),
        ("conn.2020-04-30-00-00-00.log.gz", "conn"),
        ("conn_20200430.log", "conn"),
        ("dns.00:00:00-01:00:00.log", "dns"),
        ("conn.log.1.gz", "conn"),
        ("conn-2020-04-30T00:00:00Z.json", "conn"),
        ("weird_stats.log", "weird_stats"),
        ("connection.log", None),
        ("day1.zeek.json.gz", None),
        ("myconn.log", None),
        ("", None),
    ],
)
def test_the_stream_of_a_name(name: str, stream: str | None) -> None:
    assert stream_of_name(name) == stream


@pytest.mark.parametrize(
    "bad",
    [
        {"tenant": "Acme"},
        {"kind": "eve"},
        {"kind": "zeek."},
        {"kind": "zeek.a/b"},
        {"subject": " x"},
        {"origin": ""},
        {"request_id": "x" * 481},
        {"at": 10**20},
    ],
)
def test_options_that_cannot_be_used_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        FeedOptions(**bad)  # type: ignore[arg-type] # deliberately unfit values


def test_options_are_recorded_and_read_back() -> None:
    options = FeedOptions(tenant="acme", kind="zeek.conn", origin="s", at=3, subjects={"zeek.dns": "host:{x}"})
    assert FeedOptions.recorded(options.chosen()) == options
    assert FeedOptions().chosen() == {}
