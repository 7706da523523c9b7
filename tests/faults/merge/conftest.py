"""A long case, made once for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.engine import Engine
from schemas.version import StateVersion
from tests.engine import open_home
from tests.faults.merge import pruner
from tests.faults.merge.long import KEEP, LENGTH, PRUNED, copied, grown


@pytest.fixture(scope="session")
def long_case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[StateVersion]]:
    path = tmp_path_factory.mktemp("long")
    return path, grown(path, LENGTH)


@pytest.fixture
def home(long_case: tuple[Path, list[StateVersion]], tmp_path: Path) -> Path:
    """A copy with all its versions in the store."""
    return copied(long_case[0], tmp_path)


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    with open_home(home) as opened:
        yield opened


@pytest.fixture(scope="session")
def pruned_home(long_case: tuple[Path, list[StateVersion]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = copied(long_case[0], tmp_path_factory.mktemp("pruned"))
    with open_home(into) as engine:
        assert pruner.all_of(engine, KEEP) == PRUNED
    return into
