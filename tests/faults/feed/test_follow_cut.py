"""Following a log that is cut and written anew at any moment, beyond the place read so far: no line is lost (I7)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.feed.feeding import conn
from tests.faults.feed.following import LONG, Rig, rig, uids
from workers.feed.options import FeedCounts


def _backlog(one: Rig, lines: list[bytes]) -> Path:
    """A log of which only the beginning is read, since no time passes: the next look is still to come."""
    path = one.write("conn.log", *lines)
    one.now += 1.0
    while not one.follower.counts.appended:
        assert one.follower.step()
    return path


def _cut_and_refilled(path: Path, lines: list[bytes]) -> None:
    with path.open("r+b") as same:
        same.truncate(0)
        same.write(b"".join(lines))


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("size", [1, 3, 10])
def test_cut_and_written_anew_beyond_the_place_while_a_backlog_is_read(tmp_path: Path, copied: bool, size: int) -> None:
    """I7: between two looks; whether the new content ends before the place, or beyond what was there."""
    old, new = (
        [conn(number) for number in range(9_000)],
        [conn(number) for number in range(10_000, 10_000 + 3_000 * size)],
    )
    with rig(tmp_path) as one:
        path = _backlog(one, old)
        fed = one.follower.counts.appended
        assert fed < 4_000
        if copied:
            shutil.copy(path, one.logs / "conn.log.1")
        _cut_and_refilled(path, new)
        while one.follower.step():
            pass
        one.look()
        one.look(LONG)
        one.look()
        tape = one.tape()
        assert len(tape) == len(set(tape))
        read = {int(uid[1:]) for uid in tape}
        assert {number for number in read if number >= 10_000} == set(range(10_000, 10_000 + len(new)))
        kept = {number for number in read if number < 10_000}
        assert kept == set(range(9_000 if copied else len(kept)))
        assert len(kept) >= fed
        assert one.said == [f"{path} no longer holds what was read of it: it is read from its beginning"]
        assert one.stop().quarantined == 0


def test_cut_and_written_anew_after_a_line_too_long_to_be_held(tmp_path: Path) -> None:
    long = b"x" * (2 << 20) + b"\n"
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(100), long, *map(conn, range(101, 109)))
        one.now += 1.0
        while one.follower.counts.quarantined == 0:
            assert one.follower.step()
        # a line feed in the same place
        _cut_and_refilled(path, [conn(200), b"y" * (2 << 20) + b"\n", *map(conn, range(201, 9_000))])
        one.look()
        assert set(uids(*range(200, 9_000))) <= set(one.tape())
        assert one.said == [f"{path} no longer holds what was read of it: it is read from its beginning"]


def test_cut_and_written_anew_before_its_last_line_is_fed(tmp_path: Path) -> None:
    """Nothing of a line that is not the one that was waited for is taken."""
    with rig(tmp_path) as one:
        path = one.write("conn.log", conn(0), conn(1), b"{")
        one.look()
        (content,) = [file.content for file in one.follower._files]
        assert content is not None
        _cut_and_refilled(path, [conn(number) for number in range(10, 14)])
        assert content.tail() == FeedCounts()
        assert one.look() == FeedCounts(read=4, appended=4)
        assert one.tape() == uids(0, 1, *range(10, 14))
