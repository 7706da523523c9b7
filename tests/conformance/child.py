"""What the kit runs in processes of their own, to kill them or to let them race: `python -m tests.conformance.child`.

`consume ENGINE PLACE SESSION`: joins the group, commits the first batch, prints what it owns and what it handled, reads
another batch, prints `holding` and waits for its end.
`race ENGINE PLACE WRITER COUNT`: brings COUNT versions into one case, against whoever else does; every fourth has
a snapshot.
`append ENGINE PLACE WRITER COUNT`: appends COUNT records one by one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engines.log import NewRecord
from engines.store import Snapshot
from tests.conformance.adapter import ADAPTERS, Adapter
from tests.conformance.lines import CASE, GENESIS, commit
from tests.conformance.members import TOPIC, Driven, until

ROOT = Path(__file__).parents[2]


def start(adapter: Adapter, role: str, *arguments: object) -> subprocess.Popen[str]:
    """Starts a child on the adapter's data."""
    command = [sys.executable, "-m", "tests.conformance.child", role, adapter.name, adapter.place, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(child: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line that the child prints."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, f"the child ended with {child.wait()}"
    answer: dict[str, Any] = json.loads(line)
    return answer


def _say(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def consume(adapter: Adapter, session: str) -> None:
    with adapter.open(float(session)) as engine:
        member = Driven(engine)
        until(lambda: bool(member.got), member)
        handled = {at: record.offset + 1 for at, record in member.got}
        member.consumer.commit(handled)
        generations = [[at.partition, generation] for at, generation in member.consumer.assignment().items()]
        _say(generations=generations, handled=[int(record.value) for _, record in member.got])
        before = len(member.got)
        until(lambda: len(member.got) > before, member)
        _say(holding=[int(record.value) for _, record in member.got[before:]])
        sys.stdin.read()


def race(adapter: Adapter, writer: str, count: str) -> None:
    with adapter.open() as engine:
        _say(ready=True)
        sys.stdin.readline()
        lost = 0
        for turn in range(int(count)):
            while True:
                head = engine.store.heads([CASE]).get(CASE, GENESIS)
                number = head.number + 1
                snapshot = Snapshot(number, b"at %d" % number) if number % 4 == 0 else None
                if engine.store.commit([commit(CASE, head, writer=f"{writer} {turn}", snapshot=snapshot)]) == [True]:
                    break
                lost += 1
        _say(lost=lost)


def append(adapter: Adapter, writer: str, count: str) -> None:
    with adapter.open() as engine:
        _say(ready=True)
        sys.stdin.readline()
        for turn in range(int(count)):
            engine.log.append(TOPIC, [NewRecord(f"acme/{writer}", str(turn).encode())])
        _say(done=True)


if __name__ == "__main__":
    role, name, place, *arguments = sys.argv[1:]
    roles: dict[str, Callable[..., None]] = {"consume": consume, "race": race, "append": append}
    roles[role](ADAPTERS[name](place), *arguments)
