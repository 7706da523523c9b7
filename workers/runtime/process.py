"""One service's process, as its parent sees it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from engines.log import TopicPartition

STOP_SECONDS = 20.0


@dataclass(slots=True)
class Child:
    """One service's process. `said` holds what it said of itself, newest last, `sentences` what is for people, `counts`
    what it counted last; `owned` which partitions it has (None: it has not said yet), as of its last sign of life
    `pulse`, which like `started` is on the monotonic clock; `since` in seconds since 1970. `calling` is where its calls
    into plug-ins are noted."""

    name: str
    module: str
    options: Mapping[str, Any]
    process: subprocess.Popen[bytes]
    calling: Path
    started: float = field(default_factory=time.monotonic)
    since: float = field(default_factory=time.time)
    said: list[dict[str, Any]] = field(default_factory=list)
    sentences: deque[str] = field(default_factory=deque)
    counts: dict[str, int] = field(default_factory=dict)
    owned: frozenset[TopicPartition] | None = None
    pulse: float = field(default_factory=time.monotonic)
    reader: threading.Thread | None = None

    @classmethod
    def start(
        cls, name: str, module: str, options: Mapping[str, Any], calling: Path, environment: Mapping[str, str]
    ) -> Self:
        """Starts `python -m module`, and listens to it."""
        # in a process group of its own: Ctrl-C at a terminal is for the parent, which then stops its children
        process = subprocess.Popen(  # noqa: S603 - our own module under our own interpreter
            # -P: what lies in the working folder is somebody's data, and no module of ours
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
            process_group=0,
        )
        child = cls(name, module, options, process, calling)
        child.reader = threading.Thread(target=child.listen, args=(process.stdout,), daemon=True)
        child.reader.start()
        return child

    def listen(self, stream: IO[bytes]) -> None:
        """Takes in what it says until it ends."""
        for line in stream:
            said = json.loads(line)
            if said["event"] == "told":
                self.sentences.append(said["text"])
            elif said["event"] == "pulse":
                self.owned = frozenset(TopicPartition(*one) for one in said["owned"])
                self.pulse = time.monotonic()
            elif said["event"] == "counts":
                self.counts = said["counts"]
            else:
                self.said.append(said)

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    @property
    def error(self) -> dict[str, Any] | None:
        """What it said of why it stopped, or None."""
        return next((line for line in reversed(self.said) if line.get("event") == "error"), None)

    def order(self, line: Mapping[str, Any]) -> None:
        """Writes an order to it; one that is dying takes none, and its successor gets it again."""
        stream = self.process.stdin
        try:
            if stream is not None and not stream.closed:
                stream.write(json.dumps(line).encode() + b"\n")
                stream.flush()
        except BrokenPipeError:
            return

    def hang_up(self) -> None:
        """Ends its input, which is the order to leave."""
        if self.process.stdin is not None:
            _quietly_closed(self.process.stdin)

    def left(self) -> bool:
        """Waits for its end; False where it had to be killed."""
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """Ends it at once."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Takes in its last words; it has ended."""
        if self.reader is not None:
            self.reader.join(STOP_SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                _quietly_closed(stream)
        self.calling.unlink(missing_ok=True)


def _quietly_closed(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        return
