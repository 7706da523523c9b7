"""On servers the mergers' hosts let go of what is no longer to be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from casetape.housekeeping import keeping_house
from casetape.settings import Settings
from casetape.settings_engines import KafkaSettings, RedisSettings
from engines.topics import VERSIONS
from merge.merger import Merger
from tests import engine, factories
from tests.faults.cluster.rig import until
from tests.faults.merge.homes import made, merge, outcomes

pytestmark = pytest.mark.needs_services


def test_topics_are_trimmed_and_nothing_else_is_lost(tmp_path: Path) -> None:
    with engine.chosen("cluster"):
        branches = [factories.finding(n % 3, at=factories.START + n) for n in range(20)]
        with engine.open_home(made(tmp_path, branches)) as opened:
            merge(opened, Merger(opened.log, opened.store))
            before, ends = outcomes(opened), opened.log.end_offsets(VERSIONS)
            where = engine.variables(tmp_path)
            settings = Settings(
                home=tmp_path,
                engine="cluster",
                kafka=KafkaSettings(servers=where["CASETAPE_KAFKA__SERVERS"]),
                redis=RedisSettings(url=where["CASETAPE_REDIS__URL"]),
                prefix=where["CASETAPE_PREFIX"],
                retention={"versions": 1e-7},
            )
            told: list[str] = []
            with keeping_house(settings, told.append, every=0.1):
                until(lambda: opened.log.start_offsets(VERSIONS) == ends, "what was handled is trimmed")
            assert told == []
            assert outcomes(opened) == before
