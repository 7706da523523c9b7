"""Seeded traffic of known kinds, for measuring the beaconing detector. Every function is pure in its generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing import conn_state
from workers.detectors.beaconing.connections import MICROSECONDS, Connections, Span

DAY = 86_400
START = 1_700_000_000 - 1_700_000_000 % DAY
WINDOW = Span(START * MICROSECONDS, (START + DAY) * MICROSECONDS)
Random = np.random.Generator
Seconds = npt.NDArray[np.floating]
Maker = Callable[[Random], Connections]


def connections(
    seconds: Seconds,
    sent: npt.ArrayLike = 500,
    received: npt.ArrayLike = 1_200,
    *,
    state: str = "SF",
    services: tuple[str, ...] = ("ssl",),
    transport: str = "tcp",
) -> Connections:
    """Connections starting at these seconds of the window, with these sizes (a scalar is used for all)."""
    order = np.argsort(seconds, kind="stable")
    count = len(seconds)

    def column(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return np.broadcast_to(np.asarray(values), (count,)).astype(np.int64)[order]

    return Connections(
        at=np.rint((START + seconds[order]) * MICROSECONDS).astype(np.int64),
        sent=column(sent),
        received=column(received),
        state=np.full(count, conn_state.CODES[state], dtype=np.int64),
        services=services,
        names=(),
        transport=transport,
    )


@dataclass(frozen=True)
class Beacon:
    """A caller that sleeps `period` seconds, varied by up to +-`jitter` of it, and loses `loss` of its calls."""

    period: float
    hours: float
    jitter: float = 0.0
    loss: float = 0.0
    awake: float = 1.0
    """Share of the time in which it is awake, in four stretches."""

    def times(self, random: Random) -> Seconds:
        lasts = self.hours * 3600
        count = int(lasts / self.period) + 1
        gaps = self.period * (1 + self.jitter * random.uniform(-1, 1, size=2 * count + 8))
        times = random.uniform(0, self.period) + np.cumsum(gaps)
        times = times[times < lasts]
        times = times[random.random(len(times)) >= self.loss]
        return times[(times / lasts * 4) % 1 < self.awake]

    def __call__(self, random: Random) -> Connections:
        times = self.times(random)
        return connections(times, *_check_in(random, len(times)))


def _check_in(random: Random, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    task = random.random(count) < 0.1
    return 500 + task * random.integers(0, 900, count), 1_200 + task * random.integers(0, 20_000, count)


def _poisson(random: Random, rate: float, lasts: float) -> Seconds:
    return np.sort(random.uniform(0, lasts, random.poisson(rate * lasts)))


def _visits(random: Random, visits: Seconds, most: int, within: float) -> Seconds:
    bursts = [visit + random.uniform(0, within, random.integers(1, most + 1)) for visit in visits]
    return np.concatenate([*bursts, np.zeros(1)])


def interleaved(random: Random) -> Connections:
    times = np.concatenate([Beacon(5, 0.5, jitter=0.2).times(random) for _ in range(2)])
    return connections(times, random.integers(630, 665, len(times)), random.integers(260, 370, len(times)))


def several_per_call(random: Random) -> Connections:
    calls = Beacon(120, 12, jitter=0.2).times(random)
    return connections(_visits(random, calls, 3, 2.0)[:-1])


def padded(random: Random) -> Connections:
    times = Beacon(60, 8, jitter=0.3).times(random)
    return connections(times, random.integers(300, 3_000, len(times)))


def back_off(random: Random) -> Connections:
    gaps = np.concatenate([np.arange(1, random.integers(8, 40)) * 0.1 + random.normal(0, 0.005) for _ in range(12)])
    return connections(np.cumsum(gaps), 997, 1_823, state="RSTO")


def whole_seconds(random: Random) -> Connections:
    return connections(np.floor(Beacon(60, 8, jitter=0.2).times(random)))


def tunnel_labelled_dns(random: Random) -> Connections:
    times = Beacon(30, 4, jitter=0.2).times(random)
    return connections(times, random.integers(380, 420, len(times)), 900, services=("dns",), transport="udp")


def browsing(random: Random) -> Connections:
    times = _visits(random, _poisson(random, 1 / 900, DAY / 3), 12, 8.0)
    return connections(times, random.lognormal(7, 0.8, len(times)), random.lognormal(9, 1.5, len(times)))


def same_size_at_random(random: Random) -> Connections:
    return connections(_poisson(random, random.uniform(0.5, 30) / 3600, DAY))


def whole_seconds_at_random(random: Random) -> Connections:
    times = np.floor(_poisson(random, random.uniform(0.05, 1), 3 * 3600))
    return connections(times, random.lognormal(6, 0.5, len(times)))


def content_network(random: Random) -> Connections:
    times = _visits(random, _poisson(random, 1 / 240, 2 * 3600), 40, 1.5)
    return connections(times, random.lognormal(6.5, 0.5, len(times)), random.lognormal(10, 1, len(times)))


def one_page(random: Random) -> Connections:
    return connections(np.arange(30) * 0.03 + random.uniform(0, 0.005, 30))


def time_server(random: Random) -> Connections:
    gaps = np.repeat(2.0 ** np.arange(6, 11), random.integers(3, 12, 5)) + random.normal(0, 0.5)
    return connections(np.cumsum(gaps), 48, 48, services=("ntp",), transport="udp")


def resolver(random: Random) -> Connections:
    times = _visits(random, _poisson(random, 1 / 60, 8 * 3600), 6, 1.0)
    size = random.integers(28, 90, len(times))
    return connections(times, size, size + random.integers(16, 200, len(times)), services=("dns",), transport="udp")


def same_name_every_minute(random: Random) -> Connections:
    return connections(Beacon(60, 24).times(random), 36, 52, services=("dns",), transport="udp")


def domain(random: Random) -> Connections:
    times = _visits(random, Beacon(5_400, 24, jitter=0.33).times(random), 8, 0.5)
    sizes = random.choice([221, 301, 1_443, 1_552, 2_391], len(times))
    return connections(times, sizes, 1_500, state="RSTR", services=("krb_tcp",))


def download(random: Random) -> Connections:
    lanes = [np.cumsum(random.lognormal(1, 0.3, 100)) for _ in range(6)]
    times = np.concatenate(lanes)
    return connections(times, 480, random.lognormal(14.5, 0.3, len(times)))


def video(random: Random) -> Connections:
    times = np.arange(600) * 6.0 + random.normal(0, 0.2, 600)
    return connections(times - times.min(), 700, random.lognormal(14, 0.2, 600))


def retries(random: Random) -> Connections:
    bursts = [start + np.arange(60) * 1.0 for start in _poisson(random, 1 / 1800, 8 * 3600)]
    return connections(np.concatenate([*bursts, np.arange(30.0)]), -1, -1, state="S0", services=())


def refused(random: Random) -> Connections:
    return connections(np.arange(3_000) + random.normal(0, 0.01, 3_000), 0, 0, state="REJ", services=())


def probe(random: Random) -> Connections:
    return connections(np.arange(200.0) + random.uniform(0, 0.1, 200), 0, 0, state="RSTO", services=())


def updates(random: Random) -> Connections:
    return connections(Beacon(3_600, 24, jitter=0.02).times(random), 650, 900)


def few_at_random(random: Random) -> Connections:
    return connections(np.cumsum(random.exponential(600, random.integers(6, 25))))


def clock_name(name: str, hours: int, jitter: int, loss: int) -> str:
    """How a plain beacon is called in the tables."""
    return f"every {name} for {hours} h, jitter {jitter} %, {loss} % lost"


BEACONS: Mapping[str, Maker] = MappingProxyType(
    {
        **{
            clock_name(name, hours, jitter, loss): Beacon(period, hours, jitter / 100, loss / 100)
            for name, period, spans in (("60 s", 60, (2, 24)), ("10 min", 600, (2, 8, 24)), ("1 h", 3_600, (12, 24)))
            for hours in spans
            for jitter in (0, 20, 50)
            for loss in (0, 10, 30)
        },
        "every 60 s, awake half the time": Beacon(60, 24, 0.2, 0.1, awake=0.5),
        "every 10 min, awake half the time": Beacon(600, 24, 0.2, 0.1, awake=0.5),
        "every 1 s for 4 min, jitter 50 %": Beacon(1, 4 / 60, 0.5),
        "every 10 s for 1 h, jitter 100 %": Beacon(10, 1, 1.0),
        "two every 5 s, taking turns": interleaved,
        "1 to 3 connections a call": several_per_call,
        "padded to random sizes": padded,
        "backing off, polling again": back_off,
        "whole-second timestamps": whole_seconds,
        "tunnel labelled dns": tunnel_labelled_dns,
    }
)

BACKGROUND: Mapping[str, Maker] = MappingProxyType(
    {
        "browsing": browsing,
        "same request at random times": same_size_at_random,
        "same request, 6 to 24 random times": few_at_random,
        "random times in whole seconds": whole_seconds_at_random,
        "content network bursts": content_network,
        "one page": one_page,
        "time server": time_server,
        "resolver": resolver,
        "one name resolved every minute": same_name_every_minute,
        "domain chatter": domain,
        "parallel download": download,
        "video in segments": video,
        "retry bursts": retries,
        "refused every second": refused,
        "opened and dropped every second": probe,
    }
)
"""What must not reach medium."""

ALIKE: Mapping[str, Maker] = MappingProxyType({"hourly update check": updates})
"""Harmless, and by its connections alone the same as a beacon."""


def shifted(made: Connections, microseconds: int) -> Connections:
    """The same connections, later."""
    return replace(made, at=made.at + microseconds)
