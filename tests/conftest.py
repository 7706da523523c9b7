"""What all tests share: how many examples hypothesis tries, and when a skip counts as a failure."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

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
