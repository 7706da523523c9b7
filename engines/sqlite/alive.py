"""Whether another process of this machine is still there: so that what a killed one held need not wait for its lease.

A process is named by its number, the time it was started (numbers are given again) and the spaces in which both are
told (a container has its own, in which the same number is another process). What cannot be told for sure counts as
alive: then the lease decides, as it does where a process is stopped or cut off.
"""

from __future__ import annotations

import os
from pathlib import Path

_STATE, _START = 0, 19
"""Places in /proc/PID/stat, counted from behind the name."""
_ENDED = ("Z", "X")


def this_process() -> str:
    """The name of this process, or an empty text where the system has no /proc, or one of other processes."""
    pid = os.getpid()
    try:
        stat = Path("/proc/self/stat").read_text()
        if not stat.startswith(f"{pid} "):
            return ""
        spaces = "-".join(str(os.stat(f"/proc/self/ns/{space}").st_ino) for space in ("pid", "time"))
        return f"{pid}.{_fields(stat)[_START]}.{spaces}"
    except (OSError, IndexError):
        return ""


def is_gone(process: str) -> bool:
    """Whether the process with this name has surely ended."""
    pid, _, rest = process.partition(".")
    start, _, space = rest.partition(".")
    ours = this_process()
    if not ours or not pid.isdigit() or space != ours.rpartition(".")[2]:
        return False
    try:
        # before /proc is asked, which may hide the processes of other users
        os.kill(int(pid), 0)
        stat = _fields(Path(f"/proc/{pid}/stat").read_text())
    except ProcessLookupError:
        return True
    except (OSError, IndexError):
        return False
    return stat[_STATE] in _ENDED or stat[_START] != start


def _fields(stat: str) -> list[str]:
    return stat.rpartition(")")[2].split()
