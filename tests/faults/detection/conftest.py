"""Children of these tests are modules of the tests: services start with -P, which leaves the working folder out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True, scope="session")
def tests_can_be_imported() -> Iterator[None]:
    """By child processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield
