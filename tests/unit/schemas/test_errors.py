"""Error classes: a stable code each, and a docstring that is the default message."""

from __future__ import annotations

import inspect

import pytest

from schemas import errors
from schemas.errors import CasetapeError

CLASSES = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, CasetapeError)]


def test_each_class_has_a_code_of_its_own() -> None:
    assert all("code" in vars(one) for one in CLASSES)
    assert len({one.code for one in CLASSES}) == len(CLASSES) > 20


@pytest.mark.parametrize("kind", CLASSES)
def test_the_docstring_is_the_default_message(kind: type[CasetapeError]) -> None:
    said = inspect.cleandoc(vars(kind)["__doc__"])
    assert said.endswith(".")
    assert str(kind()) == said
    assert str(kind("what happened")) == "what happened"


def test_what_may_succeed_later() -> None:
    assert {one.code for one in CLASSES if one.retriable} == {"engine_unavailable", "storage_full", "lost_race"}
