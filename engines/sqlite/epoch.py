"""Which store this is, and whether it may be used: two notes of the store's own."""

from __future__ import annotations

from engines.sqlite.notes import Notes

EPOCH, REFUSED = "store/epoch", "store/refused"


class Epoch(Notes):
    """The part of the store about itself."""

    def epoch(self) -> str | None:
        return self._said(EPOCH)

    def begin(self, epoch: str, *, anew: bool = False) -> bool:
        return self.move_note(EPOCH, self.note(EPOCH) if anew else None, epoch.encode())

    def refused(self) -> str | None:
        return self._said(REFUSED)

    def refuse(self, reason: str | None) -> None:
        while not self.move_note(REFUSED, self.note(REFUSED), None if reason is None else reason.encode()):
            continue

    def _said(self, key: str) -> str | None:
        note = self.note(key)
        return None if note is None else note.decode()
