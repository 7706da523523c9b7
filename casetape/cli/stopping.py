"""Verbs that go on until somebody says enough."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from workers.runtime.stop import Stop


@contextmanager
def stopping() -> Iterator[Stop]:
    """Set by the first Ctrl-C or SIGTERM, which is no failure here; the second interrupts what is under way."""
    stopped = Stop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    for number in before:
        signal.signal(number, ask)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stopped.close()
