"""What is said beside the answer: that something is of less use than its user may think."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.acceptance.cli.piped import casetape

ALERT = {
    "timestamp": "2023-08-08T12:30:00.047170+0000",
    "event_type": "ftp",
    "src_ip": "10.0.0.5",
    "dest_ip": "10.0.0.6",
}


def test_records_that_no_detector_looks_at_are_said(tmp_path: Path) -> None:
    log = tmp_path / "eve.json"
    log.write_text(json.dumps(ALERT) + "\n")
    answer = casetape(tmp_path / "home", "run", log)
    assert answer.code == 0
    assert "no detector looks at eve.ftp" in answer.err


def test_texts_need_no_detector(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("a sentence\n")
    answer = casetape(tmp_path / "home", "run", note)
    assert "no detector looks" not in answer.err


def test_a_replay_of_nothing_says_so(tmp_path: Path) -> None:
    answer = casetape(tmp_path / "home", "run", "--replay")
    assert answer.code == 0
    assert "there is nothing left on the tape to replay" in answer.err


def test_a_subject_without_its_type_is_asked_about(tmp_path: Path) -> None:
    note, home = tmp_path / "note.txt", tmp_path / "home"
    note.write_text("a sentence\n")
    assert casetape(home, "run", note, "--kind", "text", "--subject", "host:10.0.0.5").code == 0
    answer = casetape(home, "feed", note, "--subject", "10.0.0.5")
    assert "did you mean --subject host:10.0.0.5?" in answer.err


def test_what_observations_say_is_its_owners_business_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert casetape(home, "run").code == 0
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) & 0o077 for one in home.glob("casetape.db*")} == {0}
