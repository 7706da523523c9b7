"""Workers on the servers that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.asynchronous.rig import Rig
from tests.servers.shared import servers


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    found = servers()
    made = Rig(found.kafka, found.redis, tmp_path)
    yield made
    made.close()
