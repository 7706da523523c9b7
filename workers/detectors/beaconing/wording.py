"""The sentences an analyst reads, made from the numbers of a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.detectors.beaconing.connections import MICROSECONDS, Connections
from workers.detectors.beaconing.scale import MILLION

NAMES_SHOWN: Final = 5
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def title(numbers: Mapping[str, int]) -> str:
    """One line, without addresses: the fingerprint has those."""
    lasted = span_of_time(numbers["observed_span"])
    if numbers["strobe"]:
        return f"Strobe: {numbers['connections']:,} connections in {lasted}"
    return f"Beaconing: {numbers['calls']:,} calls in {lasted}, one about every {span_of_time(_spacing(numbers))}"


def text(numbers: Mapping[str, int], connections: Connections) -> str:
    """Why it was reported, in a few sentences, with what speaks against it."""
    parts = [_strobe(numbers)] if numbers["strobe"] else []
    if numbers["calls"]:
        parts.append(_rhythm(numbers))
    if numbers["sent_median"] >= 0:
        parts.append(_sizes(numbers))
    parts.extend(_doubts(numbers, connections))
    if connections.names:
        more = len(connections.names) - NAMES_SHOWN
        shown = ", ".join(connections.names[:NAMES_SHOWN])
        parts.append(f"Names: {shown}" + (f" and {more} more." if more > 0 else "."))
    return " ".join(parts)


def span_of_time(microseconds: int) -> str:
    """A length of time with one decimal in its largest fitting unit, `410 ms` below a second."""
    if microseconds < MICROSECONDS:
        return f"{microseconds // 1000} ms"
    for seconds, unit in _UNITS:
        tenths = microseconds * 10 // (seconds * MICROSECONDS)
        if tenths >= 10:
            return f"{tenths // 10} {unit}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} {unit}"
    raise AssertionError(microseconds)


def _spacing(numbers: Mapping[str, int]) -> int:
    return numbers["period"] // numbers["lag"]


def _percent(value: int) -> str:
    return f"{value * 100 // MILLION} %"


def _strobe(numbers: Mapping[str, int]) -> str:
    failed = numbers["failed"]
    ending = f", {failed:,} of them failed" if failed else ""
    return f"A strobe: {numbers['connections']:,} connections in {span_of_time(numbers['observed_span'])}{ending}."


def _rhythm(numbers: Mapping[str, int]) -> str:
    several = ", as if several callers took turns" if numbers["lag"] > 1 else ""
    return (
        f"{numbers['calls']:,} calls, one about every {span_of_time(_spacing(numbers))}{several}, kept up over "
        f"{_percent(numbers['persistence'])} of {span_of_time(numbers['observed_span'])}: "
        f"the gaps vary {_percent(numbers['variation'])} as much as chance would make them."
    )


def _sizes(numbers: Mapping[str, int]) -> str:
    alike = (
        f"{'nearly ' if numbers['size_width'] else ''}the same" if numbers["sameness"] >= MILLION // 2 else "varying"
    )
    answer = f", typical answer {numbers['received_median']:,}" if numbers["received_median"] >= 0 else ""
    return f"Requests of {alike} size (typically {numbers['sent_median']:,} bytes{answer})."


def _doubts(numbers: Mapping[str, int], connections: Connections) -> list[str]:
    doubts = []
    if numbers["explained"] < MILLION:
        labels = ", ".join(sorted(connections.services))
        doubts.append(f"Lowered because the traffic is labelled {labels} and looks like it.")
    if numbers["lightness"] < MILLION:
        doubts.append("Lowered because the exchanges are large: more a transfer than a check-in.")
    if numbers["failed"] and not numbers["strobe"]:
        doubts.append(f"{numbers['failed']:,} failed connections were left out.")
    return doubts
