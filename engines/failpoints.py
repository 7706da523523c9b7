"""Named places where a test can kill the process for good, to prove that what is durable before and after suffices.

`CASETAPE_FAIL_POINT="merger.committed:3"` ends the process with SIGKILL at the third time it passes `merger.committed`;
`merger.committed:3:stop` stops it there (SIGSTOP), until somebody lets it go on. Unset, passing a point costs one
comparison.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "CASETAPE_FAIL_POINT"
_name, _count, _how, *_ = [*os.environ.get(VARIABLE, "").split(":"), "", ""]
_left = int(_count or 1)
_SIGNAL = signal.SIGSTOP if _how == "stop" else signal.SIGKILL


def fail_point(name: str) -> None:
    """Dies (or stops) here when this point and pass were asked for."""
    global _left
    if name != _name:
        return
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), _SIGNAL)
