"""The rules of the house that a reader would otherwise have to check file by file."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tree import PACKAGES, ROOT, files, sources

LINES = 300
"""A file is about one thing; none of the code is longer than this."""
PURE = ("schemas/", "merge/state.py", "merge/policies/", "workers/detectors/")
"""Reducers, policies, detectors and records: neither I/O nor a port."""
FOLDS = tuple(
    f"merge/{name}.py" for name in ("assess", "branches", "chain", "contents", "graph", "plan", "summary", "written")
)
"""What the merger computes with: no I/O, though it speaks in the ports' records."""
WRITES = {
    "schemas/export.py",  # the command that writes the schemas' files
    "merge/policies/registry.py",  # finds policies by entry point
}
OUTSIDE = {
    *(
        "asyncio",
        "builtins",
        "concurrent",
        "contextvars",
        "ctypes",
        "fcntl",
        "glob",
        "http",
        "importlib",
        "io",
        "logging",
    ),
    *(
        "mmap",
        "multiprocessing",
        "os",
        "pathlib",
        "pickle",
        "platform",
        "random",
        "secrets",
        "select",
        "shelve",
        "shutil",
    ),
    *("signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"),
    *("kafka", "redis", "httpx", "requests"),
}
"""Modules that read or change the world, the clock and chance among it."""
QUIET = {("schemas/keys.py", "urllib")}
"""Percent-encoding is no I/O."""
CALLS = {"open", "print", "input", "now", "utcnow", "today"}


def imports(tree: ast.AST) -> Iterator[str]:
    """The full names of all modules that are imported, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def calls(tree: ast.AST) -> Iterator[str]:
    """The last names of all that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def parsed(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=str(path))


def of_packages() -> list[Path]:
    return [path for path in sources() if path.parts[0] in PACKAGES]


def within(path: Path, places: tuple[str, ...]) -> bool:
    name = path.as_posix()
    return name not in WRITES and any(
        name == place or (place[-1] == "/" and name.startswith(place)) for place in places
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_only_go_down(package: str) -> None:
    above = set(PACKAGES[PACKAGES.index(package) + 1 :]) | {"tests", "bench"}
    found = [
        f"{path} imports {name}"
        for path in of_packages()
        if path.parts[0] == package
        for name in imports(parsed(path))
        if name.partition(".")[0] in above or name.startswith(".")
    ]
    assert any(path.parts[0] == package for path in of_packages())
    assert found == []


def test_pure_code_does_no_io() -> None:
    pure = [path for path in of_packages() if within(path, PURE + FOLDS)]
    assert {place for place in PURE + FOLDS if not any(within(path, (place,)) for path in pure)} == set()
    found = []
    for path in pure:
        tree = parsed(path)
        roots = {name.partition(".")[0] for name in imports(tree)}
        outside = {name for name in roots & OUTSIDE if (path.as_posix(), name) not in QUIET}
        found += [f"{path}: {name}" for name in sorted(outside | set(calls(tree)) & CALLS)]
    assert found == []


def test_pure_code_knows_no_port() -> None:
    pure = [path for path in of_packages() if within(path, PURE)]
    assert [
        str(path) for path in pure if any(name.partition(".")[0] == "engines" for name in imports(parsed(path)))
    ] == []


def test_no_file_is_long() -> None:
    """Code, scripts and queries; not prose, data or licences."""
    code = [path for path in files() if path.suffix in {".py", ".sql", ".lua", ".sh"} or path.parts[0] == ".ci"]
    lengths = {path: (ROOT / path).read_text(encoding="utf-8").count("\n") for path in code}
    assert {str(path): length for path, length in lengths.items() if length > LINES} == {}


def comments(path: Path) -> Iterator[tuple[int, str]]:
    with (ROOT / path).open("rb") as file:
        yield from (
            (one.start[0], one.string) for one in tokenize.tokenize(file.readline) if one.type == tokenize.COMMENT
        )


IGNORE = re.compile(
    r"#\s*(?:type:\s*ignore(?P<types>\[[\w, -]+\])?|noqa(?P<rules>:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?)", re.I
)


def unexplained(comment: str) -> bool:
    """Whether a comment silences a checker without naming the rule and saying why."""
    found = list(IGNORE.finditer(comment))
    if not found:
        return False
    named = all(one["types"] or one["rules"] for one in found)
    return not (named and re.search(r"[^\W\d_]{4,}", IGNORE.sub("", comment)))


@pytest.mark.parametrize(
    ("comment", "bad"),
    [
        ("# an ordinary comment", False),
        ("# type: ignore[arg-type]  # the mistake under test", False),
        ("# noqa: BLE001 - a plug-in may raise anything", False),
        ("# noqa: S603, S607 - as a user would", False),
        ("# type: ignore[arg-type]", True),
        ("# type: ignore", True),
        ("# type: ignore # the mistake under test", True),
        ("# noqa", True),
        ("# noqa: BLE001", True),
        ("# noqa: BLE001 - x", True),
    ],
)
def test_what_counts_as_a_reason(comment: str, bad: bool) -> None:
    assert unexplained(comment) is bad


def test_every_silenced_check_says_why() -> None:
    found = [f"{path}:{line}: {text}" for path in sources() for line, text in comments(path) if unexplained(text)]
    assert found == []


def _swallows(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return all(
            isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            for each in node.body
        )
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "suppress":
        return any(isinstance(each, ast.Name) and each.id in {"Exception", "BaseException"} for each in node.args)
    return False


def test_no_exception_is_swallowed() -> None:
    found = [f"{path}:{node.lineno}" for path in sources() for node in ast.walk(parsed(path)) if _swallows(node)]  # type: ignore[attr-defined]  # handlers and calls have a line
    assert found == []


# written in pieces, so that this file does not hold what it forbids
REGISTRIES = "|".join(
    re.escape(".".join(parts))
    for parts in [
        *[
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("crates", "io"),
            ("rubygems", "org"),
        ],
        *[("docker", "io"), ("ghcr", "io"), ("quay", "io"), ("gcr", "io"), ("anaconda", "org"), ("conda-forge", "org")],
        *[("maven", "org"), ("maven", "apache", "org"), ("golang", "org")],
    ]
)
REGISTRY = re.compile(rf"\b(?:{REGISTRIES})\b|--(?:extra-)?index-url|--find-links", re.I)
MACHINE = re.compile(r"(?<![\w./<])/(?:root|work|opt/wheels|home/\w+|Users/\w+|tmp/\w+)/")


def texts() -> Iterator[tuple[Path, str]]:
    """All files that are text."""
    for path in files():
        body = (ROOT / path).read_bytes()
        if b"\0" not in body[:8192] and path.suffix != ".gz" and path != Path(__file__).relative_to(ROOT):
            yield path, body.decode("utf-8")


@pytest.mark.parametrize("pattern", [REGISTRY, MACHINE], ids=["registry", "machine"])
def test_no_file_names_a_registry_or_a_place_on_one_machine(pattern: re.Pattern[str]) -> None:
    found = [
        f"{path}:{number}: {match[0]}"
        for path, text in texts()
        for number, line in enumerate(text.split("\n"), 1)
        if (match := pattern.search(line))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (REGISTRY, "https://" + "pypi" + ".org/simple"),
        (REGISTRY, "pip install --" + "index-url x"),
        (MACHINE, "cat /" + "work/shared/DESIGN.md"),
        (MACHINE, "open('/" + "root/.x/y')"),
    ],
)
def test_such_names_are_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)
    assert not pattern.search("https://github.com/OTRF/Security-Datasets ../shared/data network/root x/root/")
