"""Imported as a plug-in, it leaves."""

from __future__ import annotations

raise SystemExit(1)
