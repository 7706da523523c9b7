"""The header of a TSV log: wherever it stands, whatever it lacks, no layout is ever guessed."""

from __future__ import annotations

import pytest

from tests.unit.feed.reading import got, one
from tests.unit.feed.zeek_logs import CONN, HEAD, RECORD, ROW
from workers.feed.options import FeedOptions
from workers.feed.reader import NoRedaction
from workers.feed.sniff import READERS
from workers.feed.zeek_layout import LONGEST


def test_header_lines_and_comments_are_no_records() -> None:
    content = b"### BTest baseline data\n" + CONN + ROW + b"#close\t2020-04-30-01-00-00\n"
    assert got(content).counts.read == 1
    assert got(CONN + b"#close\t2020-04-30-01-00-00\n").counts.read == 0


def test_concatenated_logs_each_with_its_header() -> None:
    dns = HEAD.replace(b"conn", b"dns") + b"#fields\tts\tid.orig_h\tquery\n#types\ttime\taddr\tstring\n"
    content = CONN + ROW + b"#close\tx\n" + dns + b"1.5\t10.0.0.9\tx.example\n" + CONN + ROW.replace(b"C1", b"C2")
    observations, faults, _ = got(content)
    assert [(one.kind, one.subject) for one in observations] == [
        ("zeek.conn", "host:10.0.0.5"),
        ("zeek.dns", "host:10.0.0.9"),
        ("zeek.conn", "host:10.0.0.5"),
    ]
    assert faults == []


def test_a_changed_header_counts_from_its_line_on() -> None:
    changed = b"#fields\tts\tuid\tnew\n#types\ttime\tstring\tcount\n"
    observations = got(CONN + ROW + changed + b"1.5\tC2\t7\n").observations
    assert observations[1].data == {"ts": 1.5, "uid": "C2", "new": 7}


def test_extra_columns_and_the_sensor() -> None:
    head = HEAD + b"#fields\t_node_name\tts\tid.orig_h\n#types\tstring\ttime\taddr\n"
    observation = one(head + b"worker-1\t1588205199.824370\t10.0.0.5\n")
    assert (observation.origin, observation.subject) == ("worker-1", "host:10.0.0.5")
    assert observation.data == {"_node_name": "worker-1", "ts": 1588205199.82437, "id.orig_h": "10.0.0.5"}


@pytest.mark.parametrize("path", [b"conn", b"logs/2020/conn"])
def test_the_path_names_the_stream_and_the_file_does_not(path: bytes) -> None:
    assert one(CONN.replace(b"#path\tconn", b"#path\t" + path) + ROW, name="dns.log").kind == "zeek.conn"


def test_labels_behind_three_spaces_as_in_iot_23() -> None:
    head = CONN.replace(b"tunnel_parents\n", b"tunnel_parents   label   detailed-label\n")
    head = head.replace(b"set[string]\n", b"set[string]   string   string\n")
    rows = ROW.replace(b"(empty)", b"(empty)   Malicious   C&C-HeartBeat") + ROW.replace(b"(empty)", b"-   Benign   -")
    first, second = got(head + rows, name="conn.log.labeled").observations
    assert first.data == {**RECORD, "label": "Malicious", "detailed-label": "C&C-HeartBeat"}
    assert second.data == {**{k: v for k, v in RECORD.items() if k != "tunnel_parents"}, "label": "Benign"}
    (fault,) = got(head + ROW).faults
    assert "`label` is missing" in str(fault.error)


def test_labels_in_columns_of_their_own() -> None:
    head = CONN.replace(b"tunnel_parents\n", b"tunnel_parents\tlabel\tdetailed-label\n")
    head = head.replace(b"set[string]\n", b"set[string]\tstring\tstring\n")
    observation = one(head + ROW[:-1] + b"\tMalicious\tDDoS\n")
    assert observation.data == {**RECORD, "label": "Malicious", "detailed-label": "DDoS"}


def test_carriage_returns_and_a_byte_order_mark() -> None:
    windows = b"\xef\xbb\xbf" + (CONN + ROW).replace(b"\n", b"\r\n")
    assert one(windows).id == one(CONN + ROW).id


@pytest.mark.parametrize(
    ("name", "kind"), [("conn.log", "auto"), ("anything", "zeek.conn"), ("conn.2020-04-30.log", "zeek")]
)
def test_without_a_header_each_line_says_what_to_do(name: str, kind: str) -> None:
    observations, faults, counts = got(ROW * 3, FeedOptions(kind=kind), name=name)
    assert (observations, counts.read, counts.quarantined) == ([], 3, 3)
    assert {str(fault.error) for fault in faults} == {
        "the log's header (#fields) is missing: feed the log from its beginning, or give the columns of `conn` in the"
        " setting zeek_fields"
    }


def test_the_setting_gives_the_columns() -> None:
    columns = "ts uid id.orig_h id.resp_p proto duration orig_bytes local_orig tunnel_parents"
    options = FeedOptions(zeek_fields={"conn": columns, "own": "ts what:count"})
    assert one(ROW, options, name="conn.log").id == one(CONN + ROW).id
    own = FeedOptions(kind="zeek.own", zeek_fields=options.zeek_fields)
    assert one(b"1.5\t7\n", own, name="x").data == {"ts": 1.5, "what": 7}
    assert one(CONN + ROW, FeedOptions(zeek_fields={"conn": "ts"}), name="conn.log").data == RECORD, "a header counts"


def test_a_header_without_types() -> None:
    known = HEAD + b"#fields\tts\tid.orig_h\tid.orig_p\n" + b"1.5\t10.0.0.5\t5\n"
    assert one(known).data == {"ts": 1.5, "id.orig_h": "10.0.0.5", "id.orig_p": 5}
    (fault,) = got(HEAD + b"#fields\tts\tstrange\n1.5\t7\n").faults
    assert "`strange` is not known: say it in zeek_fields, `strange:string`" in str(fault.error)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"#fields\tts\tuid\n#types\ttime\n", "#types: 1 types for 2 fields"),
        (b"#fields\tts\tuid\n#types\ttime\topaque\n", "the type of `uid`"),
        (b"#fields\tts\tts\n#types\ttime\ttime\n", "#fields"),
        (b"#fields\n#types\ttime\n", "#fields"),
        (b"#fields ts uid\n#types time string\n", "#fields"),
        (b"#types\ttime\n", "header (#fields) is missing"),
    ],
)
def test_a_header_that_cannot_be_used_quarantines_the_lines_under_it(header: bytes, said: str) -> None:
    observations, faults, counts = got(HEAD + header + b"1.5\tx\n2.5\ty\n" + CONN + ROW)
    assert (len(observations), counts.read, len(faults)) == (1, 3, 2)
    assert all(said in str(fault.error) for fault in faults)


def test_a_header_that_is_too_long_is_a_fault_and_stays_one() -> None:
    long = b"#fields\t" + b"\t".join(b"f%d" % at for at in range(LONGEST // 4)) + b"\n"
    observations, faults, counts = got(HEAD + long + b"x\n")
    assert (observations, counts.read) == ([], 2)
    assert "longer than" in str(faults[0].error)
    assert faults[1].context == "#fields"


def test_a_last_line_without_its_line_feed_may_be_cut_inside_its_last_column() -> None:
    """Field reports, row 1: what could be a truncated value is no evidence."""
    whole = CONN.replace(b"tunnel_parents", b"resp_pkts").replace(b"set[string]", b"count") + ROW.replace(
        b"(empty)", b"1234"
    )
    for cut in (1, 2, 3, 4, 9, 20):
        observations, (fault,), counts = got(whole + ROW.replace(b"(empty)", b"1234")[:-cut])
        assert (len(observations), counts.read, fault.error.code) == (1, 2, "cut_record")
    assert got(whole + b"#close\t2020").counts.read == 1, "a cut header line is none the less no record"


def test_the_context_is_the_header_in_force() -> None:
    reader = READERS["zeek-tsv"](FeedOptions(), None, NoRedaction(), "")
    for line in CONN.splitlines():
        assert reader.read(line, "") is None
    again = READERS["zeek-tsv"](FeedOptions(), None, NoRedaction(), reader.context)
    assert again.context == reader.context
    assert again.read(ROW[:-1], "") == reader.read(ROW[:-1], "")
    assert "#open" not in reader.context, "a new file with the same header has the same context"
