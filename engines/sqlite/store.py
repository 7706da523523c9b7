"""StateStore on SQLite: its parts lie in files of their own."""

from __future__ import annotations

from engines.sqlite.cases import Cases
from engines.sqlite.dropping import Dropping
from engines.sqlite.epoch import Epoch
from engines.sqlite.pruning import Pruning
from engines.sqlite.tally import Tally
from engines.sqlite.versions import Versions
from engines.sqlite.windows import Windows


class SqliteStore(Versions, Pruning, Dropping, Cases, Windows, Epoch, Tally):
    """The running totals in one file."""

    def close(self) -> None:
        self._database.close()
