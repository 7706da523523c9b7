"""Which reader fits: by content, kind and, where the records are silent, the file's name."""

from __future__ import annotations

import pytest

from schemas.errors import UsageError
from tests.unit.feed.reading import line
from workers.feed.errors import UnknownKind
from workers.feed.mapping import FieldMapping
from workers.feed.options import FeedOptions
from workers.feed.sniff import Choice, of_line, sniff
from workers.feed.streams import stream_of_name

ZEEK = Choice("zeek", None)
NAMELESS = line(_path=...)
TABS = Choice("zeek-tsv", None)
TSV = b"#separator \\x09\n#path\tconn\n#fields\tts\tuid\n#types\ttime\tstring\n1.5\tC1\n"
EVE = b'{"timestamp":"2023-08-08T12:30:00.047170+0000","flow_id":1,"event_type":"flow","src_ip":"10.0.0.5"}\n'
WINDOWS = b'{"Event":{"System":{"EventID":1,"TimeCreated":{},"Channel":"Security"}}}\n'


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
        (TSV, "x", "auto", TABS),
        (b"### a comment\n" + TSV, "dns.log", "zeek", TABS),
        (TSV, "x", "zeek.dns", Choice("zeek-tsv", "dns")),
        (TSV.replace(b"#path\tconn\n", b""), "conn.log.gz", "auto", Choice("zeek-tsv", "conn")),
        (TSV.replace(b"#path\tconn\n", b""), "x", "auto", TABS),
        (b"\xef\xbb\xbf" + TSV.replace(b"\n", b"\r\n"), "x", "auto", TABS),
        (b"1.5\tC1\t10.0.0.5\n", "conn.log", "auto", Choice("zeek-tsv", "conn")),
        (b"1.5\tC1\t10.0.0.5\n", "x", "zeek.conn", Choice("zeek-tsv", "conn")),
        (b"\0" * 99 + b"\n" + TSV, "x", "auto", TABS),
        (EVE, "eve.json", "auto", Choice("eve", None)),
        (EVE, "conn.log", "auto", Choice("eve", None)),
        (EVE, "x.txt", "auto", Choice("eve", None)),
        (b'{"message":"' + EVE.replace(b'"', b'\\"') + b'"}', "x", "auto", Choice("eve", None)),
        (b"Aug  8 12:30:00 fw suricata[1]: " + EVE, "x", "auto", Choice("eve", None)),
        (b'{"a":1}\n', "x", "eve", Choice("eve", None)),
        (WINDOWS, "x", "auto", Choice("windows", None)),
        (b'{"EventID":1,"Channel":"Security"}\n', "x", "auto", Choice("windows", None)),
        (b'{"a":1}\n', "x", "windows", Choice("windows", None)),
        (b'{"a":1}\n', "x", "json", Choice("json", None)),
        (line() + EVE + EVE, "x", "auto", Choice("eve", None)),
        (line() + line() + EVE, "x", "auto", ZEEK),
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
        ("text".encode("utf-16"), "x.txt", "auto", "UTF-16: write it as UTF-8"),
        ("text".encode("utf-16"), "x.txt", "text", "UTF-16: write it as UTF-8"),
        ("{}".encode("utf-16-be"), "x.json", "windows", "binary"),
        (b"ElfFile\0\0\0", "Security.evtx", "windows", "evtx_dump -o jsonl"),
        (b"<Events><Event/></Events>", "x.xml", "windows", "evtx_dump -o jsonl"),
        (b'[{"a":1},{"a":2}]\n', "x.json", "json", "JSON array: write one object a line"),
        (b'[{"a":1},{"a":2}]\n', "x.json", "auto", "JSON array: write one object a line"),
        (b"[" + EVE.strip() + b"]\n", "x.json", "auto", "JSON array: write one object a line"),
        (b'{\n "a": 1\n}\n', "x.json", "json", "several lines: write one object a line"),
        (b'{\n "EventID": 1,\n "Channel": "x"\n}\n', "x.json", "auto", "several lines"),
        (b"1.5\tC1\t10.0.0.5\n", "x", "zeek", "--kind zeek.conn"),
        (b"a\tb\n", "x.tsv", "auto", "no known kind"),
        (b"a sentence\n", "x", "eve", "JSON object"),
        (b"a sentence\n", "x", "json", "JSON object"),
        (NAMELESS, "x.json", "auto", "--kind zeek.conn"),
        (NAMELESS, "x.json", "zeek", "--kind zeek.conn"),
        (b"a sentence\n", "README.md", "auto", "no known kind"),
        (b"a,b\n1,2\n", "table.csv", "auto", "no known kind"),
        (b'{"a":1}\n', "x.txt", "auto", "no known kind of input: JSON lines of no known kind: say --kind json"),
        (b"<xml/>", "-", "auto", "no known kind"),
        (b"%PDF-1.4\n\x01\x02", "x.txt", "auto", "no known kind"),
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
        ("conn.log.labeled", "conn"),
        ("dns.tsv.gz", "dns"),
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
        {"kind": "eve.alert"},
        {"kind": "windows.security"},
        {"kind": "json."},
        {"kind": "json.mine"},
        {"zeek_fields": {"conn": "ts strange"}},
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


@pytest.mark.parametrize(
    ("content", "kind", "context", "choice"),
    [
        (b'{"ts":1}', "zeek.conn", "", Choice("zeek", "conn")),
        (b"1.5\tC1", "zeek.conn", "", Choice("zeek-tsv", "conn")),
        (b"rubbish", "zeek", "", ZEEK),
        (b"rubbish", "zeek", "#fields\tts", TABS),
        (b"x", "text", "", Choice("text", None)),
        (b"x", "eve", "", Choice("eve", None)),
        (b"x", "windows", "", Choice("windows", None)),
        (b"x", "json", "", Choice("json", None)),
        (b"x", "json.mine", "", Choice("json", "mine")),
    ],
)
def test_one_line_is_read_again_by_the_reader_it_had(content: bytes, kind: str, context: str, choice: Choice) -> None:
    """What a requeue asks: the kind that was recorded leads back to the reader."""
    options = FeedOptions(kind=kind, context=context, mappings={"mine": FieldMapping()})
    assert of_line(content, options) == choice
    assert choice.kind == kind
    with pytest.raises(UsageError, match="say with which kind"):
        of_line(content, FeedOptions())
