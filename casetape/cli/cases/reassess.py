"""`casetape cases reassess`."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.text import Text

from casetape.cli import shapes
from casetape.cli.assessments import changes_table, policy_words
from casetape.cli.cases.line import key_of, known, version_at
from casetape.cli.common import AsJson, Home, Tenant, out, print_json, settings, verb, writing
from casetape.cli.fitting import Column, fitted
from casetape.cli.options import PolicyName, PolicyOptions, chosen_policy
from casetape.cli.render import case_name, cell, count, severity, share, verdict
from casetape.run import now
from casetape.settings import PolicySettings, Settings
from engines.engine import Engine
from merge.graph import Moment, turns
from merge.policies.registry import Chosen, PolicyOf, Registry, policies
from merge.reading import load_summary
from merge.reassess import reassess as reassess_case
from merge.reassess import would_change
from schemas.assessment import Assessment
from schemas.errors import UsageError
from schemas.keys import parse_case
from schemas.version import StateVersion

NAME_LIMIT = 256
SHOWN = 100
"""Cases that the table for people has."""
_COLUMNS = (
    Column("case", whole=True),
    Column("version", right=True, goes=1),
    Column("before", floor=len("suspicious critical 1.000")),
    Column("now", floor=len("suspicious critical 1.000")),
)


class Again(NamedTuple):
    """A case's new version, and the case before and with it."""

    case: str
    version: StateVersion
    before: Moment
    after: Moment


@verb
def reassess(
    case: Annotated[
        str | None,
        typer.Argument(metavar="[CASE]", help="tenant/subject; `default/` may be left out.", show_default=False),
    ] = None,
    policy: PolicyName = None,
    policy_option: PolicyOptions = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All cases that are assessed otherwise now; no version of the others.")
    ] = False,
    tenant: Tenant = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Assess a case anew: a new version, authored by you. Without --policy by the settings, so that a changed
    allow-list or max_age counts at once; with it by that policy, for this once, since later merges use the policy of
    the settings again. Old versions stay as they are. With --all: each case (of the tenant, where one is given) that
    is assessed otherwise by it than its newest version was."""
    if (case is None) == (not everything):
        raise UsageError("say which case, or --all")
    if case is not None and tenant is not None:
        raise UsageError("--tenant is for --all: a case's own stands before its subject, as in acme/host:10.0.0.5")
    chosen = settings(home=home, tenant=tenant)
    of = _policies(chosen, chosen_policy(policy, policy_option))
    if case is not None:
        key = key_of(case)
        with writing(chosen) as engine:
            known(engine, key)
            made = _again(engine, key, of)
        if as_json:
            print_json(_json(made))
        else:
            _show(made)
        return
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    with writing(chosen) as engine:
        keys = [row.key for row in engine.store.cases(of_tenant, order="key")]
        due = (one for one in keys if would_change(engine.store, engine.log, one, of(*parse_case(one))))
        found = [_again(engine, one, of) for one in due]
    if as_json:
        unchanged = len(keys) - len(found)
        print_json({"cases": len(keys), "unchanged": unchanged, "reassessed": [_json(one) for one in found]})
    else:
        _show_all(found, len(keys), of_tenant)


def _policies(chosen: Settings, named: PolicySettings | None) -> PolicyOf:
    """Which policy a case is assessed by: the one that was named, or the settings'. Raises SettingsError."""
    if named is None:
        return policies(Registry.installed(), chosen.policy_choice())
    bound = Registry.installed().bind(Chosen(named.name, named.options))
    return lambda tenant, subject: bound


def _again(engine: Engine, case: str, of: PolicyOf) -> Again:
    version = reassess_case(engine.store, engine.log, case, of(*parse_case(case)), person=user(), now=now())
    earlier = version_at(engine, case, version.number - 1)
    before = Moment(load_summary(engine.store, case, earlier.number, log=engine.log), earlier.assessment)
    # it adds nothing: what was current is current
    return Again(case, version, before, Moment(before.summary, version.assessment))


def _json(one: Again) -> dict[str, Any]:
    header = one.version.header
    return {
        "case": one.case,
        **shapes.place(one.version.number, one.version.id),
        "author": shapes.author(header.author),
        "at": shapes.time(header.at),
        "assessment": shapes.assessment(one.after),
        "counting": [shapes.turn(turn) for turn in turns(one.before, one.after)],
    }


def _show(one: Again) -> None:
    made = one.after.assessment
    assert made is not None, "a merged version carries an assessment"  # noqa: S101 - for the type checker
    out.print(cell(f"{one.case}: version {one.version.number}, assessed by {policy_words(made)}", "bold"))
    out.print(changes_table(one.before, one.after))


def _show_all(found: Sequence[Again], total: int, tenant: str | None) -> None:
    whose = "" if tenant is None else f" of tenant {tenant}"
    rest = total - len(found)
    said = f"{len(found):,} of {count(total, 'case')}{whose} assessed anew; {rest:,} would not change"
    if not found:
        out.print(cell(said))
        return
    rows = [
        (
            cell(case_name(one.case), "bold"),
            f"{one.version.number:,}",
            _words(one.before.assessment),
            _words(one.after.assessment),
        )
        for one in found[:SHOWN]
    ]
    out.print(fitted(said, _COLUMNS, rows, out.width))
    if len(found) > SHOWN:
        out.print(cell(f"and {count(len(found) - SHOWN, 'more case')}", "dim"))


def _words(made: Assessment | None) -> Text:
    if made is None:
        return Text("-", style="dim")
    return Text(" ").join([verdict(made.verdict), severity(made.severity), Text(share(made.score))])


def user() -> str:
    """The name of the operating system's user, or its number where it has none."""
    try:
        return getpass.getuser()[:NAME_LIMIT]
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
