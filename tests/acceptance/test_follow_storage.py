"""A full disk while logs are followed: it is said and waited for, and with room made everything is on the tape."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import command, environment
from tests.acceptance.following import uids

pytestmark = [
    pytest.mark.needs_root,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare"),
]
ROOT = Path(__file__).parents[2]
RECORDS = 10_000
COMPLETE = f"""
import sys
from pathlib import Path
from tests.acceptance.following import on_tape
sys.exit(on_tape(Path(sys.argv[1])) < {RECORDS})
"""


def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    """I7, and row 22: what cannot be written now is written later."""
    home, saved, log = tmp_path / "small", tmp_path / "saved", tmp_path / "conn.log"
    home.mkdir()
    # what compresses well would fit
    filling = random.Random(1).randbytes(100 * RECORDS).hex()
    with log.open("w") as lines:
        for at in range(RECORDS):
            record = {"_path": "conn", "ts": 1588205199 + at, "uid": f"C{at}", "x": filling[200 * at : 200 * at + 200]}
            lines.write(json.dumps(record) + "\n")
    following = " ".join(f"'{one}'" for one in command("feed", "--follow", "--interval", "0.1", "--json", log))
    script = f"""
        mount -t tmpfs -o size=900k tmpfs '{home}'
        {following} >'{tmp_path}/out' 2>'{tmp_path}/err' &
        until grep -q 'tried again' '{tmp_path}/err'; do kill -0 $!; sleep 0.1; done
        mount -o remount,size=200m '{home}'
        until grep -q 'following goes on' '{tmp_path}/err'; do kill -0 $!; sleep 0.1; done
        until '{sys.executable}' -c '{COMPLETE}' '{home}'; do kill -0 $!; sleep 0.1; done
        kill -INT $!
        wait $!
        cp -r '{home}' '{saved}'
    """
    subprocess.run(["unshare", "-m", "sh", "-ec", script], check=True, timeout=240, cwd=ROOT, env=environment(home, {}))
    report = json.loads((tmp_path / "out").read_text())
    assert report["read"] == report["appended"] + report["already_fed"]
    assert "no room" in (tmp_path / "err").read_text()
    assert len(set(uids(saved))) == RECORDS
