"""`casetape cases reassess`."""

from __future__ import annotations

import getpass
import os
from typing import Annotated

import typer

from casetape.cli import shapes
from casetape.cli.assessments import changes, changes_table, policy_words
from casetape.cli.cases.line import Case, key_of, known, version_at
from casetape.cli.common import AsJson, Home, out, print_json, settings, verb, writing
from casetape.cli.options import PolicyOptions, chosen_policy
from casetape.cli.render import cell
from casetape.run import now
from merge.policies.registry import Chosen, Registry
from merge.reassess import reassess as reassess_case

NAME_LIMIT = 256


@verb
def reassess(
    case: Case,
    policy: Annotated[str, typer.Option("--policy", help="worst, quorum, noisy-or, trust-order or an installed one.")],
    policy_option: PolicyOptions = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Assess a case anew by another policy: a new version, authored by you. Old versions stay as they are, and later
    merges use the policy of the settings again."""
    key = key_of(case)
    chosen = chosen_policy(policy, policy_option)
    assert chosen is not None, "the option is required"  # noqa: S101 - for the type checker
    bound = Registry.installed().bind(Chosen(chosen.name, chosen.options))
    with writing(settings(home=home)) as engine:
        known(engine, key)
        version = reassess_case(engine.store, engine.log, key, bound, person=user(), now=now())
        before = version_at(engine, key, version.number - 1).assessment
    after = version.assessment
    assert after is not None, "a merged version carries an assessment"  # noqa: S101 - for the type checker
    if as_json:
        made = {"author": shapes.author(version.header.author), "at": shapes.time(version.header.at)}
        print_json(
            {"case": key, **shapes.place(version.number, version.id), **made, "assessment": shapes.assessment(after)}
        )
        return
    out.print(cell(f"{key}: version {version.number}, assessed by {policy_words(after)}", "bold"))
    out.print(changes_table(changes(before, after)))


def user() -> str:
    """The name of the operating system's user, or its number where it has none."""
    try:
        return getpass.getuser()[:NAME_LIMIT]
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
