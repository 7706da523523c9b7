"""What is exchanged at each call: the half of the measure that looks at bytes instead of time.

A program asking for orders asks in the same words each time, and the usual answer is short. Three figures: how alike
the requests are, how light the exchange is, and how far a service label explains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing.scale import MILLION

LIGHT_BYTES: Final = 65_536
"""Up to here (median, both ways) an exchange is light: a check-in rather than a transfer."""
LEAST_LIGHTNESS: Final = 400_000
UNKNOWN: Final = -1
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Profile:
    """What an ordinary exchange of a service looks like, and how far it explains a rhythm.

    `discount` (millionths) is taken off in proportion to the exchanges that fit, so a tunnel that wears the label but
    not the size keeps its score.
    """

    discount: int
    sent: int | None = None
    """Most payload bytes the client sends, None: any."""
    received: int | None = None


_QUERY = Profile(discount=400_000, sent=220, received=1_100)  # two queries of a long name, two usual answers
_CLOCK = Profile(discount=600_000, sent=68, received=68)  # a bare NTP packet, or one with its digest
_DOMAIN = Profile(discount=300_000)
_LEASE = Profile(discount=400_000, sent=600, received=600)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        "dns": _QUERY,
        "ntp": _CLOCK,
        "dhcp": _LEASE,
        "krb": _DOMAIN,
        "krb_tcp": _DOMAIN,
        "krb_udp": _DOMAIN,
        "ldap": _DOMAIN,
        "ldap_tcp": _DOMAIN,
        "ldap_udp": _DOMAIN,
        "smb": _DOMAIN,
        "dce_rpc": _DOMAIN,
        "gssapi": _DOMAIN,
        "ntlm": _DOMAIN,
    }
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """Bytes of the conversations; medians in bytes (UNKNOWN where no size is known), the rest in millionths."""

    sent: int
    received: int
    width: int
    """Interquartile range of the requests over their median; UNKNOWN if unknown."""
    sameness: int
    """0..1: 1 for requests all alike, 0 from a width of the tolerance on, or when sizes are not known."""
    lightness: int
    """Factor: 1 for a light exchange, less for a heavy one, never below LEAST_LIGHTNESS."""
    explained: int
    """Factor: 1 if no label explains the exchange, less if one does."""


def exchange(sent: Integers, received: Integers, services: tuple[str, ...], tolerance: int) -> Exchange:
    """Measure the conversations' sizes (payload bytes, -1 unknown). `tolerance` in millionths of the median."""
    asked, answered = np.sort(sent[sent >= 0]), np.sort(received[received >= 0])
    width = _width(asked) if 2 * len(asked) >= len(sent) else UNKNOWN
    sameness = 0 if width == UNKNOWN else max(0, MILLION - width * MILLION // tolerance)
    sent_median, received_median = _median(asked), _median(answered)
    heavy = max(0, sent_median) + max(0, received_median)
    return Exchange(
        sent=sent_median,
        received=received_median,
        width=width,
        sameness=sameness,
        lightness=max(LEAST_LIGHTNESS, min(MILLION, LIGHT_BYTES * MILLION // max(1, heavy))),
        explained=_explained(sent, received, services),
    )


def _explained(sent: Integers, received: Integers, services: tuple[str, ...]) -> int:
    """1 less the discount of the labels seen, in proportion to the exchanges that fit.

    Of several labels the smallest discount counts; a label outside the table, or none at all, explains nothing; an
    unknown size fits no size.
    """
    labels = {label for service in services for label in service.split(",") if label}
    if not len(sent) or not labels or not labels <= PROFILES.keys():
        return MILLION
    profile = min((PROFILES[label] for label in labels), key=lambda each: (each.discount, each.sent or 0))
    fits = np.ones(len(sent), dtype=np.bool_)
    if profile.sent is not None:
        fits &= (sent >= 0) & (sent <= profile.sent)
    if profile.received is not None:
        fits &= (received >= 0) & (received <= profile.received)
    return MILLION - profile.discount * int(np.count_nonzero(fits)) // len(fits)


def _width(ordered: Integers) -> int:
    count = len(ordered)
    if count == 0:
        return UNKNOWN
    return int(ordered[3 * count // 4] - ordered[count // 4]) * MILLION // max(1, int(ordered[count // 2]))


def _median(ordered: Integers) -> int:
    return int(ordered[len(ordered) // 2]) if len(ordered) else UNKNOWN
