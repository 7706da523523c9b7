"""Whatever writers, rotation and restarts do, in any order: each line is on the tape once, and counts close (I7)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.feed.feeding import conn, quarantine
from tests.faults.feed.following import LONG, Rig, pack, rig, uids
from workers.feed.follow import FollowOptions

STREAMS = ("conn", "dns", "http")
DAY = 86_401.0


class Sensor:
    """Writes streams of lines into the folder, and rotates its logs in every way. `written`: the numbers of the lines
    that are whole; `cut`: how many were begun and never ended."""

    def __init__(self, one: Rig) -> None:
        self.one = one
        self.written: list[int] = []
        self.cut = 0
        self._number = 0
        self._rotated: list[Path] = []
        self._crashed: list[Path] = []
        self._rest: dict[str, tuple[int, bytes]] = {}

    def append(self, stream: str) -> None:
        """Ends the line that was begun, and writes two more."""
        self._end(stream, f"{stream}.log")
        for _ in range(2):
            self.begin(stream)
            self._end(stream, f"{stream}.log")

    def begin(self, stream: str) -> None:
        """Half a line."""
        if stream in self._rest:
            return
        self._number += 1
        line = conn(self._number, _path=stream)
        half = self._number % (len(line) - 1) + 1
        self.one.write(f"{stream}.log", line[:half])
        self._rest[stream] = self._number, line[half:]

    def rename(self, stream: str) -> None:
        """Rotation by name; the writer still ends its line in the old file."""
        path = self.one.logs / f"{stream}.log"
        if path.exists():
            old = self._aside(path)
            self._end(stream, old.name)

    def crash(self, stream: str) -> None:
        """Rotation by name, of a line that nobody ends."""
        path = self.one.logs / f"{stream}.log"
        if path.exists():
            old = self._aside(path)
            if self._rest.pop(stream, None) is not None:
                self.cut += 1
                self._crashed.append(old)

    def copy(self, stream: str) -> None:
        """Rotation by a copy, after which the log itself is cut and written on."""
        path = self.one.logs / f"{stream}.log"
        if path.exists():
            self._end(stream, path.name)
            self._number += 1
            self._rotated.append(Path(shutil.copy(path, self.one.logs / f"{stream}.{self._number}.log")))
            os.truncate(path, 0)

    def pack(self, _stream: str) -> None:
        """The oldest rotated file is packed."""
        if self._rotated:
            pack(self._rotated.pop(0), old=bool(self._number % 2))

    def delete(self, _stream: str) -> None:
        """The newest rotated file goes, after it was read, for which one that ends in half a line must be open."""
        self.one.look()
        if not self._rotated or (self._rotated[-1] in self._crashed and self.one.follow.handles < 100):
            return
        gone = self._rotated.pop()
        gone.unlink()
        if gone in self._crashed:
            self.one.look()
            self.one.look(LONG)

    def look(self, _stream: str) -> None:
        """A second passes."""
        self.one.look()

    def wait(self, _stream: str) -> None:
        """Many do."""
        self.one.look(LONG)

    def kill(self, _stream: str) -> None:
        """The follower ends between two steps, and another one starts."""
        self.one.look()
        self.one.start()

    def stop(self, _stream: str) -> None:
        """It is told to end, and another one starts."""
        self.one.stop()
        self.one.start()

    def _end(self, stream: str, name: str) -> None:
        if stream in self._rest:
            number, rest = self._rest.pop(stream)
            self.one.write(name, rest)
            self.written.append(number)

    def _aside(self, path: Path) -> Path:
        self._number += 1
        self._rotated.append(path.rename(self.one.logs / f"{path.stem}.{self._number}.log"))
        return self._rotated[-1]


OPERATIONS = ("append", "begin", "rename", "crash", "copy", "pack", "delete", "look", "wait", "kill", "stop")


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(OPERATIONS), st.sampled_from(STREAMS)), max_size=40),
    st.sampled_from([0, 1, 100]),
)
def test_each_line_is_on_the_tape_once(operations: list[tuple[str, str]], handles: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with rig(Path(folder), follow=FollowOptions(handles=handles)) as one:
            sensor = Sensor(one)
            for operation, stream in operations:
                getattr(sensor, operation)(stream)
            for stream in STREAMS:
                sensor.crash(stream)
            for seconds in (1.0, LONG, DAY, 1.0):
                one.look(seconds)
            assert one.tape() == uids(*sensor.written)
            assert one.look(DAY).read == 0
        assert len(quarantine(Path(folder) / "home")) == sensor.cut
