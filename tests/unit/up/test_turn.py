"""Turns on a home."""

from __future__ import annotations

from pathlib import Path

import pytest

from casetape.turn import UP, HomeBusy, holder, turn


def test_who_holds_the_home(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with turn(tmp_path, print):
        assert holder(tmp_path) == "run"
    assert holder(tmp_path) is None
    with turn(tmp_path, print, UP):
        assert holder(tmp_path) == "up"
    assert holder(tmp_path) is None


def test_nobody_waits_for_up(tmp_path: Path) -> None:
    """It does not end by itself."""
    with turn(tmp_path, print, UP), pytest.raises(HomeBusy, match=r"`casetape up` is at work"), turn(tmp_path, print):
        pass


def test_the_name_of_whoever_went_before_misleads_nobody(tmp_path: Path) -> None:
    with turn(tmp_path, print, UP):
        pass
    told: list[str] = []
    with (
        turn(tmp_path, print),
        pytest.raises(KeyboardInterrupt),
        turn(tmp_path, told.append, stopped=lambda: bool(told)),
    ):
        pass
    assert told == [f"another run is at work on {tmp_path}: waiting for it to end"]
