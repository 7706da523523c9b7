"""How long a lasting supervisor waits before it starts a service again."""

from __future__ import annotations

from workers.runtime.supervisor import LONGEST_PAUSE, pause_after


def test_the_first_death_costs_no_pause_and_later_ones_ever_more() -> None:
    assert [pause_after(deaths) for deaths in range(1, 6)] == [0.0, 1.0, 2.0, 4.0, 8.0]
    assert pause_after(8) == pause_after(10_000) == LONGEST_PAUSE
