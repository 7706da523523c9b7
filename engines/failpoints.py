"""Named places where a test can kill the process for good, to prove that what is durable before and after suffices.

`CASETAPE_FAIL_POINT="merger.committed:3"` ends the process with SIGKILL at the third time it passes `merger.committed`.
Unset, passing a point costs one comparison.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "CASETAPE_FAIL_POINT"
_name, _, _count = os.environ.get(VARIABLE, "").partition(":")
_left = int(_count or 1)


def fail_point(name: str) -> None:
    """Dies here by SIGKILL when this point and pass were asked for."""
    global _left
    if name != _name:
        return
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
