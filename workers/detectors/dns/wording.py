"""The sentences an analyst reads, made from the numbers of a judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workers.detectors.beaconing.wording import span_of_time
from workers.detectors.dns.judgement import Judgement
from workers.detectors.dns.names import printable
from workers.detectors.dns.record_types import UNKNOWN, name_of
from workers.detectors.dns.scale import MILLION
from workers.detectors.dns.tunnel import RETURNED_FROM

EXAMPLE_LENGTH: Final = 100
_MOSTLY: Final = 900_000
_NARROW: Final = 20


def tunnel_title(domain: str, numbers: Mapping[str, int]) -> str:
    """One line."""
    lasted = span_of_time(numbers["observed_span"])
    return f"DNS tunnel: {numbers['random_names']:,} random names below {domain} in {lasted}"


def tunnel_text(domain: str, said: Judgement) -> str:
    """Why it was reported, what speaks against it, and what it looks like."""
    numbers = said.numbers
    asked, names, span = numbers["queries"], numbers["names"], numbers["observed_span"]
    pace = f", one about every {span_of_time(span // (asked - 1))}" if asked > 1 and span else ""
    parts = [
        f"{asked:,} questions in {span_of_time(span)}{pace}, for {names:,} different names below {domain}; "
        f"{numbers['random_names']:,} of them look random ({said.alphabet}, {_decimal(numbers['entropy'])} bits of "
        f"entropy a character). Three of four of these hold up to {_whole(numbers['bits'])} bits, all together about "
        f"{_bytes(numbers['bytes'])}. The longest has {numbers['longest']} characters below the domain.",
        _types(numbers),
        "They are numbered in the order in which they were asked for." if numbers["numbered"] else "",
        _not_a_network(numbers),
        *_doubts(numbers),
        f"Names: {_examples(said.examples, domain)}.",
    ]
    return " ".join(part for part in parts if part)


def burst_title(numbers: Mapping[str, int]) -> str:
    """One line."""
    return f"NXDOMAIN burst: {numbers['domains']:,} domains that do not exist and look generated"


def burst_text(said: Judgement) -> str:
    """Why it was reported, and what was left out."""
    numbers = said.numbers
    parts = [
        f"{numbers['queries']:,} questions in {span_of_time(numbers['observed_span'])} were answered NXDOMAIN, for "
        f"{numbers['domains']:,} registered domains; {numbers['together']:,} of them within "
        f"{span_of_time(numbers['densest_span'])}.",
        f"Their labels have {_decimal(numbers['mean_length'])} characters on average under "
        f"{numbers['suffixes']:,} suffix{'es' if numbers['suffixes'] != 1 else ''} and are likelier rolled than "
        f"written, by {_decimal(numbers['look'])} bits a character: so domain generation algorithms look.",
        "Block-list look-ups, search suffixes, single labels and local names are not among them.",
    ]
    if numbers["left_out"]:
        parts.append(f"{numbers['left_out']:,} domains were left out that were asked about as a mail server does.")
    return " ".join([*parts, f"Domains: {', '.join(said.examples)}."])


def _types(numbers: Mapping[str, int]) -> str:
    if numbers["type"] == UNKNOWN:
        return ""
    carries = f"{numbers['carrying'] * 100 // MILLION} % of the questions ask for records that carry data back"
    return f"Most ask for {name_of(numbers['type'])}; {carries}."


def _not_a_network(numbers: Mapping[str, int]) -> str:
    if numbers["returned"] <= RETURNED_FROM * MILLION:
        return (
            "Hardly one was asked for again later, and hardly a label is common to them: the names of a content "
            "network come again."
        )
    return f"{numbers['returned'] * 100 // MILLION} % of them were asked for again later, which lowers the score."


def _doubts(numbers: Mapping[str, int]) -> list[str]:
    doubts = []
    if numbers["nxdomain"] >= _MOSTLY:
        doubts.append(
            "Nearly all were answered NXDOMAIN: data may still reach whoever runs the domain, but a flood of random "
            "names against it looks the same."
        )
    if numbers["bits"] < 2 * _NARROW * MILLION:
        doubts.append("The names are short: look at who owns the domain before anything else.")
    return doubts


def _examples(names: Sequence[str], domain: str) -> str:
    return ", ".join(f"{_cut(name)}.{domain}" for name in dict.fromkeys(names))


def _cut(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= EXAMPLE_LENGTH else f"{shown[:EXAMPLE_LENGTH]}…"


def _decimal(value: int) -> str:
    return f"{value / MILLION:.1f}"


def _whole(value: int) -> str:
    return f"{value // MILLION:,}"


def _bytes(count: int) -> str:
    return f"{count:,} bytes" if count < 10_240 else f"{count // 1024:,} KiB"
