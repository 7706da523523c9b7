"""DNS record types as the numbers that IANA gave them, and what each says about a look-up."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

UNKNOWN: Final = -1
A: Final = 1
AAAA: Final = 28
CODES: Final = MappingProxyType(
    {
        "A": 1,
        "NS": 2,
        "CNAME": 5,
        "SOA": 6,
        "NULL": 10,
        "PTR": 12,
        "HINFO": 13,
        "MX": 15,
        "TXT": 16,
        "KEY": 25,
        "AAAA": 28,
        "SRV": 33,
        "NAPTR": 35,
        "DNAME": 39,
        "DS": 43,
        "RRSIG": 46,
        "DNSKEY": 48,
        "TLSA": 52,
        "SVCB": 64,
        "HTTPS": 65,
        "SPF": 99,
        "ANY": 255,
        "*": 255,
    }
)
NAMES: Final = MappingProxyType({code: name for name, code in CODES.items() if name != "*"})
NETBIOS: Final = ("NB", "NBSTAT", "NETBIOS", "NIMLOC")
"""Names that Zeek gives to NetBIOS look-ups, which are no DNS."""

_PRIVATE = (65_280, 65_534)
# CNAME, NULL, HINFO, MX, TXT, KEY, SRV, NAPTR, DNAME, ANY: their answers hold more than an address
_CARRYING = (5, 10, 13, 15, 16, 25, 33, 35, 39, 255)
_MAIL = (2, 6, 15, 16, 33, 35, 52, 99)

Integers = npt.NDArray[np.int64]


def code_of(name: object, number: object = None) -> int:
    """The number of a record type, given by name (`TXT`, `TYPE65399`, `query-65399`) or number; UNKNOWN for neither."""
    if isinstance(name, str) and name:
        known = CODES.get(name.upper())
        if known is not None:
            return known
        digits = name.upper().removeprefix("TYPE").removeprefix("QUERY-")
        if digits.isascii() and digits.isdigit() and len(digits) <= 5:
            return int(digits)
    return number if type(number) is int and 0 <= number < 65_536 else UNKNOWN


def name_of(code: int) -> str:
    """`TXT`, or `TYPE65399` where it has no name here."""
    return NAMES.get(code, f"TYPE{code}")


def carrying(codes: Integers) -> npt.NDArray[np.bool_]:
    """For each: does its answer have room for data? Tunnels ask for such, browsers for addresses."""
    private: npt.NDArray[np.bool_] = (codes >= _PRIVATE[0]) & (codes <= _PRIVATE[1])
    return private | np.isin(codes, _CARRYING)


def of_mail(codes: Integers) -> npt.NDArray[np.bool_]:
    """For each: is it what servers ask about a mail's or service's domain (MX, TXT, SRV, …) rather than a client?"""
    return np.isin(codes, _MAIL)
