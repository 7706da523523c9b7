"""The progress bar, and the count of what has no end: on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from casetape.cli.common import err
from workers.feed.options import FeedCounts

Report = Callable[[int, int | None, FeedCounts], None]


@contextmanager
def progress_bar(total: int | None) -> Iterator[Report]:
    """Shows how much of `total` bytes (None: unknown) has been fed, file after file."""
    if not err.is_terminal:
        yield lambda done, size, counts: None
        return
    columns = (TextColumn("feeding"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[read]:,} records"))
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as bar:
        task = bar.add_task("feed", total=total, read=0)
        before = _Before()

        def report(done: int, size: int | None, counts: FeedCounts) -> None:
            before.move(done, counts.read)
            bar.update(task, completed=before.bytes + done, read=before.records + counts.read)

        yield report


@contextmanager
def counter() -> Iterator[Callable[[FeedCounts], None]]:
    """Shows how many records have been fed, of what has no end."""
    if not err.is_terminal:
        yield lambda counts: None
        return
    # somebody may leave it open for months: it is drawn once a second, and nothing in it moves by itself
    column = TextColumn("{task.fields[read]:,} records, {task.fields[quarantined]:,} quarantined")
    with Progress(column, console=err, transient=True, refresh_per_second=1) as shown:
        task = shown.add_task("follow", total=None, read=0, quarantined=0)
        yield lambda counts: shown.update(task, read=counts.read, quarantined=counts.quarantined)


class _Before:
    """What the files before this one came to: a report that falls back starts the next file."""

    def __init__(self) -> None:
        self.bytes = self.records = self._done = self._read = 0

    def move(self, done: int, read: int) -> None:
        """Takes in the newest report."""
        if done < self._done or read < self._read:
            self.bytes += self._done
            self.records += self._read
        self._done, self._read = done, read
