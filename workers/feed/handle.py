"""Handle: the file that was found under a name, opened where it is needed."""

from __future__ import annotations

import os
from io import BufferedReader
from pathlib import Path

from workers.feed.look import Identity


class Handle:
    """One file, and not whatever else comes to be called so. It can be closed at any time and opens again, as long as
    it lies under its `path`."""

    def __init__(self, path: str, identity: Identity) -> None:
        self.path = path
        self.identity = identity
        self._raw: BufferedReader | None = None

    @property
    def is_open(self) -> bool:
        """Whether it costs a descriptor now."""
        return self._raw is not None

    def raw(self) -> BufferedReader:
        """The open file. Raises OSError: FileNotFoundError also where another file has its name now."""
        if self._raw is None:
            raw = Path(self.path).open("rb")  # noqa: SIM115 -- it stays open until `close`
            status = os.fstat(raw.fileno())
            if (status.st_dev, status.st_ino) != self.identity:
                raw.close()
                raise FileNotFoundError(f"{self.path} is another file now")
            self._raw = raw
        return self._raw

    def descriptor(self) -> int:
        """The open file's descriptor. Raises OSError."""
        return self.raw().fileno()

    def close(self) -> None:
        """Closes it until it is needed again."""
        if self._raw is not None:
            self._raw.close()
            self._raw = None
