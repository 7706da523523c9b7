"""Names: which registered domain one belongs to, and what stands below it."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final, NamedTuple

import idna
import tldextract

KEPT: Final = 16_384
"""Names whose parts are remembered: most are asked for again and again."""
LONGEST_LABEL, LONGEST = 252, 1_016
"""Characters of a label and of a name: 63 and 254 bytes, each of them written as `\\xNN`. More is not looked at."""
_DOTS = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61", "."))
_URL_MARKS = str.maketrans(dict.fromkeys("/?#@:\\[]", "_"))
"""What would end a host name in a URL, which is what the suffix list's reader expects."""
_PORT = re.compile(r":\d{1,5}\Z")
_DIRECT = "dnscat"
"""The label with which dnscat2 begins its names where it asks its server directly and owns no domain."""
LOCAL: Final = frozenset(
    {
        *("arpa", "local", "localhost", "localdomain", "internal", "intranet", "private", "lan", "home", "corp"),
        *("workgroup", "test", "invalid", "onion", "alt"),
    }
)
"""Last labels that lead to nobody outside: reserved for local use (RFC 6761, 6762, 8375 and 9476, ICANN's `internal`),
or in use for that without anybody's leave; and `arpa`, under which addresses are looked up."""


class Name(NamedTuple):
    """`domain`: the registered domain, in lower case and as A-labels (`xn--…`); `below`: what stands below it, as it
    was asked for; `listed`: whether its suffix is on the public suffix list."""

    domain: str
    below: str
    listed: bool


class Suffixes:
    """The public suffix list that comes with the program: nothing is fetched, nothing is written to disk. `private`:
    whether suffixes under which anybody can register (`github.io`, `uk.com`) count as public ones."""

    def __init__(self, *, private: bool) -> None:
        self._extract = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=private)
        self.split = lru_cache(maxsize=KEPT)(self._split)

    def _split(self, query: str) -> Name | None:
        """The parts of a name; None for what is no name (an address, `host:443`), has no registered domain (a single
        label, a suffix), or is local."""
        name = query.translate(_DOTS).rstrip(".")[-LONGEST:]
        labels = name.split(".")
        last = labels[-1].lower()
        if len(labels) < 2 or last in LOCAL or not labels[-2] or _PORT.search(name) or _is_address(name):
            return None
        found = self._extract.extract_str(".".join(labels[-6:]).translate(_URL_MARKS))
        if not found.suffix and labels[0].lower() == _DIRECT:
            return Name(_DIRECT, ".".join(labels[1:]), listed=False)
        # where no rule matches, the last label is the suffix: so the list's own algorithm says
        of_domain = (found.suffix.count(".") + 1 if found.suffix else 1) + 1
        if of_domain > len(labels):
            return None
        own = labels[-of_domain:]
        if any(len(label) > LONGEST_LABEL for label in own):
            return None
        return Name(in_one_form(".".join(own)), ".".join(labels[:-of_domain]), listed=bool(found.suffix))


def printable(text: str) -> str:
    """The text with what cannot be printed written as `\\xNN`, so that no name plays with a terminal."""
    return text if text.isprintable() else "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def in_one_form(domain: str) -> str:
    """A domain as it is compared and shown: A-labels, printable, without a dot at the end."""
    return printable(".".join(map(a_label, domain.rstrip(".").split("."))))


def a_label(label: str) -> str:
    """A label in its one form: lower case, `xn--…` where it is not ASCII. What cannot be written so stays."""
    if label.isascii():
        return label.lower()
    try:
        return idna.encode(label, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return label.lower()


def _is_address(name: str) -> bool:
    if not (name[-1:].isdigit() or ":" in name):
        return False
    try:
        ipaddress.ip_address(name.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return True
