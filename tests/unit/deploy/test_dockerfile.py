"""deploy/Dockerfile keeps its rules, and a file that breaks one is found. No image is built here."""

from __future__ import annotations

import tomllib

import pytest

from tests.tree import PACKAGES, ROOT
from tests.unit.deploy import dockerfile_rules as rules
from tests.unit.deploy.dockerfile_rules import RULES, Rule, copied, parse

TEXT = rules.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_it_keeps_the_rule(rule: Rule) -> None:
    assert rule(parse(TEXT)) == []


BROKEN: list[tuple[Rule, str, str]] = [
    (rules.it_is_built_in_stages, "FROM python:3.12-slim-bookworm", "FROM python:latest"),
    (rules.it_is_built_in_stages, "FROM python:3.12-slim-bookworm", "FROM python:3.12-bookworm"),
    (rules.it_is_built_in_stages, "FROM python:3.12-slim-bookworm", "FROM mirror.example/python:3.12-slim-bookworm"),
    (rules.it_is_built_in_stages, "FROM python:3.12-bookworm AS build\n", ""),
    (rules.it_is_built_in_stages, "    && pip check", "    && apt-get install gcc && pip check"),
    (rules.nobody_is_root, "USER 10001:10001\n", ""),
    (rules.nobody_is_root, "USER 10001:10001", "USER root"),
    (rules.nobody_is_root, "USER 10001:10001\n", "USER 10001:10001\nRUN true\n"),
    (rules.nothing_is_fetched_but_packages, "COPY schemas", "ADD https://example.org/schemas.tar.gz"),
    (rules.nothing_is_fetched_but_packages, "pip wheel --constraint constraints.txt", "pip wheel"),
    (rules.nothing_is_fetched_but_packages, " --no-index", ""),
    (rules.nothing_is_fetched_but_packages, "    && pip check", "    && curl example.org && pip check"),
    (rules.no_secret_stands_here, "WORKDIR /source", "ARG REGISTRY_TOKEN\nWORKDIR /source"),
    (rules.no_secret_stands_here, "PYTHONUNBUFFERED=1", "CASETAPE_REDIS__PASSWORD=x"),
    (rules.it_starts_casetape, 'ENTRYPOINT ["casetape"]', "ENTRYPOINT casetape"),
    (rules.it_starts_casetape, "PYTHONDONTWRITEBYTECODE=1", "X=1"),
    (rules.it_starts_casetape, "/ready", "/"),
    (rules.it_starts_casetape, "CASETAPE_HEALTH=127.0.0.1:8080", "X=1"),
    (rules.it_says_what_it_is, "org.opencontainers.image.licenses", "licenses"),
    (rules.what_it_copies_is_there, "COPY schemas schemas", "COPY scemas schemas"),
    (rules.what_it_copies_is_there, "COPY schemas schemas", "COPY tests tests"),
    (rules.what_it_copies_is_there, "COPY schemas schemas", "COPY --chown=1 . schemas"),
]


@pytest.mark.parametrize(
    ("rule", "before", "after"), BROKEN, ids=[f"{one[0].__name__}-{number}" for number, one in enumerate(BROKEN)]
)
def test_a_broken_file_is_found(rule: Rule, before: str, after: str) -> None:
    assert before in TEXT
    assert rule(parse(TEXT.replace(before, after)))


def test_every_rule_is_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(RULES)


def test_all_that_the_package_is_made_of_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {*PACKAGES, "pyproject.toml", project["readme"], *project["license-files"], "constraints.txt"}
    assert set(copied(parse(TEXT))) == needed


def test_its_python_is_one_that_the_package_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least = tuple(int(part) for part in project["requires-python"].removeprefix(">=").split("."))
    bases = [words.partition(" ")[0] for words in rules.of(parse(TEXT), "FROM")]
    versions = {tuple(int(part) for part in base.partition(":")[2].partition("-")[0].split(".")) for base in bases}
    assert len(versions) == 1, "wheels of one Python are of no use to another"
    assert versions.pop() >= least
