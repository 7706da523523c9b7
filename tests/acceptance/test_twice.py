"""The same request twice, the same words twice, and what is left in the store afterwards (field reports, second table,
rows 13, 17 and 18)."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.sqlite import FILE
from tests.acceptance.command import DAY1, casetape, command, environment, run

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

NOTE = b"the build server called out again\n"
CASE = "host:build-server"


def _feed(home: Path, *more: str) -> dict[str, Any]:
    fed: dict[str, Any] = casetape(
        home, "feed", "-", "--kind", "text", "--subject", CASE, "--json", *more, stdin=NOTE
    ).json
    return fed


def _texts(home: Path) -> list[str]:
    return [one["id"] for one in casetape(home, "cases", "show", CASE, "--json").json["inputs"]]


def test_one_request_sent_twice_at_once_is_one_observation(tmp_path: Path) -> None:
    """Row 17: whoever comes second gets what the first one got, and no error."""
    args = command("feed", "-", "--kind", "text", "--subject", CASE, "--request-id", "ticket-7")
    senders = [
        subprocess.Popen(
            args, env=environment(tmp_path, {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    answers = [one.communicate(NOTE, timeout=60) for one in senders]
    assert [one.returncode for one in senders] == [0, 0], answers
    report = run(tmp_path)
    assert (report["backlog"], report["recorded"], report["duplicates"]) == (2, 1, 1)
    assert len(_texts(tmp_path)) == 1
    _feed(tmp_path, "--request-id", "ticket-7")
    assert run(tmp_path)["recorded"] == 0


def test_the_same_words_in_two_requests_are_two_observations(tmp_path: Path) -> None:
    """Row 18: also with a run, and so a resume, in between."""
    for number in (1, 2, 3):
        _feed(tmp_path)
        assert run(tmp_path)["recorded"] == 1
        assert len(set(_texts(tmp_path))) == number


@pytest.mark.embedded
def test_everything_in_the_store_has_an_owner(tmp_path: Path) -> None:
    """Row 13: a part belongs to a manifest, a note to the ledger, a requeue or a person's request on a case, and all
    that is versioned to a case."""
    for _ in range(3):
        _feed(tmp_path)
        run(tmp_path, DAY1)
    assert casetape(tmp_path, "reply", CASE, "x", "--request-id", "r").code == 0
    with closing(sqlite3.connect(tmp_path / FILE)) as file:

        def column(sql: str) -> set[Any]:
            return {row[0] for row in file.execute(sql)}

        assert column("SELECT DISTINCT owner FROM parts") <= column("SELECT owner FROM manifests")
        assert {key.split("/")[0] for key in column("SELECT key FROM notes")} <= {
            "ledger",
            "requeued",
            "request",
            "store",
        }
        asked = column("SELECT key FROM notes WHERE key LIKE 'request/%'")
        assert {key.split("/", 1)[1].rpartition("/")[0] for key in asked} == {f"default/{CASE}"}
        cases = column("SELECT id FROM cases")
        for table in ("versions", "snapshots", "content_index", "places", "remains"):
            assert column("SELECT DISTINCT case_id FROM " + table) <= cases  # noqa: S608 - one of five names
        assert column("SELECT count(*) FROM members") == {0}, "who has left leaves nothing behind"
