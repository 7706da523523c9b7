"""Records as every schema version so far wrote them are read for ever, byte for byte and id for id."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.export import RECORDS
from schemas.observation import Observation
from schemas.record import SCHEMA, Record
from schemas.version import StateVersion
from tests.records import NAMES, encoded

FOLDER = Path(__file__).parents[2] / "fixtures" / "corpus"
ROOT = Path(__file__).parents[3]


def lines(version: int, name: str) -> list[bytes]:
    return (FOLDER / f"v{version}" / name).read_bytes().splitlines()


def _all() -> list[Any]:
    return [
        pytest.param(name, line, id=f"v{version}-{name}-{number}")
        for version in range(1, SCHEMA + 1)
        for name in NAMES
        for number, line in enumerate(lines(version, f"{name}.jsonl"), 1)
    ]


@pytest.mark.parametrize(("name", "line"), _all())
def test_a_frozen_record_is_read_and_written_as_it_was(name: str, line: bytes) -> None:
    record = RECORDS[name].parse(line)
    assert encoded(record) == line


@pytest.mark.parametrize(("name", "line"), _all())
def test_a_frozen_record_keeps_its_ids(name: str, line: bytes) -> None:
    record = RECORDS[name].parse(line)
    if isinstance(record, Observation | Analysis | StateVersion):
        assert record.id
        assert record.proven() is record
    for content in record.contents if isinstance(record, StateVersion) else ():
        if content.body is not None:
            assert content.opened().id == content.id


def test_frozen_assessments_keep_their_digests() -> None:
    records = [Assessment.parse(line) for line in lines(1, "assessment.jsonl")]
    assert [record.digest().encode() for record in records] == lines(1, "assessment.digests")


@pytest.mark.parametrize("name", NAMES)
def test_every_optional_field_is_frozen_used_and_unused(name: str) -> None:
    records = [RECORDS[name].parse(line) for line in lines(SCHEMA, f"{name}.jsonl")]
    for field, info in RECORDS[name].model_fields.items():
        if info.is_required() or field in {"schema_", "id"}:
            continue
        default = info.get_default(call_default_factory=True, validated_data={})
        assert {_value(record, field) == default for record in records} == {True, False}, field


def _value(record: Record, field: str) -> Any:
    return getattr(record, field)


def _make(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fixtures.corpus.make", "--folder", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_script_still_makes_these_lines(tmp_path: Path) -> None:
    made = _make(tmp_path / "corpus")
    assert (made.returncode, made.stderr) == (0, "")
    assert _files(tmp_path / "corpus") == _files(FOLDER / f"v{SCHEMA}")


def test_the_script_changes_no_frozen_line(tmp_path: Path) -> None:
    frozen = b"a line that was written once\n"
    (tmp_path / "analysis.jsonl").write_bytes(frozen)
    refused = _make(tmp_path)
    assert refused.returncode == 1
    assert "analysis.jsonl:1" in refused.stderr
    assert _files(tmp_path) == {"analysis.jsonl": frozen}
    assert _make(tmp_path, "--force").returncode == 0
    assert _files(tmp_path) == _files(FOLDER / f"v{SCHEMA}")


def test_the_script_appends(tmp_path: Path) -> None:
    whole = _files(FOLDER / f"v{SCHEMA}")
    (tmp_path / "analysis.jsonl").write_bytes(whole["analysis.jsonl"].partition(b"\n")[0] + b"\n")
    assert _make(tmp_path).returncode == 0
    assert _files(tmp_path) == whole
