"""StateStore on Redis: its parts lie in files of their own."""

from __future__ import annotations

from engines.redis.checkup import Checkup
from engines.redis.dropping import Dropping
from engines.redis.epoch import Epoch
from engines.redis.notes import Notes
from engines.redis.pruning import Pruning
from engines.redis.tally import Tally
from engines.redis.windows import Windows


class RedisStore(Pruning, Dropping, Tally, Windows, Notes, Epoch, Checkup):
    """The running totals on a server."""

    def close(self) -> None:
        self._link.close()
