"""Zeek's `conn_state` as small integers, and what each says about whether the two ends really spoke.

Sources: Zeek's documentation of `base/protocols/conn` (the thirteen states). Codes are part of window snapshots: they
are never renumbered, new ones are added at the end.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

NAMES: Final = (
    "",  # no state given: another sensor, or a cut record
    "SF",
    "S0",
    "S1",
    "S2",
    "S3",
    "REJ",
    "RSTO",
    "RSTR",
    "RSTOS0",
    "RSTRH",
    "SH",
    "SHR",
    "OTH",
)
UNKNOWN: Final = 0
CODES: Final = MappingProxyType({name: code for code, name in enumerate(NAMES)})

# RSTO and RSTR were open before one side reset them: some clients, C2 clients among them, close no other way.
ESTABLISHED_NAMES: Final = frozenset({"SF", "S1", "S2", "S3", "RSTO", "RSTR"})
FAILED_NAMES: Final = frozenset({"S0", "REJ", "RSTOS0", "RSTRH", "SH", "SHR"})
UNKNOWN_NAMES: Final = frozenset({"", "OTH"})

_ESTABLISHED: Final = np.array([name in ESTABLISHED_NAMES for name in NAMES], dtype=np.bool_)
_FAILED: Final = np.array([name in FAILED_NAMES for name in NAMES], dtype=np.bool_)


def code_of(name: str | None) -> int:
    """The code of a Zeek state; UNKNOWN for None and for a name that is not in the table."""
    return CODES.get(name or "", UNKNOWN)


def name_of(code: int) -> str:
    """The Zeek state of a code, "" for UNKNOWN. Raises IndexError for a code outside the table."""
    if code < 0:
        raise IndexError(code)
    return NAMES[code]


def established(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """For each code: was the connection open both ways?"""
    return _ESTABLISHED[codes]


def failed(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """For each code: was it refused, never answered, or seen from one side only?"""
    return _FAILED[codes]
