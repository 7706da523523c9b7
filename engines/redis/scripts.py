"""The Lua scripts, one `.lua` file each."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

GUARDED = frozenset({"commit", "drop", "mark", "move_published"})
"""Scripts that write to lines: `guard.lua` stands before them."""
NAMES = (
    *("begin", "commit", "drop", "index", "mark", "move_manifest", "move_note", "move_published", "named", "page"),
    *("part_sizes", "prune", "refuse", "snapshot", "unindex", "unmark", "versions"),
)


class Script(NamedTuple):
    """A script and the digest by which the server knows it once it is loaded."""

    text: str
    sha: str


@cache
def script(name: str) -> Script:
    """The script of this name."""
    folder = files("engines.redis")
    text = folder.joinpath(f"{name}.lua").read_text("utf-8")
    if name in GUARDED:
        text = folder.joinpath("guard.lua").read_text("utf-8") + text
    # Redis itself names scripts so; nothing is protected by it
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
