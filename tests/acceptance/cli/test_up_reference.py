"""The page about `up`, `status` and `lag` names what they report: no more, no less."""

from __future__ import annotations

import json
from pathlib import Path

from casetape.up import UpReport
from tests.acceptance.cli.piped import casetape
from tests.acceptance.cli.test_reference import rows

WITH_OTHERS = {"since", "follows", "partition"}
"""Fields that share a row with the one before."""


def test_every_field_is_there(tmp_path: Path) -> None:
    log = tmp_path / "note.txt"
    log.write_text("a sentence\n")
    fed = casetape(tmp_path, "feed", log)
    assert fed.code == 0, fed.err
    lag = casetape(tmp_path, "lag", "--json").json[0]
    status = json.loads(casetape(tmp_path, "status", "--json").out)
    expected = [*UpReport.__dataclass_fields__, *(one for one in [*status, *lag] if one not in WITH_OTHERS)]
    assert [row[0] for row in rows("up.md")] == expected
