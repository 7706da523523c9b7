"""Look-ups of what does not exist, seeded: of domains that an algorithm rolls, and of others."""

from __future__ import annotations

import random

from tests.unit.dns import benign
from tests.unit.dns.asks import BASE36, HEX, LETTERS, Ask, Families, once, repeated, spaced, text, word


def generated(
    rng: random.Random, alphabet: str, shortest: int, longest: int, count: int = 50, every: float = 2.0
) -> list[Ask]:
    """Domains that an algorithm rolls."""
    suffixes = ("com", "net", "org", "info", "biz", "ru", "ws", "co.uk")
    made = [f"{text(rng, alphabet, rng.randrange(shortest, longest + 1))}.{rng.choice(suffixes)}" for _ in range(count)]
    return once(rng, made, every, rcode="NXDOMAIN")


GENERATED: Families = {
    "letters, 5 to 11 (Conficker)": lambda rng: generated(rng, LETTERS, 5, 11),
    "letters, 12 to 18 (Cryptolocker, Necurs)": lambda rng: generated(rng, LETTERS, 12, 18),
    "letters and digits, 16 to 28 (Gameover)": lambda rng: generated(rng, BASE36, 16, 28),
    "32 hex (Bamital)": lambda rng: generated(rng, HEX, 32, 32),
    "letters, 8 to 14, one in 15 min": lambda rng: generated(rng, LETTERS, 8, 14, 60, 900),
    "letters, 10 to 14, twelve in 20 s": lambda rng: generated(rng, LETTERS, 10, 14, 12, 2),
}
NOT_SEEN: Families = {
    "two words (Suppobox)": lambda rng: once(
        rng, [f"{word(rng)}{word(rng)}.net" for _ in range(80)], 2, rcode="NXDOMAIN"
    ),
    "syllables (Symmi)": lambda rng: once(
        rng,
        [
            "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(5)) + ".ddns.net"
            for _ in range(80)
        ],
        2,
        rcode="NXDOMAIN",
    ),
}
"""Algorithms that it does not find, as docs/explanation/dns.md says."""


def suffix_expansions(rng: random.Random) -> list[Ask]:
    """Names with each of the machine's search suffixes behind them."""
    made = [
        f"{name}.{suffix}"
        for n in range(100)
        for name in (f"{word(rng)}{n}", f"www.{word(rng)}{word(rng)}.com")
        for suffix in ("corp.example.com", "example.com", "office.example.net", "lan", "home-network")
    ]
    return once(rng, made, 3, rcode="NXDOMAIN")


def probes(rng: random.Random) -> list[Ask]:
    """A browser's random names by which it looks for a resolver that answers everything."""
    made = [name for _ in range(60) for name in (text(rng, LETTERS, rng.randrange(7, 16)),)]
    return once(rng, [*made, *(f"{one}.corp.example.com" for one in made)], 10, rcode="NXDOMAIN")


def mail_senders(rng: random.Random) -> list[Ask]:
    """A mail server that looks for the domains of senders of spam, many of which never were."""
    made = []
    for at in spaced(150, 20, rng):
        domain = f"{text(rng, LETTERS, 10)}.com"
        made += [
            Ask(at, domain, "MX", "NXDOMAIN"),
            Ask(at + 0.1, domain, "A", "NXDOMAIN"),
            Ask(at + 0.2, f"_dmarc.{domain}", "TXT", "NXDOMAIN"),
        ]
    return made


def blocked(rng: random.Random) -> list[Ask]:
    """Advertising that a resolver denies to exist, asked for by each page."""
    hosts, kinds = ("ads", "track", "pixel", "cdn", "tag"), ("media", "ads", "track", "metrics", "serve")
    names = [f"{rng.choice(hosts)}.{word(rng)}{rng.choice((*kinds, word(rng)))}.com" for _ in range(60)]
    return [one._replace(rcode="NXDOMAIN", answers=()) for one in repeated(rng, names)]


def dead_links(rng: random.Random) -> list[Ask]:
    """A crawler's questions for sites that have gone."""
    return once(
        rng,
        [
            f"www.{word(rng)}-{word(rng)}{rng.choice(('', 's', '24', 'online'))}.{rng.choice(('com', 'net', 'de'))}"
            for _ in range(200)
        ],
        2,
        rcode="NXDOMAIN",
    )


def missing_hosts(rng: random.Random) -> list[Ask]:
    """One domain's hosts that are gone, under rolled names."""
    return once(rng, [f"{text(rng, LETTERS, 8)}.old.example.com" for _ in range(100)], 2, rcode="NXDOMAIN")


OTHERS: Families = {
    "block lists, 5,000": benign.block_lists,
    "search suffixes": suffix_expansions,
    "a browser's probes": probes,
    "domains of mail senders": mail_senders,
    "blocked advertising": blocked,
    "dead links": dead_links,
    "one domain's missing hosts": missing_hosts,
    "a directory's services": benign.directory,
    "sweeps of addresses": benign.sweeps,
    "digests": benign.digests,
}
