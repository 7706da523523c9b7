"""Many commands in one process, where a process each would only cost time: `python -m tests.acceptance.many`, the
argument lists as JSON on standard input; what each printed as JSON on standard output."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout

from casetape.cli import app


def main() -> None:
    """Runs all; one that fails ends it."""
    printed = []
    for arguments in json.load(sys.stdin):
        with redirect_stdout(io.StringIO()) as out:
            app(arguments, standalone_mode=False)
        printed.append(out.getvalue())
    json.dump(printed, sys.stdout)


if __name__ == "__main__":
    main()
