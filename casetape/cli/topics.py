"""`casetape topics`."""

from __future__ import annotations

import typer

from casetape.cli.common import AsJson, Home, out, print_json, settings, verb
from casetape.cli.findings import report
from casetape.cli.render import cell
from casetape.doctoring import topic_findings
from casetape.opening import make_topics, working
from casetape.settings import Settings
from engines import topics
from schemas.errors import UnknownTopic, UsageError

app = typer.Typer(help="Make and check the topics of the tape.", no_args_is_help=True)


@app.command()
@verb
def create(home: Home = None, as_json: AsJson = False) -> None:
    """Make the topics that are missing; those that are there stay as they are."""
    chosen = settings(home=home)
    _of_servers(chosen)
    made = []
    with working(chosen) as engine:
        for topic in topics.ALL:
            try:
                engine.log.partitions(topic)
            except UnknownTopic:
                made.append(topic)
        make_topics(engine, chosen)
    if as_json:
        print_json({"made": made, "partitions": chosen.partitions})
    else:
        there = ", ".join(made)
        out.print(cell(f"made {there}, each with {chosen.partitions} partitions" if made else "all topics are there"))


@app.command()
@verb
def check(home: Home = None, as_json: AsJson = False) -> None:
    """Check that every topic is there, with enough partitions and settings that lose nothing: exit 1 where not."""
    chosen = settings(home=home)
    _of_servers(chosen)
    with working(chosen, create=False) as engine:
        found = topic_findings(engine, chosen)
    report(found, as_json=as_json)


def _of_servers(chosen: Settings) -> None:
    if chosen.engine == "embedded":
        raise UsageError("`casetape topics` is for the cluster engine (setting `engine`): a home makes its own topics")
