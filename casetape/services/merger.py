"""A merger as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from engines.engine import Engine
from engines.service import Service
from merge.merger import Merger
from merge.policies.registry import Chosen, PolicyChoice, Registry, policies
from workers.runtime.child import main


def make(engine: Engine, options: Mapping[str, Any]) -> Service:
    """The merger that these options describe."""
    default = Chosen(options["policy"]["name"], options["policy"]["options"])
    rules = options["policies"]
    by = {(one["tenant"], one["subject_type"]): Chosen(one["name"], one["options"]) for one in rules}
    return Merger(engine.log, engine.store, policies(Registry.installed(), PolicyChoice(default, by)))


if __name__ == "__main__":
    sys.exit(main(make))
