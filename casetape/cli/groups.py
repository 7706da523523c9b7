"""`casetape groups`."""

from __future__ import annotations

from typing import Annotated

import typer

from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb, writing
from casetape.cli.render import cell, count, table
from casetape.lagging import DETECT, DETECT_GROUPS, positions_of, readers
from schemas.errors import UsageError

app = typer.Typer(help="Look at the consumer groups, and forget one that nobody runs any more.", no_args_is_help=True)


@app.command("list")
@verb
def listing(home: Home = None, as_json: AsJson = False) -> None:
    """Show each group: what it reads, who is at work in it, and what it has still to handle."""
    with reading(settings(home=home)) as engine:
        found = [
            {
                "group": group,
                "topic": topic,
                "members": engine.log.members(group),
                "waiting": sum(one.waiting for one in positions_of(engine, group, topic)),
            }
            for topic, groups in readers(engine).items()
            for group in groups
        ]
    if as_json:
        print_json(found)
        return
    shown = table(count(len(found), "group"), "group", "topic", "members", "waiting", right=("members", "waiting"))
    for one in found:
        shown.add_row(cell(str(one["group"])), str(one["topic"]), str(one["members"]), f"{one['waiting']:,}")
    out.print(shown)


@app.command()
@verb
def forget(
    group: Annotated[str, typer.Argument(help="Of a set of detectors: detect-...", show_default=False)],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Forget a set of detectors that nobody runs any more, with its windows: it holds back retention no longer. What it
    has said stays in the cases."""
    with writing(settings(home=home)) as engine:
        owners = list(engine.store.manifests(f"{DETECT}{group}/"))
        if not group.startswith(DETECT_GROUPS) or (not owners and group not in engine.log.groups()):
            raise UsageError(f"there is no set of detectors called {group}: `casetape groups list` shows what there is")
        engine.log.forget_group(group)
        dropped = sum(map(engine.store.forget_owner, owners))
    if as_json:
        print_json({"forgotten": group, "parts": dropped})
    else:
        out.print(cell(f"forgotten: {group}, with {count(dropped, 'part')} of its windows"))
