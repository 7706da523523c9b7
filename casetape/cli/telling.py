"""What a verb that goes on says while it does."""

from __future__ import annotations

import json
import sys
from typing import Any

from casetape.cli.common import tell
from casetape.cli.render import visible_json
from casetape.run import now
from schemas.scales import rfc3339


class Words:
    """Sentences on standard error; or, as JSON, one object a line on standard output."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def __call__(self, event: str, sentence: str, **more: Any) -> None:
        if not self._as_json:
            tell(f"casetape: {sentence}")
            return
        line = {"event": event, "at": rfc3339(now()), "text": sentence, **more}
        sys.stdout.write(visible_json(json.dumps(line, ensure_ascii=False)) + "\n")
        sys.stdout.flush()

    def told(self, sentence: str) -> None:
        """Says what happened."""
        self("told", sentence)
