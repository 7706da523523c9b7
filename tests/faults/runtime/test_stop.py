"""A signal may come at any moment, also while its own request is being looked at: streams' row 10, a clean stop."""

from __future__ import annotations

import subprocess
import sys
import threading

from workers.runtime.stop import Stop

ROUNDS = 2_000
SIGNALS = f"""
import signal
from workers.runtime.stop import Stop

asked = []
signal.signal(signal.SIGALRM, lambda *_: asked[-1].set())
for at in range({ROUNDS}):
    asked.append(Stop())
    signal.setitimer(signal.ITIMER_REAL, 0.0001 + at % 7 * 0.00003)
    while not asked[-1].wait(0.0):
        pass
    asked.pop().close()
print("done")
"""


def test_a_signal_handler_may_ask_at_any_moment() -> None:
    said = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, timeout=120, check=True)
    assert said.stdout == b"done\n"


def test_a_wait_ends_when_it_is_asked_for_and_never_begins_again() -> None:
    stop = Stop()
    assert not stop.wait(0.0)
    assert not stop.wait(0.01)
    other = threading.Thread(target=stop.set)
    other.start()
    assert stop.wait(3600.0)
    other.join()
    stop.set()
    assert stop.is_set()
    assert stop.wait(3600.0)
    stop.close()
