"""Stop: a request to stop, which a signal handler may make."""

from __future__ import annotations

import os
import select


class Stop:
    """Asked for by `set`, from any thread and from a signal handler; waited for by `wait`.

    `threading.Event` is not for signal handlers: its `set` waits for a lock, which the code that the signal has
    interrupted may hold, and then the process hangs for good.
    """

    def __init__(self) -> None:
        self._asked = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)

    def set(self) -> None:
        """Asks for it."""
        # the first request stays in the pipe, so that every later wait ends at once
        first, self._asked = not self._asked, True
        if first:
            os.write(self._write, b"\n")

    def is_set(self) -> bool:
        """Whether it was asked for."""
        return self._asked

    def wait(self, seconds: float) -> bool:
        """Waits so long, or until it is asked for: whether it was."""
        if not self._asked and seconds > 0:
            self._poll.poll(seconds * 1000)
        return self._asked

    def close(self) -> None:
        """Lets go of its pipe, once nobody asks or waits any more."""
        os.close(self._read)
        os.close(self._write)
