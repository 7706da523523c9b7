"""`casetape up` as a user starts it: a process, what it says line by line, and its children."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from tests.acceptance.command import casetape, command, environment

PATIENCE = 120.0


def until(done: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What `done` says once it says something."""
    end = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


class House:
    """A home that `casetape up --json` serves."""

    def __init__(self, home: Path, *args: str | Path, env: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.said: list[dict[str, Any]] = []
        self._environment = environment(home, env or {})
        self._args = args
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command("up", "--json", *self._args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self._reader.start()
        return process

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self.said.extend(json.loads(line) for line in process.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self) -> None:
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def events(self, name: str) -> list[dict[str, Any]]:
        """What it said of this kind."""
        return [one for one in list(self.said) if one["event"] == name]

    def ready(self) -> Self:
        """Waits until all services are at work."""
        until(lambda: self.events("ready") or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()
        return self

    def status(self) -> dict[str, Any]:
        """`casetape status --json`, whatever its exit code."""
        answer = casetape(self.home, "status", "--json")
        assert answer.code in (0, 1), answer.err
        found: dict[str, Any] = json.loads(answer.out)
        return found

    def services(self) -> dict[str, int]:
        """By name: the process ids of the services that are up, as the system knows them."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return {_name(int(pid)): int(pid) for pid in children if not gone(int(pid))}

    def ask_to_stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """SIGTERM to the parent only; Ctrl-C goes to the whole group of the terminal."""
        (os.killpg if number == signal.SIGINT else os.kill)(self.process.pid, number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> dict[str, Any]:
        """Stops it, waits for its end, and returns its report."""
        self.ask_to_stop(number)
        code = self.process.wait(PATIENCE)
        told = self.process.stderr.read() if self.process.stderr else b""
        self._close()
        assert code == 0, told
        report: dict[str, Any] = self.events("stopped")[-1]["report"]
        return report

    def killed(self) -> None:
        """SIGKILL of the parent; waits until its children have noticed."""
        pids = list(self.services().values())
        self.process.kill()
        self.process.wait()
        self._close()
        until(lambda: all(gone(pid) for pid in pids))

    def again(self) -> None:
        """Starts it once more after its end."""
        self.said.clear()
        self.process = self._start()


def gone(pid: int) -> bool:
    """Whether the process has ended, be it that nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return True


def _name(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    module = next((word for word in words if word.startswith("casetape.services.")), "?")
    return f"{module.rpartition('.')[2]} {pid}"
