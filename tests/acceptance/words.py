"""A home whose cases are made of sentences: a plug-in takes their words for findings."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engines import topics
from tests.acceptance.command import Answer, casetape
from tests.engine import open_home

CASE = "host:build-server"
PLUGIN = '''
from casetape import Finding, detector

SAID = {
    "bad": ("bad", Finding("malicious", 0.9, fingerprint="word bad", target="host", title="A bad word")),
    "odd": ("odd", Finding("suspicious", 0.5, fingerprint="word odd", title="An odd word")),
    "fine": ("fine", Finding("benign", 0.1, fingerprint="word fine", target="host", title="A fine word")),
}


@detector("words", kinds=["text"])
def words(observation):
    """A finding for each word that it knows."""
    return [finding for word, finding in SAID.values() if word in observation.text.split()]
'''


class Home:
    """A home with the plug-in, and settings of its own."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self.home = folder / "home"
        plugins = folder / "plugins"
        plugins.mkdir(exist_ok=True)
        (plugins / "words.py").write_text(PLUGIN)
        self.config = folder / "casetape.toml"
        self.settings(settings)
        self.env = {"CASETAPE_CONFIG": str(self.config), "CASETAPE_PLUGINS": str(plugins)}

    def copied(self, folder: Path) -> Home:
        """The same, in an empty folder: a copy costs less than telling it anew."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Home(folder)

    def settings(self, text: str) -> None:
        """Other settings from now on."""
        self.config.write_text(text)

    def __call__(self, *args: str | Path, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> Answer:
        """Runs `casetape ARGS` on it."""
        return casetape(self.home, *args, stdin=stdin, env={**self.env, **(env or {})})

    def told(self, sentence: str, at: str | None = None, case: str = CASE, tenant: str = "default") -> dict[str, Any]:
        """Feeds a sentence, true at a day, runs, and returns the case's assessment."""
        when = [] if at is None else ["--at", f"{at}T00:00:00Z"]
        fed = self("feed", "-", "--kind", "text", "--subject", case, "--tenant", tenant, *when, stdin=sentence.encode())
        assert fed.code == 0, fed.err
        assert self("run", "--json").json["faults"] == 0
        return self.assessment(f"{tenant}/{case}")

    def show(self, case: str = CASE, *args: str) -> dict[str, Any]:
        """What `cases show --json` says."""
        shown: dict[str, Any] = self("cases", "show", case, *args, "--json").json
        return shown

    def assessment(self, case: str = CASE) -> dict[str, Any]:
        """The case's assessment now."""
        made: dict[str, Any] = self.show(case)["assessment"]
        return made

    def left_out(self, case: str = CASE, *args: str) -> dict[str, str | None]:
        """By detector and fingerprint: why a current analysis does not count."""
        shown = self.show(case, *args)["analyses"]
        return {f"{one['detector']} {one['fingerprint']}": one["left_out"] for one in shown if one["current"]}

    def appended(self) -> int:
        """How many records were ever put on the tape, on all topics."""
        with open_home(self.home, create=False, read_only=True) as engine:
            return sum(end for topic in topics.ALL for end in engine.log.end_offsets(topic).values())

    def judge(self, verdict: str, *args: str, case: str = CASE, why: str = "I know") -> dict[str, Any]:
        """`casetape judge --json` by ada, which must succeed."""
        said: dict[str, Any] = self(
            "judge", case, "--verdict", verdict, "--why", why, "--by", "ada", "--json", *args
        ).json
        return said
