"""The options that every policy takes, and what they leave out before a policy looks. Nothing is dropped (I3): what is
left out stays current, and counts again as soon as the reason is gone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from schemas.analysis import Analysis
from schemas.canonical import Json
from schemas.persons import PERSON, WHOLE_CASE
from schemas.scales import SECOND

Reason = Literal["dismissed", "allowed", "too_old"]
"""Why an analysis does not count; where several hold, the first of them is named."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,12})([smhdw])", re.ASCII)
_LONGEST = 36_500 * _UNITS["d"]
_PATTERNS, _PATTERN_LENGTH, _ALL_LENGTH = 200, 1024, 16_384
"""Every version records its policy's options, so a list of them stays short."""


class CommonOptions(BaseModel):
    """`max_age`: analyses whose event time lies further than this before the case's newest do not count: whole seconds,
    or a number with `s`, `m`, `h`, `d` or `w`. `allow`: fingerprints that do not count; in each `*` stands for any
    characters and `?` for one, and all others for themselves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_age: str | None = None
    allow: tuple[str, ...] = ()

    @field_validator("max_age", mode="before")
    @classmethod
    def _duration(cls, value: object) -> str | None:
        if value is None:
            return None
        said = f"{value}s" if type(value) is int else value
        found = _DURATION.fullmatch(said) if isinstance(said, str) else None
        if found is None:
            raise ValueError("whole seconds, or a whole number with s, m, h, d or w, such as 30d")
        seconds = int(found[1]) * _UNITS[found[2]]
        if not 0 < seconds <= _LONGEST:
            raise ValueError("it lies between 1s and 36500d")
        # one way to write each, so that two that mean the same are recorded as the same
        unit = next(unit for unit in "dhms" if seconds % _UNITS[unit] == 0)
        return f"{seconds // _UNITS[unit]}{unit}"

    @field_validator("allow", mode="before")
    @classmethod
    def _one(cls, value: object) -> object:
        """A single pattern needs no list, so that a command line can give it as it is."""
        return (value,) if isinstance(value, str) else value

    @field_validator("allow")
    @classmethod
    def _short(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not 0 < len(one) <= _PATTERN_LENGTH for one in value):
            raise ValueError(f"a fingerprint has 1 to {_PATTERN_LENGTH} characters")
        unique = tuple(sorted(set(value)))
        if len(unique) > _PATTERNS or sum(map(len, unique)) > _ALL_LENGTH:
            raise ValueError(
                f"at most {_PATTERNS} fingerprints of {_ALL_LENGTH} characters in all: one with * stands for many"
            )
        return unique

    @property
    def recorded(self) -> dict[str, Json]:
        """What an assessment records of them: those that are set, so that one without any says nothing of them."""
        said: dict[str, Json] = {"max_age": self.max_age, "allow": list(self.allow)}
        return {name: value for name, value in said.items() if value}

    @cached_property
    def age(self) -> int | None:
        """`max_age` in microseconds."""
        return None if self.max_age is None else int(self.max_age[:-1]) * _UNITS[self.max_age[-1]] * SECOND

    def allows(self, fingerprint: str) -> bool:
        """Whether the fingerprint is on the list."""
        return fingerprint in self.allow or self._globs.fullmatch(fingerprint) is not None

    @cached_property
    def _globs(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{_glob(one)})" for one in self.allow if "*" in one or "?" in one) or r"(?!)")


COMMON = frozenset(CommonOptions.model_fields)
"""Their names: no policy may have an option of its own that is called so."""
UNSET = CommonOptions()


def common_of(options: Mapping[str, Json]) -> CommonOptions:
    """Those among the options that an assessment records. Unset for an assessment by a plug-in's policy that had an
    option of such a name, and another meaning, before every policy took it."""
    try:
        return CommonOptions.model_validate({name: options[name] for name in COMMON & options.keys()})
    except ValidationError:
        return UNSET


def left_out(current: Collection[Analysis], newest: int | None, common: CommonOptions) -> dict[str, Reason]:
    """By id: which of the current analyses do not count, and why. `newest` is the case's newest event time.

    Only what detectors say is ever left out: what a person says counts until that person says otherwise. An analysis
    without a time is not old.
    """
    away = dismissed(current)
    oldest = None if common.age is None or newest is None else newest - common.age
    if not away and oldest is None and not common.allow:
        return {}
    found: dict[str, Reason] = {}
    for one in current:
        if one.detector.startswith(PERSON):
            continue
        if one.fingerprint in away:
            found[one.id] = "dismissed"
        elif common.allow and common.allows(one.fingerprint):
            found[one.id] = "allowed"
        elif oldest is not None and one.at is not None and one.at < oldest:
            found[one.id] = "too_old"
    return found


def dismissed(current: Iterable[Analysis]) -> set[str]:
    """The fingerprints of which the newest word that any person has said is benign. What is said of the whole case
    dismisses nothing."""
    words: dict[str, Analysis] = {}
    # persons are few among many: they are picked first, which is most of the time this takes
    for one in [each for each in current if each.detector.startswith(PERSON)]:
        rival = words.get(one.fingerprint)
        if one.fingerprint != WHOLE_CASE and (rival is None or one.order > rival.order):
            words[one.fingerprint] = one
    return {fingerprint for fingerprint, one in words.items() if one.verdict == "benign"}


def _glob(pattern: str) -> str:
    """The regular expression of a pattern. Each run of `*` takes as little as it can and never gives it back, so that
    the time a match takes is bounded by the product of both lengths."""
    first, *others = (_literal(part) for part in re.split(r"\*+", pattern))
    if not others:
        return first
    *inner, last = others
    return f"(?s:{first}{''.join(f'(?>.*?{part})' for part in inner)}.*{last})"


def _literal(text: str) -> str:
    return "".join("(?s:.)" if one == "?" else re.escape(one) for one in text)
