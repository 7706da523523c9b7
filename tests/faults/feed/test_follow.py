"""Following: what is appended is fed as it comes, nothing twice and nothing missing, and the counts close (I7; field
reports, input rows 1, 22 and 24)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemas.errors import UsageError
from tests.faults.feed.feeding import conn, feed, notes, quarantine
from tests.faults.feed.following import LONG, rig, uids
from workers.feed.follow import FollowOptions
from workers.feed.options import FeedCounts, FeedOptions


def test_lines_are_fed_as_they_come_and_not_read_again(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("conn.log", conn(0), conn(1))
        assert one.look() == FeedCounts(read=2, appended=2)
        assert one.look() == FeedCounts()
        for number in range(2, 6):
            one.write("conn.log", conn(number))
            assert one.look() == FeedCounts(read=1, appended=1)
        assert one.stop() == FeedCounts(read=6, appended=6)
        assert one.tape() == uids(*range(6))
    assert len(notes(tmp_path / "home")) == 1
    assert feed(tmp_path / "home", tmp_path / "logs" / "conn.log") == FeedCounts(read=6, already_fed=6)


def test_between_two_looks_nothing_is_looked_at(tmp_path: Path) -> None:
    with rig(tmp_path, follow=FollowOptions(interval=5.0)) as one:
        one.write("conn.log", conn(0))
        assert one.look().appended == 1
        one.write("conn.log", conn(1))
        assert one.look(4.9) == FeedCounts()
        assert one.look(0.1).appended == 1


def test_a_last_line_waits_for_its_line_feed(tmp_path: Path) -> None:
    """Row 1, while the file may grow: never half a line, never a quarantined one."""
    with rig(tmp_path) as one:
        line = conn(1)
        one.write("conn.log", conn(0), line[:20])
        assert one.look() == FeedCounts(read=1, appended=1)
        one.write("conn.log", line[20:-1])
        assert one.look(LONG) == FeedCounts()
        one.write("conn.log", b"\n" + conn(2)[:-1])
        assert one.look() == FeedCounts(read=1, appended=1)
        assert one.stop() == FeedCounts(read=2, appended=2)
        assert one.said == [
            f"{one.logs / 'conn.log'}: its last line has no line feed yet, and is left for the next feed"
        ]
        one.start()
        one.write("conn.log", b"\n")
        assert one.look() == FeedCounts(read=3, appended=1, already_fed=2)
        assert one.tape() == uids(0, 1, 2)
    assert quarantine(tmp_path / "home") == []


def test_a_first_line_waits_too(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        for part in (b"\n \n", conn(0)[:9], conn(0)[9:-1]):
            one.write("conn.log", part)
            assert one.look() == FeedCounts()
        one.write("conn.log", b"\n")
        assert one.look() == FeedCounts(read=1, appended=1)


def test_a_line_that_is_too_long_to_be_held_while_it_grows(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("conn.log", conn(0))
        for _ in range(5):
            one.write("conn.log", b"x" * 700_000)
            assert one.look().quarantined == 0
        one.write("conn.log", b"\n", conn(1))
        assert one.look() == FeedCounts(read=2, appended=1, quarantined=1)
        assert one.tape() == uids(0, 1)
    (listed,) = quarantine(tmp_path / "home")
    assert (listed.record.code, listed.record.size, listed.record.source.line) == ("record_too_large", 3_500_000, 2)


def test_a_folder_with_symlinks_into_itself_and_out_of_it(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    with rig(tmp_path) as one:
        (one.logs / "current").symlink_to(spool)
        (one.logs / "loop").symlink_to(one.logs)
        (one.logs / "above").symlink_to(tmp_path)
        (one.logs / "latest.log").symlink_to("conn.log")
        (one.logs / "gone.log").symlink_to("nowhere")
        one.write("conn.log", conn(0))
        (spool / "dns.log").write_bytes(conn(1))
        (tmp_path / "outside.log").write_bytes(conn(2))
        assert one.look() == FeedCounts(read=2, appended=2)
        assert one.tape() == uids(0, 1)
        assert one.said == []


def test_what_does_not_exist_yet_is_waited_for_and_told_once(tmp_path: Path) -> None:
    with rig(tmp_path, "conn.log", "later") as one:
        for _ in range(3):
            assert one.look() == FeedCounts()
        waited = [f"{one.logs / name} does not exist yet: it is waited for" for name in ("conn.log", "later")]
        assert one.said == waited
        one.write("conn.log", conn(0))
        (one.logs / "later").mkdir()
        one.write("later/dns.log", conn(1))
        assert one.look() == FeedCounts(read=2, appended=2)
        assert one.said == waited


def test_what_no_reader_fits_is_told_once_and_taken_up_when_it_fits(tmp_path: Path) -> None:
    with rig(tmp_path, ".", "note.txt") as one:
        os.mkfifo(one.logs / "pipe")
        one.write("app.log", b"prose\n")
        one.write("other.txt", b"prose\n")
        one.write("note.txt", b"a note, named itself\n")
        one.write("picture", b"\x89PNG\0\n")
        for _ in range(3):
            one.look()
            one.write("app.log", b"more prose\n")
        told = {sentence.split(": ")[1].rpartition("/")[2]: sentence for sentence in one.said}
        assert sorted(told) == ["app.log", "other.txt", "picture", "pipe"]
        assert len(one.said) == 4
        assert one.follower.counts == FeedCounts(read=1, appended=1)
        one.write("conn.log", b"prose, so far\n")
        one.look()
        one.write("conn.log", conn(0))
        assert one.look() == FeedCounts(read=2, appended=1, quarantined=1)


def test_a_file_that_may_not_be_read_until_it_may(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0))
        path.chmod(0)
        one.look()
        one.look()
        path.chmod(0o600)
        assert one.look(LONG).appended == 1
        assert len(one.said) == 1


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for options in (FeedOptions(kind="text", whole=True), FeedOptions(kind="text", request_id="r")):
        with pytest.raises(UsageError, match="leave out --follow"), rig(tmp_path, options=options):
            pass
    with rig(tmp_path) as one:
        one.paths = [Path("-")]
        with pytest.raises(UsageError, match="standard input"):
            one.start()


def test_a_header_holds_for_the_lines_that_come_later_and_after_a_restart(tmp_path: Path) -> None:
    header = b"#separator \\x09\n#path\tconn\n#fields\tts\tuid\tid.orig_h\n#types\ttime\tstring\taddr\n"
    other = b"#separator \\x09\n#path\tdns\n#fields\tuid\tts\n#types\tstring\ttime\n"
    with rig(tmp_path) as one:
        one.write("conn.log", header)
        assert one.look() == FeedCounts()
        one.write("conn.log", b"1588205199.5\tC0\t10.0.0.1\n")
        assert one.look().appended == 1
        one.start()
        one.write("conn.log", b"1588205200.5\tC1\t10.0.0.1\nrubbish\n", other)
        assert one.look() == FeedCounts(read=3, appended=1, already_fed=1, quarantined=1)
        one.write("conn.log", b"C2\t1588205201.5\n")
        assert one.look() == FeedCounts(read=1, appended=1)
        one.start()
        one.write("conn.log", b"C3\t1588205202.5\n")
        assert one.look() == FeedCounts(read=5, appended=1, already_fed=4)
        assert one.tape() == uids(0, 1, 2, 3)
    (listed,) = quarantine(tmp_path / "home")
    assert listed.record.source.options["context"].startswith("#separator")
    assert len(notes(tmp_path / "home")) == 1


def test_a_log_without_times_is_said_once(tmp_path: Path) -> None:
    """Row 13: never silently."""
    with rig(tmp_path) as one:
        for number in range(3):
            one.write("conn.log", conn(number, ts=None))
            one.look()
        assert ["none of its 1 records has a time" in sentence for sentence in one.said] == [True]
        assert one.follower.counts.untimed == 3


def test_a_clock_that_is_far_ahead_holds_up_nothing(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("conn.log", *(conn(number) for number in range(5000)), conn(5000, ts=4e9), conn(5001))
        one.write("dns.log", *(conn(number, ts=4e9) for number in range(6000, 9000)))
        assert one.look().appended == 8002
