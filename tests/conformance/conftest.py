"""Every test of the kit runs over every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.engine import Engine
from tests.conformance.adapter import ADAPTERS, Adapter


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.needs_services] if name == "cluster" else []) for name in ADAPTERS]
)
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Adapter]:
    one = ADAPTERS[request.param](str(tmp_path))
    yield one
    one.clear()


@pytest.fixture
def engine(adapter: Adapter) -> Iterator[Engine]:
    with adapter.open() as opened:
        yield opened
