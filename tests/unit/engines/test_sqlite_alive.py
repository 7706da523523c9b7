"""Whether a process is still there."""

from __future__ import annotations

import subprocess
import sys

from engines.sqlite.alive import is_gone, this_process
from engines.sqlite.groups import new_member, process_of

NAME = "from engines.sqlite.alive import this_process; print(this_process(), flush=True); input()"


def test_a_process_is_there_until_it_has_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    assert not is_gone(name)
    child.kill()
    # it has ended, and nobody has asked for its exit code yet
    child.stdout.read()
    while not is_gone(name):
        assert child.poll() is None or is_gone(name)
    child.communicate()
    assert is_gone(name)


def test_a_number_that_was_given_again_is_another_process() -> None:
    pid, start, space = this_process().split(".")
    assert not is_gone(f"{pid}.{start}.{space}")
    assert is_gone(f"{pid}.{int(start) - 1}.{space}")


def test_of_other_spaces_nothing_is_known() -> None:
    """Neither of a container's processes, nor where the time of the start is told by another clock."""
    pid, start, space = this_process().split(".")
    assert not is_gone(f"{pid}.{int(start) - 1}.{space}1")
    assert not is_gone("")
    assert not is_gone("an older member's name")


def test_a_member_tells_its_process() -> None:
    assert process_of(new_member()) == this_process()
    assert new_member() != new_member()
