"""Whether a text was written or rolled: is it likelier as a word of a host name, or as random characters?

The word model is a chain of letters learnt from `words.WORDS`: what follows what, with hyphens and numbers between. The
other hypothesis is the same length drawn evenly from an alphabet. The difference of the two code lengths, in bits a
character, is the measure: a log-likelihood ratio.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import Final

from workers.detectors.dns.words import WORDS

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SMOOTHING: Final = 0.3
"""Added to every count, so that no pair of letters is impossible."""
_START: Final = "^"
_KINDS: Final = {
    # from letter, digit, mark or start: the share of letters, digits and marks that follow in host names
    "l": {"l": 0.90, "d": 0.06, "m": 0.04},
    "d": {"l": 0.15, "d": 0.70, "m": 0.15},
    "m": {"l": 0.70, "d": 0.25, "m": 0.05},
    _START: {"l": 0.90, "d": 0.08, "m": 0.02},
}
_MARK_BITS: Final = 2.0
_STRANGE: Final = "?"
_STRANGE_BITS: Final = 10.0
"""What no host name holds: other bytes, `+`, `/`."""
_NOT_OF_HOSTS = re.compile(r"[^a-z0-9_-]")


def word_bits(text: str) -> float:
    """How many bits the word model needs for the text, whatever its case."""
    plain = _NOT_OF_HOSTS.sub(_STRANGE, text.lower())
    costs = _costs()
    return sum(costs[pair] for pair in zip(_START + plain, plain, strict=False))


def oddness(text: str, symbols: int) -> float:
    """Bits a character by which the word model does worse than an even draw from so many symbols: above 0, the text is
    likelier random. 0 for an empty text."""
    return (word_bits(text) / len(text) - math.log2(symbols)) if text else 0.0


@lru_cache(maxsize=1)
def _costs() -> dict[tuple[str, str], float]:
    pairs = Counter(pair for word in WORDS for pair in zip(_START + word, word, strict=False))
    after = Counter[str]()
    for (first, _), count in pairs.items():
        after[first] += count
    known = _LETTERS + "0123456789-_" + _STRANGE
    return {(first, second): _cost(first, second, pairs, after) for first in _START + known for second in known}


def _cost(first: str, second: str, pairs: Counter[tuple[str, str]], after: Counter[str]) -> float:
    bits = -math.log2(_KINDS[_kind(first)][_kind(second)])
    if second in _LETTERS:
        # a letter after something else begins a word
        before = first if first in _LETTERS else _START
        share = (pairs[before, second] + _SMOOTHING) / (after[before] + _SMOOTHING * len(_LETTERS))
        return bits - math.log2(share)
    if second.isdigit():
        return bits + math.log2(10)
    return bits + (_STRANGE_BITS if second == _STRANGE else _MARK_BITS)


def _kind(character: str) -> str:
    if character == _START:
        return _START
    return "l" if character in _LETTERS else "d" if character.isdigit() else "m"
