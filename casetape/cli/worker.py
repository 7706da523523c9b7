"""`casetape worker` and `casetape merger`: one kind of service, on as many machines as it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from casetape.cli.common import AsJson, Home, settings, verb
from casetape.cli.options import PolicyName, PolicyOptions, chosen_policy, listed
from casetape.cli.render import count
from casetape.cli.stopping import stopping
from casetape.cli.telling import Words
from casetape.lone import Lone, serve_alone
from casetape.services.async_starting import async_options, wanted_async
from casetape.services.options import merger_options, set_name, worker_options
from casetape.services.starting import say_what_is_new, wanted
from casetape.settings import Settings
from engines.engine import Engine
from engines.topics import OBSERVATIONS, VERSIONS
from merge.policies.registry import Registry, policies
from merge.tape import MERGER
from schemas.errors import UsageError

Health = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where to answer /health and /ready.")]


@verb
def worker(
    detectors: Annotated[
        str | None, typer.Option(help="Names, with commas between: a set that reads for itself; all by default.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes.", min=1, max=64)] = None,
    asynchronous: Annotated[
        bool, typer.Option("--async", help="Host asynchronous detectors, which wait on something else, on Faust.")
    ] = False,
    plugins: Annotated[Path | None, typer.Option(help="A folder of plug-in files.")] = None,
    health: Health = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Run detection workers on Kafka and Redis until Ctrl-C or SIGTERM; start it again elsewhere to scale."""
    chosen = settings(home=home, workers=workers, plugins=plugins, detectors=listed(detectors), health=health)
    say = Words(as_json)
    if chosen.kafka.member is not None and chosen.workers > 1:
        raise UsageError("setting `kafka.member` is for one process: start each worker with a name of its own")
    name = set_name(chosen.detectors)
    if asynchronous:
        wanted_async(chosen, say.told, say.told)
        told, group = async_options(chosen, name), f"detect-async-{name}"
        lone = Lone("worker", "casetape.services.async_worker", told, chosen.workers, group, OBSERVATIONS)
        _serve(chosen, lone, say)
        return
    hosted = wanted(chosen, say.told, say.told)
    if not hosted:
        raise UsageError("there is no detector to run here: `casetape detector list` shows what there is")

    def opened(engine: Engine) -> None:
        say_what_is_new(engine, hosted, say.told, name)

    options, group = worker_options(chosen, bounded=False, detectors_name=name), f"detect-{name}"
    lone = Lone("worker", "casetape.services.worker", options, chosen.workers, group, OBSERVATIONS, opened)
    _serve(chosen, lone, say)


@verb
def merger(
    policy: PolicyName = None,
    policy_option: PolicyOptions = None,
    health: Health = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Run a merger on Kafka and Redis until Ctrl-C or SIGTERM; a second one shares the work and takes over."""
    chosen = settings(home=home, policy=chosen_policy(policy, policy_option), health=health)
    policies(Registry.installed(), chosen.policy_choice())
    lone = Lone("merger", "casetape.services.merger", merger_options(chosen), 1, MERGER, VERSIONS, keeps_house=True)
    _serve(chosen, lone, Words(as_json))


def _serve(chosen: Settings, lone: Lone, say: Words) -> None:
    def ready(address: str | None) -> None:
        where = "" if address is None else f"; it answers at http://{address}/ready"
        say("ready", f"{count(lone.count, lone.name)} at work in group {lone.group}{where}. Ctrl-C stops it")

    with stopping() as stop:
        restarts = serve_alone(chosen, lone, say.told, on_ready=ready, stopped=stop.is_set)
    say("stopped", f"stopped: {count(restarts, 'restart')}", restarts=restarts)
