"""Following across every way in which logs are rotated: nothing twice, nothing missing, and counts that close (I7)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.faults.feed.feeding import conn, quarantine
from tests.faults.feed.following import LONG, pack, rig, uids
from workers.feed.follow import FollowOptions
from workers.feed.options import FeedCounts


@pytest.mark.parametrize("given", [(), ("conn.log",)], ids=["the folder", "the file"])
def test_renamed_the_old_file_is_read_to_its_end_first(tmp_path: Path, given: tuple[str, ...]) -> None:
    with rig(tmp_path, *given) as one:
        path = one.write("conn.log", conn(0))
        assert one.look().appended == 1
        one.write("conn.log", conn(1))
        old = path.rename(one.logs / "conn.1.log")
        one.write("conn.log", conn(3), conn(4))
        assert one.look().appended == 3
        # whoever still has it open writes on for a while
        one.write(old.name, conn(2))
        assert one.look().appended == 1
        assert one.look(LONG) == FeedCounts()
        assert one.tape() == uids(*range(5))
        assert one.stop() == FeedCounts(read=5, appended=5)
        assert one.said == []


def test_a_file_that_is_renamed_away_stays_open_only_as_long_as_it_grows(tmp_path: Path) -> None:
    with rig(tmp_path, "conn.log") as one:
        for number in range(30):
            path = one.write("conn.log", conn(number))
            one.look(LONG / 4)
            path.rename(one.logs / f"{number}.log")
            one.write(f"{number}.log", conn(100 + number))
            one.look(LONG / 4)
            assert one.open_files() <= 3
        one.look(LONG)
        assert one.open_files() == 0
        assert one.tape() == uids(*range(30), *range(100, 130))


@pytest.mark.parametrize("end", ["rotated", "deleted", "stopped", "old"])
def test_a_cut_last_line_of_a_file_that_nobody_writes_any_more(tmp_path: Path, end: str) -> None:
    """Row 1: one quarantined record, all earlier ones counted."""
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0), conn(1)[:-9])
        assert one.look() == FeedCounts(read=1, appended=1)
        if end == "deleted":
            path.unlink()
        elif end == "old":
            one.look(86_401)
        else:
            path.rename(one.logs / "conn.1.log")
        one.look()
        if end != "stopped":
            one.look(LONG)
        assert one.stop() == FeedCounts(read=2, appended=1, quarantined=1)
    assert [listed.record.code for listed in quarantine(tmp_path / "home")] == ["cut_record"]


def test_a_whole_last_line_of_a_rotated_file_that_then_goes_on(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("conn.log", conn(0), conn(1)[:-1]).rename(one.logs / "conn.1.log")
        one.look()
        (one.logs / "conn.1.log").rename(one.logs / "conn.2.log")
        one.look()
        assert one.look(LONG) == FeedCounts(read=1, appended=1)
        one.write("conn.2.log", b"\n" + conn(2))
        assert one.look() == FeedCounts(read=2, appended=1, already_fed=1)
        assert one.tape() == uids(0, 1, 2)


def test_copied_and_cut(tmp_path: Path) -> None:
    """copytruncate: what was not read before is in the copy, and only that is fed of it."""
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0), conn(1))
        assert one.look().appended == 2
        one.write("conn.log", conn(2))
        shutil.copy(path, one.logs / "conn.log.1")
        os.truncate(path, 0)
        one.write("conn.log", conn(3))
        assert one.look() == FeedCounts(read=4, appended=2, already_fed=2)
        assert one.tape() == uids(0, 1, 2, 3)
        assert one.said == [f"{path} no longer holds what was read of it: it is read from its beginning"]


def test_cut_and_at_once_longer_than_before(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0), conn(1))
        one.look()
        os.truncate(path, 0)
        one.write("conn.log", *map(conn, range(2, 9)))
        assert one.look() == FeedCounts(read=7, appended=7)
        assert one.tape() == uids(*range(9))


def test_a_copy_in_the_making_is_waited_for(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("conn.log", *map(conn, range(9)))
        one.look()
        for number in range(9):
            one.write("conn.log.1", conn(number))
            assert one.look().appended == 0
        assert one.look(LONG) == FeedCounts()
        assert one.stop() == FeedCounts(read=18, appended=9, already_fed=9)


def test_a_log_that_begins_like_another_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        one.write("a.log", conn(0), conn(1), conn(2))
        one.look()
        one.write("b.log", conn(0), conn(3))
        assert one.look() == FeedCounts()
        assert one.look(LONG) == FeedCounts(read=2, appended=2)


def test_zeros_left_by_a_writer_that_kept_its_place(tmp_path: Path) -> None:
    """A log that is cut under a writer that does not append: it goes on at its old place, after a hole."""
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0))
        one.look()
        os.truncate(path, 0)
        os.truncate(path, 200_000)
        one.write("conn.log", conn(1), conn(2))
        assert one.look() == FeedCounts(read=2, appended=1, quarantined=1)
        assert one.tape() == uids(0, 2)


@pytest.mark.parametrize("old", [True, False])
def test_compressed_after_it_was_read(tmp_path: Path, old: bool) -> None:
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0), conn(1))
        one.look()
        one.write("conn.log", conn(2)[:-1])
        pack(path.rename(one.logs / "conn.2020-04-30.log"), old=old)
        one.write("conn.log", conn(3))
        assert one.look() == FeedCounts(read=1, appended=1)
        # first the last line of the file that is no more, and only then the packed one
        assert one.look(LONG) == FeedCounts(read=4, appended=1, already_fed=3)
        assert one.look(LONG) == FeedCounts()
        assert one.tape() == uids(0, 1, 2, 3)
    assert quarantine(tmp_path / "home") == []


def test_a_gzip_file_is_taken_up_once_it_is_complete(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        whole = pack(one.write("dns.log", *(conn(number, _path="dns") for number in range(5000)))).read_bytes()
        (one.logs / "dns.log.gz").unlink()
        for at in range(0, len(whole), len(whole) // 5):
            one.write("dns.log.gz", whole[at : at + len(whole) // 5])
            assert one.look(3.0) == FeedCounts()
        assert one.look(LONG) == FeedCounts(read=5000, appended=5000)
        assert one.look(LONG) == FeedCounts()
    assert quarantine(tmp_path / "home") == []


def test_a_cut_gzip_file_is_quarantined_from_there_on_and_goes_on_where_it_was_mended(tmp_path: Path) -> None:
    with rig(tmp_path) as one:
        path = pack(one.write("conn.log", *map(conn, range(3000))))
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        one.look()
        cut = one.look(LONG)
        assert (cut.read, cut.quarantined) == (cut.appended + 1, 1)
        path.write_bytes(whole)
        one.look()
        assert one.look(LONG) == FeedCounts(3000, 3000 - cut.appended, cut.appended, 0)


def test_a_file_that_vanishes_and_comes_back(tmp_path: Path) -> None:
    with rig(tmp_path, "conn.log") as one:
        path = one.write("conn.log", conn(0))
        one.look()
        aside = path.rename(tmp_path / "aside")
        assert one.look() == FeedCounts()
        aside.rename(path)
        one.write("conn.log", conn(1))
        assert one.look() == FeedCounts(read=1, appended=1)
        path.rename(aside)
        one.look()
        one.look(LONG)
        shutil.copy(aside, path)
        one.write("conn.log", conn(2))
        assert one.look() == FeedCounts(read=3, appended=1, already_fed=2)
        assert one.tape() == uids(0, 1, 2)


def test_the_number_of_a_deleted_file_given_to_another(tmp_path: Path) -> None:
    """An inode is used again; a file that was closed meanwhile must not be taken for its successor."""
    with rig(tmp_path, follow=FollowOptions(handles=0)) as one:
        path = one.write("conn.log", conn(0), conn(1))
        one.look()
        content = b"".join(map(conn, range(2, 9)))
        with path.open("r+b") as same:
            same.write(content)
        path.rename(one.logs / "dns.log")
        assert one.look() == FeedCounts(read=7, appended=7)
        assert one.tape() == uids(*range(9))


def test_a_symlink_to_the_current_log(tmp_path: Path) -> None:
    with rig(tmp_path, "current") as one:
        for day in ("monday", "tuesday"):
            (one.logs / day).mkdir()
        current = one.logs / "current"
        current.symlink_to("monday")
        one.write("monday/conn.log", conn(0))
        assert one.look().appended == 1
        one.write("monday/conn.log", conn(1))
        one.write("tuesday/conn.log", conn(2))
        current.unlink()
        current.symlink_to("tuesday")
        assert one.look().appended == 2
        one.write("monday/conn.log", conn(3))
        assert one.look().appended == 1
        assert one.tape() == uids(0, 1, 2, 3)


def test_a_log_and_its_copies_found_together(tmp_path: Path) -> None:
    """One is fed, and only then are the others looked at, which are known by then."""
    with rig(tmp_path) as one:
        path = one.write("conn.log", *map(conn, range(5000)))
        shutil.copy(path, one.logs / "conn.log.1")
        pack(Path(shutil.copy(path, one.logs / "conn.log.2")), old=True)
        for _ in range(5):
            one.look()
        assert one.stop() == FeedCounts(read=15_000, appended=5_000, already_fed=10_000)
