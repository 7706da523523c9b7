"""What the Dockerfile must be, each rule as a function from its instructions to the faults it finds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

from tests.tree import ROOT

FILE = ROOT / "deploy" / "Dockerfile"
IGNORED = ROOT / ".dockerignore"
USER = "10001:10001"
SECRET = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIAL|_KEY", re.I)
COMPILERS = re.compile(r"\b(?:gcc|g\+\+|clang|build-essential|apt-get)\b")
BASE = re.compile(r"python:3\.\d+(?:\.\d+)?-(?:slim-)?[a-z]+")


@dataclass(frozen=True)
class Instruction:
    """One instruction; its continued lines are joined by spaces, its comments are left out."""

    name: str
    words: str


Dockerfile = tuple[Instruction, ...]
Rule = Callable[[Dockerfile], list[str]]


def parse(text: str) -> Dockerfile:
    """The instructions of a Dockerfile."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    split = [line.strip().partition(" ") for line in joined.splitlines()]
    return tuple(Instruction(name.upper(), words.strip()) for name, _, words in split)


def of(file: Dockerfile, *names: str) -> list[str]:
    """The words of all instructions of these names."""
    return [one.words for one in file if one.name in names]


def last_stage(file: Dockerfile) -> Dockerfile:
    """What the image is made of."""
    starts = [place for place, one in enumerate(file) if one.name == "FROM"]
    return file[starts[-1] :]


def it_is_built_in_stages(file: Dockerfile) -> list[str]:
    bases = [words.partition(" ")[0] for words in of(file, "FROM")]
    faults = [f"base {base}" for base in bases if not BASE.fullmatch(base)]
    if len(bases) < 2:
        faults.append("the tools of the build stay in the image")
    if bases and "-slim" not in bases[-1]:
        faults.append(f"the image stands on {bases[-1]}, which has compilers")
    faults += [f"compilers: {words}" for words in of(last_stage(file), "RUN") if COMPILERS.search(words)]
    return faults


def nobody_is_root(file: Dockerfile) -> list[str]:
    last = last_stage(file)
    names = [one.name for one in last]
    users = of(last, "USER")
    after = names[len(names) - names[::-1].index("USER") :] if users else []
    faults = [] if users[-1:] == [USER] else [f"user {users}"]
    return faults + [f"{name} after USER" for name in after if name in ("RUN", "COPY", "ADD")]


def nothing_is_fetched_but_packages(file: Dockerfile) -> list[str]:
    faults = [f"ADD {words}" for words in of(file, "ADD")]
    faults += [f"RUN {words}" for words in of(file, "RUN") if re.search(r"\b(?:curl|wget|git clone)\b|://", words)]
    for words in of(file, "RUN"):
        for command in re.findall(r"pip (?:install|wheel)[^&]*", words):
            if not re.search(r"--constraint constraints\.txt|--no-deps", command):
                faults.append(f"versions are left open: {command.strip()}")
    if not all("--no-index" in words for words in of(last_stage(file), "RUN") if "pip install" in words):
        faults.append("the image's packages do not come from the first stage alone")
    return faults


def no_secret_stands_here(file: Dockerfile) -> list[str]:
    return [words for words in of(file, "ARG", "ENV", "LABEL") if SECRET.search(words)]


def it_starts_casetape(file: Dockerfile) -> list[str]:
    last = last_stage(file)
    faults = [] if of(last, "ENTRYPOINT") == ['["casetape"]'] else ["ENTRYPOINT"]
    environment = " ".join(of(last, "ENV"))
    faults += [
        f"ENV {name}"
        for name in ("PYTHONDONTWRITEBYTECODE=1", "CASETAPE_HOME=/var/lib/casetape")
        if name not in environment
    ]
    checks = of(last, "HEALTHCHECK")
    if (
        len(checks) != 1
        or "http://127.0.0.1:8080/ready" not in checks[0]
        or "CASETAPE_HEALTH=127.0.0.1:8080" not in environment
    ):
        faults.append("HEALTHCHECK")
    return faults


def it_says_what_it_is(file: Dockerfile) -> list[str]:
    said = " ".join(of(last_stage(file), "LABEL"))
    return [name for name in ("title", "description", "licenses") if f"org.opencontainers.image.{name}=" not in said]


def copied(file: Dockerfile) -> list[str]:
    """What it takes from the folder it is built in."""
    taken = []
    for words in of(file, "COPY"):
        flags = [word for word in words.split() if word.startswith("--")]
        if not any(flag.startswith("--from=") for flag in flags):
            *sources, _ = json.loads(words) if words.startswith("[") else [w for w in words.split() if w not in flags]
            taken += sources
    return taken


def what_it_copies_is_there(file: Dockerfile) -> list[str]:
    lines = [line for line in IGNORED.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    let_in = [line[1:] for line in lines if line.startswith("!")]
    faults = [] if lines[0] == "*" else ["the ignore file lets everything in"]
    for source in copied(file):
        if not (ROOT / source).exists():
            faults.append(f"{source} does not exist")
        if not any(fnmatch(source, name) for name in let_in):
            faults.append(f"{source} is kept out by the ignore file")
    return faults


RULES: tuple[Rule, ...] = (
    it_is_built_in_stages,
    nobody_is_root,
    nothing_is_fetched_but_packages,
    no_secret_stands_here,
    it_starts_casetape,
    it_says_what_it_is,
    what_it_copies_is_there,
)
