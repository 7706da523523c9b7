"""The dns detector: look-ups by client and registered domain over a day, judged by `tunnel`, and those in vain by
`burst`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from schemas.observation import Observation
from schemas.scales import DAY, HOUR, MILLION
from workers.detection.plugin import Finding
from workers.detection.windowed import Conclusion, Measure, Rows, Span, Window, WindowedDetector
from workers.detectors.dns import burst, tunnel, wording
from workers.detectors.dns.burst import BurstParameters, Vain
from workers.detectors.dns.names import Name, Suffixes, in_one_form
from workers.detectors.dns.payload import is_of_address
from workers.detectors.dns.records import NXDOMAIN, LookUp, look_ups
from workers.detectors.dns.services import ASKED_BY_NAME
from workers.detectors.dns.tunnel import Questions, TunnelParameters

IN_VAIN = "nxdomain"
"""The key of what does not exist. It is no registered domain, which has a dot in it."""
EXFILTRATION_BYTES = 4_096
"""From so many bytes in names on, it is exfiltration too."""
_MOST_CHARACTERS = 2**32
_PLAIN = ("", "www")
"""What stands below most domains that people visit: it carries nothing and is not kept."""


class Settings(TunnelParameters, BurstParameters):
    """Settings of the detector: those of both judgements, and what is looked at."""

    private_suffixes: bool = Field(
        default=True,
        description="whether what anybody can register under (github.io, uk.com) is a public suffix, as the list says",
    )
    known_services: bool = Field(
        default=True,
        description="leave out the domains of services that are known to be asked by DNS about what stands in the name",
    )
    services: tuple[str, ...] = Field(default=(), description="further registered domains to leave out")


class Dns(WindowedDetector):
    """Finds data in names (fingerprint `dns tunnel DOMAIN`) and look-ups of generated names that do not exist
    (fingerprint `dns nxdomain burst`)."""

    name = "dns"
    version = "1"
    kinds = ("zeek.dns", "eve.dns")
    Parameters = Settings
    window = Window(DAY, 6 * HOUR)
    columns = ("role", "type", "rcode", "reply")
    minimum = 10
    early: ClassVar[tuple[int, ...]] = (10, 25, 50, 100, 250, 1_000, 5_000, 25_000, 100_000)

    def __init__(self, parameters: Settings | None = None) -> None:
        super().__init__(parameters)
        self._settings = parameters if parameters is not None else Settings()
        self._suffixes = Suffixes(private=self._settings.private_suffixes)
        known = ASKED_BY_NAME if self._settings.known_services else ()
        self._services = frozenset((*known, *map(in_one_form, self._settings.services)))

    def measure(self, observation: Observation) -> Iterator[Measure]:
        """Of each name asked for: a row of its registered domain, with what stands below it; and one of what does not
        exist, with the domain."""
        data = observation.content.data
        for one in look_ups(observation.kind, data) if data is not None else ():
            name = self._suffixes.split(one.query)
            if name is None or name.domain in self._services:
                continue
            numbers = (one.role, one.type, one.rcode, min(one.reply, _MOST_CHARACTERS))
            if name.below not in _PLAIN:
                yield Measure(name.domain, numbers, name.below)
            if _in_vain(one, name):
                yield Measure(IN_VAIN, numbers, name.domain)

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | Conclusion | None:
        """A finding on a domain, or on what does not exist, or nothing."""
        labels = [label or "" for label in rows.labels]
        if key == IN_VAIN:
            return self._burst(Vain(rows.at, labels, rows.numbers[:, 1]))
        role, type_, rcode, reply = (np.ascontiguousarray(column) for column in rows.numbers.T)
        return self._tunnel(key, Questions(rows.at, labels, role, type_, rcode, reply))

    def _tunnel(self, domain: str, questions: Questions) -> Finding | None:
        said = tunnel.judge(questions, self._settings)
        if said is None:
            return None
        up = ("T1048",) if said.numbers["bytes"] >= EXFILTRATION_BYTES else ()
        return Finding(
            verdict=said.verdict,
            score=said.score / MILLION,
            confidence=said.confidence / MILLION,
            fingerprint=f"dns tunnel {domain}",
            title=wording.tunnel_title(domain, said.numbers),
            text=wording.tunnel_text(domain, said),
            target=domain,
            techniques=("T1071.004", *up),
            numbers=said.numbers,
            at=int(questions.at[-1]),
        )

    def _burst(self, vain: Vain) -> Finding | None:
        said = burst.judge(vain, self._settings)
        if said is None:
            return None
        return Finding(
            verdict=said.verdict,
            score=said.score / MILLION,
            confidence=said.confidence / MILLION,
            fingerprint="dns nxdomain burst",
            title=wording.burst_title(said.numbers),
            text=wording.burst_text(said),
            techniques=("T1568.002",),
            numbers=said.numbers,
            at=int(vain.at[-1]),
        )


def _in_vain(one: LookUp, name: Name) -> bool:
    return one.rcode == NXDOMAIN and name.listed and not is_of_address(name.below)


__all__ = ["Dns", "Settings"]
