"""How a person signs. An analysis by `person:<name>` is what a person says; no detector may have such a name."""

from __future__ import annotations

PERSON = "person:"
WHOLE_CASE = "case"
"""The fingerprint of what a person says of a case as a whole."""
NAME_LIMIT = 120
"""A person's name has at most this many characters: with what stands before it, it fits an analysis's `detector`."""


def detector_of(name: str) -> str:
    """What stands in the `detector` of an analysis by the person of this name."""
    return PERSON + name


def person_of(detector: str) -> str | None:
    """The name of the person who signs so, or None where it is no person."""
    return detector.removeprefix(PERSON) if detector.startswith(PERSON) else None


def looks_like_a_person(name: str) -> bool:
    """Whether people could take this name for a person's, in whatever case it is written."""
    return name.casefold().startswith(PERSON)


def valid_person(name: str) -> bool:
    """Whether this can be a person's name: 1 to 120 printable characters, no space at either end."""
    return 0 < len(name) <= NAME_LIMIT and name.isprintable() and name == name.strip()
