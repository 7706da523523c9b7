"""Which of many files is read, and which of them are open."""

from __future__ import annotations

from pathlib import Path

from tests.faults.feed.feeding import conn
from tests.faults.feed.following import pack, rig, uids
from workers.feed.follow import FollowOptions
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.turns import ABREAST


def test_the_order_of_lines_stays_across_a_rotation(tmp_path: Path) -> None:
    with rig(tmp_path, options=FeedOptions(subject="host:10.0.0.1")) as one:
        path = one.write("conn.log", conn(0, ts=1588205199))
        one.look()
        one.write("conn.log", *(conn(number, ts=1588205199) for number in range(1, 3000)))
        path.rename(one.logs / "conn.1.log")
        one.write("conn.log", *(conn(number, ts=1588205199) for number in range(3000, 4000)))
        assert one.look().appended == 3999
        assert one.in_order() == [f"C{number}" for number in range(4000)]


def test_logs_are_read_abreast_in_event_time(tmp_path: Path) -> None:
    """I10: a backlog of several streams, one with an event a second, one with one a minute and one with one an hour:
    none of them is read ahead by more than ten minutes."""
    with rig(tmp_path, options=FeedOptions(subject="host:10.0.0.1")) as one:
        for stream, step in (("conn", 1), ("dns", 60), ("http", 3600)):
            lines = (conn(at, _path=stream, ts=1588205200 + at) for at in range(0, 20_000, step))
            one.write(f"{stream}.log", *lines)
            one.write(f"{stream}.old.log", conn(-step, _path=stream, ts=1588205200 - 4000))
        assert one.look().appended == 20_000 + 334 + 6 + 3
        latest = 0
        for at in one.times_in_order():
            assert at >= latest - ABREAST
            latest = max(latest, at)


def test_few_files_stay_open_and_those_that_grow_are_not_read_again(tmp_path: Path) -> None:
    with rig(tmp_path, follow=FollowOptions(handles=10)) as one:
        for number in range(150):
            one.write(f"conn.{number}.log", conn(number))
        assert one.look().appended == 150
        assert one.open_files() == 10
        for number in range(0, 150, 7):
            one.write(f"conn.{number}.log", conn(1000 + number))
        assert one.look() == FeedCounts(read=22, appended=22)
        assert one.open_files() == 10
        one.write("conn.149.log", conn(2000))
        one.look()
        assert str(one.logs / "conn.149.log") in one.open_names()


def test_a_gzip_file_that_was_closed_between_two_turns(tmp_path: Path) -> None:
    with rig(tmp_path, follow=FollowOptions(handles=0)) as one:
        pack(one.write("conn.log", *map(conn, range(5000))), old=True)
        assert one.look() == FeedCounts(read=5000, appended=5000)
        assert one.tape() == uids(*range(5000))
