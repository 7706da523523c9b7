"""The wheel holds every file that the code reads, built without any network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.tree import PACKAGES, ROOT, files

SETUPTOOLS = 77  # the first that reads `license-files` and the licence's short name


def _buildable() -> bool:
    try:
        return int(version("setuptools").partition(".")[0]) >= SETUPTOOLS
    except PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not _buildable(), reason=f"setuptools {SETUPTOOLS} or later is missing: `make dev`")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of all files in the wheel, built from a copy so that the sources stay clean."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for path in files():
        target = source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    command = f"{sys.executable} -m pip wheel --no-index --no-deps --no-build-isolation --wheel-dir {out} ."
    built = subprocess.run(command.split(" "), cwd=source, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    [path] = out.glob("casetape-*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_it_holds_every_file_of_the_packages(wheel: set[str]) -> None:
    sources = {path.as_posix() for path in files() if path.parts[0] in PACKAGES}
    assert sources - wheel == set()
    assert any(name.startswith("schemas/jsonschema/") for name in wheel)
    assert any(name.endswith(".sql") for name in wheel)
    assert any(name.startswith("casetape/demo/") for name in wheel)


def test_it_holds_nothing_else(wheel: set[str]) -> None:
    sources = {path.as_posix() for path in files() if path.parts[0] in PACKAGES}
    assert {name for name in wheel - sources if ".dist-info/" not in name} == set()


def test_it_carries_the_licences(wheel: set[str]) -> None:
    names = {name.rpartition("/")[2] for name in wheel if "/licenses/" in name}
    assert names == {"LICENSE", "NOTICE"}


def test_every_entry_point_can_be_imported() -> None:
    """What the project names, and what is there, drift apart easily."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["scripts"], *project["entry-points"].values()]
    for place in [place for group in groups for place in group.values()]:
        module, _, name = place.partition(":")
        made = subprocess.run(
            [sys.executable, "-c", f"from {module} import {name}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr


def test_constraints_pin_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")[:-1]
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    asked = {*project["dependencies"], *project["optional-dependencies"]["dev"], "pip>=0", "setuptools>=0"}
    assert all(line.count("==") == 1 and not set(line) & set(" @/;[") for line in lines)
    assert {one.partition(">=")[0] for one in asked} <= pinned
