"""What a reader learnt from earlier lines is there where a feed goes on in the middle, or one line is requeued."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import pytest

from engines.topics import QUARANTINE
from tests.faults.feed.feeding import clock, engine, feed, notes, quarantine, tape
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.requeue import requeue
from workers.feed.zeek_layout import LONGEST

CONN = b"#separator \\x09\n#path\tconn\n#fields\tts\tuid\tid.orig_h\n#types\ttime\tstring\taddr\n"
DNS = b"#separator \\x09\n#path\tdns\n#fields\tuid\tts\tid.orig_h\n#types\tstring\ttime\taddr\n"


def conn(number: int) -> bytes:
    """A line below `CONN`."""
    return b"%d.5\tC%d\t10.0.0.1\n" % (1588205199 + number, number)


def dns(number: int) -> bytes:
    """A line below `DNS`."""
    return b"D%d\t%d.5\t10.0.0.1\n" % (number, 1588205199 + number)


def test_a_log_of_several_headers_grows_line_by_line(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "all.log"
    parts = [CONN, conn(0), conn(1), DNS, dns(2), dns(3), CONN, conn(4)]
    read = 0
    for end in range(1, len(parts) + 1):
        log.write_bytes(b"".join(parts[:end]))
        new = not parts[end - 1].startswith(b"#")
        assert feed(home, log) == FeedCounts(read=read + new, appended=int(new), already_fed=read)
        read += new
    kinds = {str((one.data or {})["uid"]): one.kind for one in tape(home)}
    assert kinds == dict.fromkeys(("C0", "C1", "C4"), "zeek.conn") | dict.fromkeys(("D2", "D3"), "zeek.dns")
    assert all(one.at is not None for one in tape(home))
    assert len(notes(home)) == 1


def test_a_header_alone_leaves_nothing_in_the_ledger(tmp_path: Path) -> None:
    log = tmp_path / "conn.log"
    log.write_bytes(CONN)
    assert feed(tmp_path / "home", log) == FeedCounts()
    assert notes(tmp_path / "home") == {}


def test_a_quarantined_line_is_requeued_under_the_header_it_stood_under(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "all.log"
    wrong = FeedOptions(subjects={"zeek.dns": " {id.orig_h}"})
    log.write_bytes(CONN + conn(0) + DNS + dns(1) + CONN + conn(2))
    with engine(home) as opened:
        counts = Feeder(opened.log, opened.store, wrong, clock).feed_path(log)
    assert counts == FeedCounts(read=3, appended=2, quarantined=1)
    (listed,) = quarantine(home)
    assert listed.record.source.options["context"].splitlines() == DNS.decode().splitlines()
    with engine(home) as opened:
        assert requeue(opened.log, opened.store, listed.record, clock).observation is None
        outcome = requeue(opened.log, opened.store, listed.record, clock, change={"subjects": {}})
    again = next(one for one in tape(home) if one.id == outcome.observation)
    assert (again.kind, again.subject, (again.data or {})["uid"]) == ("zeek.dns", "host:10.0.0.1", "D1")


def _wide(size: int) -> bytes:
    """A header of about so many bytes, whose names repeat nothing that could be packed."""
    names = (hashlib.sha256(b"%d" % at).hexdigest() for at in range(size // 65))
    return b"#separator \\x09\n#path\tconn\n#fields\tts\t" + "\t".join(names).encode() + b"\n"


@pytest.mark.parametrize("size", [7 * 1024, 56 * 1024])
def test_a_long_header_is_not_kept_many_times_over(tmp_path: Path, size: int) -> None:
    """I7 at a bounded price: each line is in quarantine with its reason, and not with whatever stood above it."""
    home, log, lines = tmp_path / "home", tmp_path / "conn.log", 4_000
    log.write_bytes(_wide(size) + b"x\n" * lines)
    with engine(home) as opened:
        tracemalloc.start()
        counts = Feeder(opened.log, opened.store, FeedOptions(), clock).feed_path(log)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        stored = sum(opened.log.stored_bytes(QUARANTINE).values())
    refused = size > LONGEST
    assert counts == FeedCounts(read=lines + refused, quarantined=lines + refused)
    listed = quarantine(home)
    assert len(listed) == lines + refused
    assert all(one.record.reason for one in listed)
    assert max(len(one.record.source.options.get("context", "")) for one in listed) <= LONGEST
    if refused:
        assert "longer than 8192 bytes" in listed[0].record.reason
        assert {one.record.source.options["context"] for one in listed} == {"#fields"}
    assert stored < 2 << 20
    assert most < 16 << 20
