"""Tunnels as the known tools make them, seeded; and those that are not found."""

from __future__ import annotations

import base64
import random

from tests.unit.dns.asks import BASE32, BASE36, BASE64, HEX, LETTERS, Ask, Families, labels, spaced, text, word


def iodine(
    rng: random.Random, count: int = 200, every: float = 1.0, *, data: bool = True, kind: str = "NULL"
) -> list[Ask]:
    """iodine in base32: data in labels of 57, a header of five characters; or its pings alone."""
    made = []
    for at in spaced(count, every, rng):
        body = "0" + text(rng, BASE32, 4 + (rng.choice((60, 120, 180)) if data and rng.random() < 0.7 else 0))
        name = labels(body, 57) if len(body) > 8 else "p" + text(rng, BASE32, 7)
        made.append(Ask(at, f"{name}.t.iodine-server.net", kind, answers=("x" * 200,) if data else ("x" * 4,)))
    return made


def iodine_bytes(rng: random.Random, count: int = 200) -> list[Ask]:
    """iodine in base128, with the bytes escaped as Zeek does."""
    alphabet = [*LETTERS, *LETTERS.upper(), *"0123456789", *(f"\\x{byte:02x}" for byte in range(0xBC, 0xFE))]
    return [
        Ask(at, ".".join("".join(rng.choices(alphabet, k=50)) for _ in range(3)) + ".t.iodine-server.net", "NULL")
        for at in spaced(count, 1, rng)
    ]


def dns2tcp(rng: random.Random, count: int = 200, every: float = 1.0) -> list[Ask]:
    """Base64 in labels of 63 over TXT: the first characters number the packets."""
    made = []
    for n, at in enumerate(spaced(count, every, rng)):
        length = rng.choice((4, 4, 90, 190))
        body = base64.b64encode(n.to_bytes(4) + rng.randbytes(length)).decode().rstrip("=")
        made.append(Ask(at, f"{labels(body)}.tcp.example.info", "TXT", answers=("TXT 200 " + "y" * 200,)))
    return made


def dnscat2(rng: random.Random, count: int = 144, every: float = 600.0, *, encrypted: bool = True) -> list[Ask]:
    """dnscat2 that idles: a packet id, the session, two counters that stand still; signed if encrypted."""
    session = text(rng, HEX, 4)
    made = []
    for at in spaced(count, every, rng):
        body = text(rng, HEX, 4) + "01" + session + "f5ad7a3b" + (text(rng, HEX, 16) if encrypted else "")
        kind = rng.choice(("TXT", "CNAME", "MX"))
        made.append(Ask(at, f"{body}.dnscat.example.biz", kind, answers=(text(rng, HEX, len(body)),)))
    return made


def dnscat2_direct(rng: random.Random, count: int = 100) -> list[Ask]:
    """dnscat2 that asks its server itself, without a domain."""
    return [
        Ask(at, "dnscat." + labels(text(rng, HEX, rng.choice((18, 34, 200))), 60), rng.choice(("TXT", "CNAME", "MX")))
        for at in spaced(count, 1, rng)
    ]


def cobalt_strike_upload(rng: random.Random, count: int = 60) -> list[Ask]:
    """Data that is posted: hex in one or two labels, a counter, the beacon's id."""
    beacon = text(rng, HEX, 8)
    return [
        Ask(at, f"post.1{text(rng, HEX, 56)}.{text(rng, HEX, 56)}.{n:x}{text(rng, HEX, 6)}.{beacon}.cs.example.co")
        for n, at in enumerate(spaced(count, 1, rng))
    ]


def cobalt_strike_text(rng: random.Random, count: int = 300) -> list[Ask]:
    """A task fetched over TXT: a counter in hex before the beacon's id."""
    beacon, nonce = text(rng, HEX, 8), rng.randrange(1 << 31)
    return [
        Ask(at, f"api.0{nonce + n * 0x1357:08x}.{beacon}.cs.example.co", "TXT", answers=("TXT 180 " + "z" * 180,))
        for n, at in enumerate(spaced(count, 1, rng))
    ]


def cobalt_strike_addresses(rng: random.Random, count: int = 500) -> list[Ask]:
    """The same over addresses."""
    return [one._replace(type="A", answers=("10.2.3.4",)) for one in cobalt_strike_text(rng, count)]


def cobalt_strike_idle(rng: random.Random, count: int = 500) -> list[Ask]:
    """A beacon without a task: the same name at its rhythm."""
    beacon = text(rng, HEX, 8)
    return [Ask(at, f"{beacon}.cs.example.co", answers=("0.0.0.0",)) for at in spaced(count, 60, rng)]  # noqa: S104 - an answer, no address to bind


def hexadecimal(
    rng: random.Random, count: int = 200, every: float = 1.0, *, width: int = 16, kind: str = "A"
) -> list[Ask]:
    """A file sent away in short hex labels after a number."""
    return [
        Ask(at, f"{n:04}.{text(rng, HEX, width)}.x.exfil.site", kind, "NXDOMAIN")
        for n, at in enumerate(spaced(count, every, rng))
    ]


def tiny_labels(rng: random.Random, count: int = 200, *, width: int = 2, of: int = 12) -> list[Ask]:
    """Hex in labels of one or two characters."""
    return [
        Ask(at, ".".join(text(rng, HEX, width) for _ in range(of)) + ".tiny.example.site")
        for at in spaced(count, 1, rng)
    ]


def base32_file(rng: random.Random, count: int = 100, every: float = 1.0) -> list[Ask]:
    """A file in base32, full labels, numbered, over TXT as DNSExfiltrator asks."""
    return [
        Ask(at, f"{n}.{labels(text(rng, BASE32, 180))}.leak.example.online", "TXT")
        for n, at in enumerate(spaced(count, every, rng))
    ]


def supply_chain(rng: random.Random, count: int = 96, every: float = 900.0) -> list[Ask]:
    """As SUNBURST did: 16 to 32 characters of its own base32 below a host name that looks like a cloud's."""
    return [
        Ask(
            at,
            f"{text(rng, BASE36, rng.randrange(16, 33))}.appsync-api.eu-west-1.avsvm-cloud.com",
            answers=("20.140.0.1",),
        )
        for at in spaced(count, every, rng)
    ]


def unnumbered(
    rng: random.Random, alphabet: str, width: int, count: int = 500, kind: str = "A", of: int = 1
) -> list[Ask]:
    """Data in labels of one width and nothing else."""
    return [
        Ask(at, ".".join(text(rng, alphabet, width) for _ in range(of)) + ".x.exfil.site", kind)
        for at in spaced(count, 1, rng)
    ]


TUNNELS: Families = {
    "iodine, base32, data": iodine,
    "iodine, base32, idle": lambda rng: iodine(rng, data=False),
    "iodine, base32, over A": lambda rng: iodine(rng, kind="A"),
    "iodine, base32, one in 10 min": lambda rng: iodine(rng, 144, 600.0),
    "iodine, bytes": iodine_bytes,
    "dns2tcp, base64 over TXT": dns2tcp,
    "dnscat2, idle, one in 10 min": dnscat2,
    "dnscat2, idle, one in 10 min, not encrypted": lambda rng: dnscat2(rng, encrypted=False),
    "dnscat2, without a domain": dnscat2_direct,
    "Cobalt Strike, upload": cobalt_strike_upload,
    "Cobalt Strike, task over TXT": cobalt_strike_text,
    "Cobalt Strike, task over A": cobalt_strike_addresses,
    "numbered, 8 hex": lambda rng: hexadecimal(rng, width=8),
    "numbered, 16 hex": hexadecimal,
    "numbered, 16 hex, one in 5 min": lambda rng: hexadecimal(rng, 288, 300.0),
    "numbered, 32 hex": lambda rng: hexadecimal(rng, width=32),
    "base32 over TXT, numbered": base32_file,
    "16 hex": lambda rng: unnumbered(rng, HEX, 16),
    "24 hex": lambda rng: unnumbered(rng, HEX, 24),
    "three labels of 10 hex": lambda rng: unnumbered(rng, HEX, 10, of=3),
    "twelve labels of 2 hex": tiny_labels,
    "sixty labels of 1 hex": lambda rng: tiny_labels(rng, width=1, of=60),
    "10 hex over CNAME": lambda rng: unnumbered(rng, HEX, 10, kind="CNAME"),
    "20 letters": lambda rng: unnumbered(rng, LETTERS, 20),
    "40 base64, one an hour": lambda rng: [
        Ask(at, f"{text(rng, BASE64, 40)}.x.exfil.site") for at in spaced(24, 3_600, rng)
    ],
    "as SUNBURST, one in 15 min": supply_chain,
}
NOT_SEEN: Families = {
    "Cobalt Strike, idle (one name)": cobalt_strike_idle,
    "8 hex": lambda rng: unnumbered(rng, HEX, 8),
    "12 hex": lambda rng: unnumbered(rng, HEX, 12),
    "32 hex (a digest's length)": lambda rng: unnumbered(rng, HEX, 32),
    "words": lambda rng: [
        Ask(at, f"{word(rng)}{word(rng)}.{word(rng)}{word(rng)}.x.exfil.site") for at in spaced(500, 1, rng)
    ],
}
"""Tunnels that it does not find, as docs/explanation/dns.md says."""
