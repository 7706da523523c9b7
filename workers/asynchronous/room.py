"""Room: so many records, and so many bytes of them, may be held at a time."""

from __future__ import annotations

import asyncio


class Room:
    """Entered by a record, and left when it is saved. One record always fits, however large. `size` None: bytes do not
    count."""

    def __init__(self, records: int, size: int | None) -> None:
        self._records, self._size = records, size
        self.taken = 0
        self._bytes = 0
        self._free = asyncio.Event()
        self._free.set()
        self._emptied = 0

    async def enter(self, size: int) -> bool:
        """Waits for room for a record of so many bytes. False where the room was emptied meanwhile: then it is not
        in it."""
        emptied = self._emptied
        while self.taken and not self._fits(size):
            self._free.clear()
            await self._free.wait()
            if emptied != self._emptied:
                return False
        self.taken += 1
        self._bytes += size
        return True

    def leave(self, records: int, size: int) -> None:
        """So many records of together so many bytes are saved."""
        self.taken -= records
        self._bytes -= size
        self._free.set()

    def empty(self) -> None:
        """All that is in it is gone."""
        self.taken = self._bytes = 0
        self._emptied += 1
        self._free.set()

    def _fits(self, size: int) -> bool:
        return self.taken < self._records and (self._size is None or self._bytes + size <= self._size)
