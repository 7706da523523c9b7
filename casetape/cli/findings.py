"""What was looked over, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from casetape.cli.common import out
from casetape.cli.render import cell, plain
from engines.checkup import Finding

_STYLES = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def findings_json(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """As `--json` prints them."""
    return [one._asdict() for one in found]


def show_findings(found: Sequence[Finding]) -> None:
    """One line each."""
    for one in found:
        out.print(cell(f"{one.level:8}", _STYLES[one.level]).append(plain(f"{one.about}: {one.words}")), soft_wrap=True)
