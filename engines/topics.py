"""The topics of the tape: names, and what each is for."""

from __future__ import annotations

OBSERVATIONS = "observations"
VERSIONS = "versions"
STATES = "states"
QUARANTINE = "quarantine"

ALL = (OBSERVATIONS, VERSIONS, STATES, QUARANTINE)
"""The topics of the main job; effects and memory add their own."""
DEFAULT_PARTITIONS = 8
RECORD_LIMIT = 2 * 1024 * 1024
"""Key and value of one record have at most this many bytes: 900 KiB of content, escaped and in its envelope, fit."""
