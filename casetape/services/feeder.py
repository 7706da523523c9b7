"""A feeder that follows files and folders, as a process of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from casetape.run import now
from engines.engine import Engine
from workers.feed.feeder import Feeder
from workers.feed.follow import Follower, keep_following
from workers.feed.options import FeedCounts, FeedOptions
from workers.runtime.child import Parent, child

COUNTS_SECONDS = 2.0


class _Counts:
    """Tells the parent the counts now and then."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._told_at = 0.0

    def __call__(self, counts: FeedCounts) -> None:
        if time.monotonic() - self._told_at >= COUNTS_SECONDS:
            self._told_at = time.monotonic()
            self._parent.say(event="counts", counts=asdict(counts))


def follow(engine: Engine, options: Mapping[str, Any], parent: Parent) -> None:
    """Follows what the options name until the parent says enough."""
    feeder = Feeder(engine.log, engine.store, FeedOptions.recorded(options["options"]), now)
    follower = Follower(feeder, options["follows"], parent.tell)
    parent.listen()
    parent.ready()
    keep_following(follower, parent.wait, parent.tell, _Counts(parent))
    parent.say(event="counts", counts=asdict(follower.counts))


if __name__ == "__main__":
    sys.exit(child(follow))
