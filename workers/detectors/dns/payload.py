"""What names carry: the part of them that is fresh in each, and how much of it is random.

A content network's names are made by a pattern: the same labels come again and again. A tunnel's names differ where
they carry data, and there they look rolled, not written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from workers.detectors.dns.lettering import oddness

RANDOM_FROM: Final = 0.25
"""Bits a character from which a name's payload counts as random: one word in ten is as odd, one random text in twenty
is less."""
FEWEST_CHARACTERS: Final = 6
"""A shorter payload is not judged."""
COMMON_SHARE: Final = 50
"""A token that more than one in so many names have (and more than COMMON_LEAST names) carries nothing."""
COMMON_LEAST: Final = 2
POSITION_MATTERS: Final = 3
"""Tokens of up to so many characters are counted by where they stand: of these there are few, and they repeat."""
LONG_NUMBER: Final = 16
"""Shorter numbers are counters, times and parts of addresses."""
IDENTIFIED: Final = 0.9
"""From this share of names of one identifier's shape on, they are look-ups of things, and carry nothing."""
_SINGLE_RUN: Final = 5
_OCTETS, _NIBBLES = 4, 32

_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")
_UUID_LENGTHS = (8, 4, 4, 4, 12)
_LABEL = 63
_DIGEST = re.compile(r"[0-9a-f]+\Z", re.IGNORECASE)
_DIGEST_LENGTHS = frozenset({32, 40, 56, 64, 96, 128})
_DIGEST_32 = re.compile(r"(?=.*[g-z])(?=.*\d)[a-z2-7]+\Z", re.IGNORECASE)
_DIGEST_32_LENGTHS = frozenset({32, 52})
_OCTET = re.compile(r"(?:25[0-5]|2[0-4]\d|1?\d?\d)\Z")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_BASE32 = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_PLUS = frozenset("+/=")
_MOSTLY: Final = 0.98
_HARDLY: Final = 0.05


@dataclass(frozen=True, slots=True)
class Alphabet:
    """What payloads are written in: its name, how many symbols it has, and how many if case is ignored."""

    name: str
    symbols: int
    folded: int


HEX, BASE32, BASE64 = Alphabet("hex", 16, 16), Alphabet("base32", 32, 32), Alphabet("base64", 64, 38)
LETTERS, ALPHANUMERIC = Alphabet("letters", 26, 26), Alphabet("letters and digits", 36, 36)
BYTES = Alphabet("bytes", 128, 102)


@dataclass(frozen=True, slots=True)
class Payloads:
    """Of distinct names, in their order: `random`, the places of those whose payload looks random; `bits`, how many
    bits each of these carries at most; `share`, theirs of all fresh characters, 0 to 1; `entropy`, bits a character
    over all their characters; `alphabet`; `identifiers`, how many have the shape of a digest, a UUID or an address."""

    random: Sequence[int]
    bits: Sequence[float]
    share: float
    entropy: float
    alphabet: Alphabet
    identifiers: int


def payloads(names: Sequence[str], *, excused: bool = True) -> Payloads:
    """What these distinct names (as they stand below the registered domain) carry. `excused`: nothing, where nearly all
    of them are identifiers of one shape."""
    split = [list(_tokens(name)) for name in names]
    seen = Counter(key for tokens in split for key in {_key(place, token) for place, token in _placed(tokens)})
    common = max(COMMON_LEAST, len(names) // COMMON_SHARE)
    own = [[token for place, token in _placed(tokens) if seen[_key(place, token)] <= common][::-1] for tokens in split]
    identifiers = _identifiers(names, own)
    if excused and identifiers >= IDENTIFIED * len(names):
        return Payloads((), (), 0.0, 0.0, ALPHANUMERIC, identifiers)
    fresh = ["".join(filter(_says, tokens)) for tokens in own]
    characters = Counter("".join(one for one in fresh if len(one) >= FEWEST_CHARACTERS))
    alphabet = _alphabet(characters)
    places = [
        place
        for place, one in enumerate(fresh)
        if len(one) >= FEWEST_CHARACTERS and oddness(one, alphabet.folded) > RANDOM_FROM
    ]
    written = "".join(fresh[place] for place in places)
    # those that are random may be written in fewer symbols than all
    alphabet = _alphabet(Counter(written))
    width = math.log2(alphabet.symbols)
    return Payloads(
        random=places,
        bits=[len(fresh[place]) * width for place in places],
        share=len(written) / max(1, sum(map(len, fresh))),
        entropy=entropy(written),
        alphabet=alphabet,
        identifiers=identifiers,
    )


def entropy(text: str) -> float:
    """Shannon entropy of the characters, bits a character; 0 for an empty text."""
    counts = sorted(Counter(text).values())
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts) if text else 0.0


def unescaped(name: str) -> str:
    """The name with each `\\xNN`, as sensors write bytes that are no text, as the one character that it stands for."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name) if "\\x" in name else name


def is_of_address(below: str) -> bool:
    """Whether the name begins with an address turned round, as block lists are asked: four octets or 32 nibbles."""
    return _of_address(below.split(".")) > 0


def _of_address(labels: Sequence[str]) -> int:
    """How many of the first labels are an address."""
    if len(labels) >= _NIBBLES and all(one in _HEX_DIGITS for one in labels[:_NIBBLES]):
        # more of the same is no address
        return 0 if len(labels) > _NIBBLES and labels[_NIBBLES] in _HEX_DIGITS else _NIBBLES
    return _OCTETS if len(labels) >= _OCTETS and all(_OCTET.match(one) for one in labels[:_OCTETS]) else 0


def _identifiers(names: Sequence[str], fresh: Sequence[Sequence[str]]) -> int:
    """How many of the names hold an identifier, and nothing else that is fresh: the most common shape's."""
    shapes = Counter(
        "address" if is_of_address(name) and not tokens else _shape(name, tokens)
        for name, tokens in zip(names, fresh, strict=True)
    )
    return max((count for shape, count in shapes.items() if shape), default=0)


def _shape(name: str, fresh: Sequence[str]) -> str | None:
    joined = "".join(fresh)
    if tuple(map(len, fresh)) == _UUID_LENGTHS:
        whole = "-".join(fresh) in name
    else:
        # what fits into one label is not cut
        whole = (len(fresh) == 1 or (len(fresh) == 2 and len(joined) > _LABEL)) and ".".join(fresh) in name
    if whole and len(joined) in _DIGEST_LENGTHS and _DIGEST.match(joined):
        return f"hex {len(joined)}"
    if whole and len(fresh) == 1 and len(joined) in _DIGEST_32_LENGTHS and _DIGEST_32.match(joined):
        return f"base32 {len(joined)}"
    return None


def _tokens(name: str) -> Iterator[str]:
    """Labels cut at hyphens and underscores; a run of single characters is one token; `xn--…` is read."""
    run: list[str] = []
    labels = unescaped(name).split(".")
    for label in labels[_of_address(labels) :]:
        if len(label) == 1:
            run.append(label)
            continue
        yield from _run(run)
        run = []
        yield from (token for token in re.split(r"[-_]", _read(label)) if token)
    yield from _run(run)


def _run(labels: Sequence[str]) -> Sequence[str]:
    return ["".join(labels)] if len(labels) >= _SINGLE_RUN else labels


def _read(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label[4:]


def _placed(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The tokens with their places, from the right."""
    yield from enumerate(reversed(tokens))


def _key(place: int, token: str) -> tuple[int, str]:
    return (place if len(token) <= POSITION_MATTERS else -1, token.lower())


def _says(token: str) -> bool:
    return not token.isdigit() or len(token) >= LONG_NUMBER


def _alphabet(characters: Counter[str]) -> Alphabet:
    total = characters.total()
    if not total:
        return ALPHANUMERIC

    def share(of: frozenset[str]) -> float:
        return sum(count for one, count in characters.items() if one in of) / total

    if 1 - share(_OF_HOSTS | _PLUS) > _HARDLY:
        return BYTES
    if share(_HEX_DIGITS) > _MOSTLY:
        return HEX
    upper = sum(count for one, count in characters.items() if one.isupper()) / total
    digits = sum(count for one, count in characters.items() if one.isdigit()) / total
    if _HARDLY < upper < 1 - 2 * _HARDLY - digits and share(_PLUS) + digits > _HARDLY:
        return BASE64
    if digits < _HARDLY:
        return LETTERS
    return BASE32 if share(_BASE32) > _MOSTLY else ALPHANUMERIC
