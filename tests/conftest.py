"""What all tests share: how many examples hypothesis tries, and when a skip counts as a failure."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import engine
from tests.servers import shared

settings.register_profile("casetape", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "campaign", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=10_000, print_blob=True
)
settings.load_profile("casetape")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI promises servers, a test that found none has failed."""
    report = yield
    required = os.environ.get("CASETAPE_REQUIRE_SERVICES") == "1" and item.get_closest_marker("needs_services")
    if required and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"CASETAPE_REQUIRE_SERVICES=1, yet skipped: {call.excinfo and call.excinfo.value}"
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Names the folder in which pytest's workers find the servers that the first of them started."""
    if not hasattr(config, "workerinput"):
        os.environ[shared.FOLDER] = tempfile.mkdtemp(prefix="casetape-servers-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops those servers, once all workers are done."""
    if not hasattr(config, "workerinput"):
        folder = Path(os.environ.pop(shared.FOLDER))
        shared.end(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out, on servers, what is about the one file of the embedded engine; and keeps for the campaign what takes
    long there."""
    for one in items:
        if one.get_closest_marker("long_on_servers") and _engine_of(one) == "cluster":
            one.add_marker(pytest.mark.campaign)
    gone = [one for one in items if one.get_closest_marker("embedded") and _engine_of(one) == "cluster"]
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [one for one in items if one not in gone]


def _engine_of(item: pytest.Item) -> str | None:
    chosen = getattr(item, "callspec", None)
    return None if chosen is None else chosen.params.get("each_engine")


@pytest.fixture(scope="module", params=["embedded", pytest.param("cluster", marks=pytest.mark.needs_services)])
def each_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs a module's tests once on each engine: `pytestmark = pytest.mark.usefixtures("each_engine")`."""
    with engine.chosen(request.param):
        yield request.param
