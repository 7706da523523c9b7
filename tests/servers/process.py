"""A server as a process of the tests' own, on a free port of the loopback interface."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PATIENCE = 60.0
"""Seconds after which a server that does not answer has failed."""


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on just now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class ServerProcess:
    """A command that serves until it is stopped, and can be started again on the same data and port."""

    def __init__(self, folder: Path, command: Sequence[str], answers: Callable[[], bool]) -> None:
        self.folder = folder
        self._command = command
        self._answers = answers
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def launch(self) -> None:
        """Starts it, without waiting for its first answer."""
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        self.launch()
        self.wait()

    def wait(self) -> None:
        """Waits until it answers."""
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = (self.folder / "server.log").read_text(errors="replace")[-2_000:]
                raise AssertionError(f"{self._command[0]} does not answer:\n{tail}")
            time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal: SIGSTOP and SIGCONT make it silent and let it go on."""
        os.kill(self.pid, number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it, by SIGTERM or as asked, and waits for its end."""
        if self._process is None:
            return
        if self._process.poll() is None:
            os.kill(self._process.pid, number)
            if number is signal.SIGTERM:
                os.kill(self._process.pid, signal.SIGCONT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(20)
        self._process = None

    def kill(self) -> None:
        """Ends it by SIGKILL."""
        self.stop(signal.SIGKILL)
