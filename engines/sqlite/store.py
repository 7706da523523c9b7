"""StateStore on SQLite: its parts lie in files of their own."""

from __future__ import annotations

from engines.sqlite.cases import Cases
from engines.sqlite.notes import Notes
from engines.sqlite.pruning import Pruning
from engines.sqlite.tally import Tally
from engines.sqlite.versions import Versions
from engines.sqlite.windows import Windows


class SqliteStore(Versions, Pruning, Cases, Windows, Notes, Tally):
    """The running totals in one file."""

    def close(self) -> None:
        self._database.close()
