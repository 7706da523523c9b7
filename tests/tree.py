"""The files of this repository, for tests that look at all of them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("schemas", "engines", "merge", "workers", "casetape")
"""The packages, the lowest first: each imports only those before it."""


@cache
def files() -> tuple[Path, ...]:
    """All files that git has or would take, relative to ROOT."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = sorted({Path(name) for name in listed.split("\0") if name})
    return tuple(path for path in paths if (ROOT / path).is_file())


def sources() -> tuple[Path, ...]:
    """The Python files among them."""
    return tuple(path for path in files() if path.suffix == ".py")
