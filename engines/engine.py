"""Engine: one log and one store that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from engines.log import EventLog
from engines.sizes import Space
from engines.store import StateStore


@dataclass(frozen=True)
class Engine:
    """What a process works on. It is used by one thread; other processes and threads open their own. `space` is the
    disk under it, where the engine looks after that itself."""

    log: EventLog
    store: StateStore
    space: Space | None = None

    def close(self) -> None:
        """Lets go of what both hold open. Consumers are closed before, by whoever made them."""
        try:
            self.log.close()
        finally:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
