"""`casetape feed --follow` as a user starts it, and ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from engines.log import TopicPartition
from engines.sqlite import FILE, open_engine
from engines.topics import OBSERVATIONS
from schemas.observation import Observation
from tests.acceptance.command import SECONDS, command, environment


class Follower:
    """A process that follows paths from when it is entered on; `end` sends it a signal and returns its report."""

    def __init__(self, home: Path, *paths: str | Path) -> None:
        self.home = home
        self.said: list[str] = []
        self._command = command("feed", "--follow", "--interval", "0.05", "--json", *paths)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.home, {})
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self.until(lambda: any("Ctrl-C ends it" in sentence for sentence in self.said))
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def until(self, done: Callable[[], bool]) -> None:
        """Waits until something is so."""
        end = time.monotonic() + SECONDS
        while not done():
            assert self._process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.02)

    def until_told(self, words: str) -> None:
        """Waits until it has said a sentence with these words."""
        self.until(lambda: any(words in sentence for sentence in self.said))

    def until_fed(self, count: int) -> None:
        """Waits until so many records lie on the tape."""
        self.until(lambda: on_tape(self.home) >= count)

    def end(self, number: signal.Signals = signal.SIGINT) -> dict[str, Any]:
        """Its report, after a signal; the counts close (I7)."""
        self._process.send_signal(number)
        assert self._process.stdout is not None
        out = self._process.stdout.read()
        assert self._process.wait(SECONDS) == 0, self.said
        report: dict[str, Any] = json.loads(out)
        assert report["read"] == report["appended"] + report["already_fed"] + report["quarantined"]
        return report

    def _listen(self) -> None:
        assert self._process.stderr is not None
        self.said.extend(line.decode().rstrip("\n") for line in self._process.stderr)


def on_tape(home: Path) -> int:
    """How many records lie on the tape, repeats included."""
    if not (home / FILE).exists():
        return 0
    with open_engine(home, create=False, read_only=True) as engine:
        return sum(engine.log.end_offsets(OBSERVATIONS).values())


def uids(home: Path) -> list[str]:
    """The `uid` of every record on the tape, repeats included, sorted."""
    with open_engine(home, create=False, read_only=True) as engine:
        places = [TopicPartition(OBSERVATIONS, partition) for partition in engine.log.end_offsets(OBSERVATIONS)]
        lines = [one.value for at in places for one in engine.log.read(at, 0, 1_000_000)]
    return sorted(str((Observation.parse(line).data or {})["uid"]) for line in lines)
