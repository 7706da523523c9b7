"""A service in a process of its own: `python -m workers.runtime.child`, its options as one JSON line on standard input.

Later lines are orders: {"until": {partition: offset}} says where a bounded run's input ends, {"suspects": [[detector,
what], ...]} which calls into plug-ins must not be made again. The end of standard input
is the order to stop: so a child whose parent died leaves by itself. What it has to say goes to standard output, one
JSON object a line: ready, a sentence for people, counts, or why it stopped.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any

from engines.engine import Engine
from engines.log import TopicPartition
from engines.opening import from_json, open_engine
from engines.service import Service
from schemas.errors import CasetapeError
from workers.detection.calling import Call
from workers.runtime.host import serve
from workers.runtime.stop import Stop

FAILED = 3
"""The exit code of a child that says why it stopped."""
PULSE_SECONDS = 2.0


class Parent:
    """The parent's end of standard input and output. Both are taken away from everything else in this process, so that
    a plug-in that prints or reads does not speak between us."""

    def __init__(self) -> None:
        self._orders = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._words = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        self.suspects: set[Call] = set()
        self._until: Mapping[int, int] | None = None
        self._stop = Stop()
        self._owned: frozenset[TopicPartition] | None = None
        self._pulsed_at = 0.0

    def options(self) -> Mapping[str, Any] | None:
        """The first line; None where the parent died before it had written one."""
        line = self._orders.readline()
        options: Mapping[str, Any] | None = json.loads(line) if line.endswith("\n") else None
        self._suspect([] if options is None else options.get("suspects", []))
        return options

    def say(self, **what: object) -> None:
        """One line to the parent, if it is still there."""
        try:
            self._words.write(json.dumps(what) + "\n")
            self._words.flush()
        except BrokenPipeError:
            self._stop.set()

    def ready(self) -> None:
        """Tells the parent that work begins."""
        self.say(event="ready", pid=os.getpid())

    def tell(self, sentence: str) -> None:
        """Tells the parent a sentence for people."""
        self.say(event="told", text=sentence)

    def wait(self, seconds: float) -> bool:
        """Waits so long, or until it is told to leave: whether it is."""
        return self._stop.wait(seconds)

    def pulse(self, owned: Collection[TopicPartition]) -> None:
        """Tells the parent which partitions are owned: when they change, and every few seconds as a sign of life."""
        held = frozenset(owned)
        if held != self._owned or time.monotonic() - self._pulsed_at > PULSE_SECONDS:
            self._owned, self._pulsed_at = held, time.monotonic()
            self.say(event="pulse", owned=sorted(held))

    def listen(self) -> None:
        """Reads orders until the input ends, in a thread of its own."""
        threading.Thread(target=self._read, daemon=True).start()

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """A signal handler: finish what is under way and leave."""
        self._stop.set()

    def stopped(self) -> bool:
        """Whether to finish and leave."""
        return self._stop.is_set()

    def until(self) -> Mapping[int, int] | None:
        """Where a bounded run's input ends, once that is known."""
        return self._until

    def _read(self) -> None:
        try:
            for line in self._orders:
                order = json.loads(line)
                if "until" in order:
                    self._until = {int(partition): offset for partition, offset in order["until"].items()}
                self._suspect(order.get("suspects", []))
        finally:
            # also where a parent that was killed left half an order
            self._stop.set()

    def _suspect(self, calls: Iterable[Sequence[str]]) -> None:
        self.suspects.update(Call(*one) for one in calls)


def main(make: Callable[[Engine, Mapping[str, Any]], Service]) -> int:
    """Runs the service that `make` makes of an engine and the options, `suspects` among them, which may grow. Returns
    the exit code."""

    def work(engine: Engine, options: Mapping[str, Any], parent: Parent) -> None:
        service = make(engine, {**options, "suspects": parent.suspects})
        parent.listen()
        serve(engine.log, service, parent, parent.ready)

    return child(work)


def child(work: Callable[[Engine, Mapping[str, Any], Parent], None]) -> int:
    """Does `work` with an engine, the options and the parent, which says when to stop. Returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = Parent()
    signal.signal(signal.SIGTERM, parent.stop)
    options = parent.options()
    if options is None:
        return 0
    # a batch is thousands of small objects that live until it is done: looking through them in between finds nothing
    gc.set_threshold(100_000, 50, 100)
    try:
        engine = open_engine(from_json(options["engine"]), session_seconds=options["session_seconds"])
        work(engine, options, parent)
        engine.close()
    except CasetapeError as error:
        parent.say(event="error", code=error.code, retriable=error.retriable, message=str(error))
        return FAILED
    return 0
