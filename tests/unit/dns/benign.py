"""Look-ups that must not be taken for a tunnel, seeded."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid

from tests.unit.dns.asks import BASE32, BASE36, HEX, Ask, Families, once, repeated, text, word


def cdn_names(rng: random.Random) -> list[str]:
    """Five hundred of one content network."""
    return [
        rng.choice(
            (
                f"img{n}.cdn-edge.example.net",
                f"e{rng.randrange(99_999)}.dsc{rng.choice('abcdg')}.cdn-edge.example.net",
                f"{text(rng, HEX, 8)}.cdn-edge.example.net",
                f"rr{rng.randrange(9)}---sn-{text(rng, BASE36, 8)}.cdn-edge.example.net",
                f"static-{word(rng)}-{n}.fra{rng.randrange(9)}.cdn-edge.example.net",
            )
        )
        for n in range(500)
    ]


def addresses(rng: random.Random, count: int) -> list[str]:
    return [".".join(str(rng.randrange(1, 255)) for _ in range(4)) for _ in range(count)]


def block_lists(rng: random.Random, count: int = 5_000) -> list[Ask]:
    """A mail server's questions: reversed addresses, some with a key, some of 32 nibbles, some about domains."""
    key, made = text(rng, BASE32, 26), []
    for one in addresses(rng, count):
        zone = rng.choice(
            (
                "zen.blocks.example",
                "bl.mail-list.example.net",
                f"{key}.zen.dq.blocks.example.net",
                "multi.links.example.org",
            )
        )
        asked = rng.choice((one, one, one, ".".join(text(rng, HEX, 32)), f"{word(rng)}{word(rng)}.com"))
        made.append(f"{asked}.{zone}")
    return once(rng, made, every=5, rcode="NXDOMAIN")


def digests(rng: random.Random, count: int = 800) -> list[Ask]:
    """An anti-virus program's questions: one digest each, here of five kinds, each at a service of its own."""
    made = []
    for _ in range(count):
        content = rng.randbytes(16)
        whole = hashlib.sha256(content).hexdigest()
        wide = base64.b32encode(hashlib.sha256(content).digest()).decode().rstrip("=").lower()
        made += [
            f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}.hash.reputation.example.com",
            f"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}.files.av-cloud.example.net",
            f"{whole[:32]}.{whole[32:]}.l.look.example.org",
            f"{wide}._email.key1.hbl.example.info",
            f"{whole[:32]}.safeframe.ads-example.com",
        ]
    return once(rng, made, every=8, rcode="NXDOMAIN")


def telemetry(rng: random.Random, count: int = 600) -> list[Ask]:
    """A cloud's telemetry, with a UUID in each name."""
    return once(rng, [f"{uuid.UUID(bytes=rng.randbytes(16))}.in.telemetry.example.cloud" for _ in range(count)])


def sweeps(rng: random.Random) -> list[Ask]:
    """Looking up the names of all neighbours."""
    asked = [f"{one}.in-addr.arpa" for one in addresses(rng, 2_000)]
    return once(rng, [*asked, *(".".join(text(rng, HEX, 32)) + ".ip6.arpa" for _ in range(500))], 1, "PTR", "NXDOMAIN")


def workstations(rng: random.Random) -> list[Ask]:
    """A management server that asks for all machines of its domain, each once."""
    return once(rng, [f"DESKTOP-{text(rng, BASE36, 7).upper()}.corp.example.com" for _ in range(500)])


def virtual_machines(rng: random.Random) -> list[Ask]:
    """Machines of a cloud, under names that it rolled, asked for again and again."""
    return repeated(rng, [f"vm-{text(rng, BASE36, 14)}.europe.cloud.example.com" for _ in range(200)])


def customers(rng: random.Random) -> list[Ask]:
    """Hosts of internet providers, whose names are made of addresses."""
    made = []
    for one in addresses(rng, 2_000):
        dashed = one.replace(".", "-")
        made.append(
            rng.choice(
                (
                    f"host-{dashed}.dynamic.provider.example.net",
                    f"p{text(rng, HEX, 8)}.dip0.provider.example.net",
                    f"ec2-{dashed}.region.provider.example.net",
                    f"c-{dashed}.hsd1.il.provider.example.net",
                )
            )
        )
    return once(rng, made)


def tenants(rng: random.Random) -> list[Ask]:
    """Customers of a service, each with a host of its own."""
    return once(rng, [f"{word(rng)}{word(rng)}-{word(rng)}.service.example.com" for _ in range(600)])


def mixed_case(rng: random.Random) -> list[Ask]:
    """A resolver that writes its questions in letters of random size (0x20)."""
    names = [f"{word(rng)}.{word(rng)}-{word(rng)}.example.com" for _ in range(40)]
    return [
        one._replace(query="".join(rng.choice((c.lower(), c.upper())) for c in one.query))
        for one in repeated(rng, names)
    ]


def directory(rng: random.Random) -> list[Ask]:
    """A domain's machines looking for their controllers, and for what does not exist."""
    made = [
        name
        for n in range(200)
        for name in (
            f"_ldap._tcp.dc._msdcs.site{n}.corp.example.com",
            f"_kerberos._tcp.site{n}._sites.example.local",
            "wpad.corp.example.com",
        )
    ]
    return once(rng, made, 30, "SRV", "NXDOMAIN")


def selectors(rng: random.Random) -> list[Ask]:
    """A mail server that looks for the keys of many senders."""
    return once(rng, [f"{text(rng, BASE32, 32)}._domainkey.{word(rng)}{n // 3}.com" for n in range(600)], kind="TXT")


def devices(rng: random.Random) -> list[Ask]:
    """Devices that call home, each with its UUID behind a word."""
    return once(rng, [f"dev-{uuid.UUID(bytes=rng.randbytes(16))}.iot.example.io" for _ in range(300)])


def videos(rng: random.Random) -> list[Ask]:
    """Servers of a video site, under names made of a place and a number."""
    places = [text(rng, BASE36, 8) for _ in range(40)]
    return once(rng, [f"rr{rng.randrange(1, 7)}---sn-{rng.choice(places)}.video.example.tv" for _ in range(400)])


def clicks(rng: random.Random) -> list[Ask]:
    """A tracker that has a new name of ten characters for each click."""
    return once(rng, [f"{text(rng, BASE36, 10)}.t.example.com" for _ in range(300)], 100)


BENIGN: Families = {
    "content network, 500 names, again and again": lambda rng: repeated(rng, cdn_names(rng)),
    "content network, 500 names, once each": lambda rng: once(rng, cdn_names(rng)),
    "content network, names of 12 hex, once each": lambda rng: once(
        rng, [f"{text(rng, HEX, 12)}.media.example.tv" for _ in range(500)]
    ),
    "content network, names of 20, again and again": lambda rng: repeated(
        rng, [f"{text(rng, BASE36, 20)}.media.example.tv" for _ in range(300)]
    ),
    "block lists, 5,000": block_lists,
    "digests, 4,000": digests,
    "telemetry with UUIDs, 600": telemetry,
    "sweeps of addresses, 2,500": sweeps,
    "machines of a domain, 500": workstations,
    "machines of a cloud, 200": virtual_machines,
    "hosts of providers, 2,000": customers,
    "tenants of a service, 600": tenants,
    "letters of random size": mixed_case,
    "a directory's services": directory,
    "keys of mail senders": selectors,
    "devices with UUIDs, 300": devices,
    "servers of a video site, 400": videos,
    "clicks, 300 names of 10": clicks,
}
