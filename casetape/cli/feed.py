"""`casetape feed`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from casetape.bridging import Bridged, Bridging, bridge, check_bridge
from casetape.cli.common import FAILED, INTERRUPTED, AsJson, Home, Tenant, print_json, settings, tell, verb
from casetape.cli.options import Origin, Subject, feed_options
from casetape.cli.progress import counter, progress_bar
from casetape.cli.stopping import stopping
from casetape.opening import ready_topics, working
from casetape.run import now
from casetape.settings import Settings
from engines.engine import Engine
from schemas.errors import UsageError
from schemas.keys import case_key
from schemas.scales import parse_rfc3339
from workers.feed.bridge_reading import refused
from workers.feed.feeder import Feeder
from workers.feed.follow import Follower, FollowOptions, keep_following
from workers.feed.options import KINDS, FeedCounts, FeedOptions
from workers.feed.plan import plan
from workers.feed.telling import timeless


@verb
def feed(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE|DIR|-...", help="What to feed; `-` is the standard input.", show_default=False),
    ] = None,
    kind: Annotated[str, typer.Option(help=f"{KINDS}.")] = "auto",
    tenant: Tenant = None,
    subject: Subject = None,
    origin: Origin = None,
    at: Annotated[str | None, typer.Option(help="When a text was true: RFC 3339.")] = None,
    request_id: Annotated[str | None, typer.Option(help="Of a text: the same again is the same observation.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="The whole text is one observation, not each line.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with what is appended, across rotation, until Ctrl-C or SIGTERM.")
    ] = False,
    interval: Annotated[float, typer.Option(help="Of --follow: seconds between two looks.", min=0.01, max=3600)] = 1.0,
    from_topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Bridge a topic by its full name, until Ctrl-C or SIGTERM.")
    ] = None,
    until_end: Annotated[
        bool, typer.Option("--until-end", help="Of --from-topic: only up to where the topic ends now.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 where anything was quarantined.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Put observations on the tape; `casetape run` works them off."""
    _check_what(paths or [], from_topic, kind, follow=follow, until_end=until_end)
    chosen = settings(home=home, tenant=tenant, origin=origin)
    options = feed_options(chosen, kind, subject, at=_time(at), request_id=request_id, whole=whole)
    feeding = _Feeding(chosen, options)
    ended = True
    if from_topic is not None:
        counts, ended = feeding.bridged(from_topic, until_end=until_end)
    elif follow:
        counts = feeding.followed(paths or [], FollowOptions(interval=interval))
    else:
        counts = feeding.fed(paths or [])
    _report(counts, as_json)
    if not ended:
        raise typer.Exit(INTERRUPTED)
    if counts.quarantined and strict:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, slots=True)
class _Feeding:
    """How something is fed."""

    settings: Settings
    options: FeedOptions

    def fed(self, paths: Sequence[str]) -> FeedCounts:
        """Feeds files as they are now."""
        planned = plan(paths, self.options)
        for left in planned.skipped:
            tell(f"left out: {left.path}: {left.reason}")
        counts = FeedCounts()
        with self._engine() as engine, progress_bar(sum(one.size or 0 for one in planned.files) or None) as progress:
            feeder = Feeder(engine.log, engine.store, self.options, now, on_progress=progress)
            for one in planned.files:
                fed = feeder.feed_planned(one)
                counts += fed
                if (said := timeless(one.path, fed)) is not None:
                    tell(said)
        return counts

    def followed(self, paths: Sequence[str], options: FollowOptions) -> FeedCounts:
        """Feeds what is there and what comes, until a signal says enough."""
        with self._engine() as engine, stopping() as stopped, counter() as count:
            feeder = Feeder(engine.log, engine.store, self.options, now)
            follower = Follower(feeder, paths, tell, options)
            tell(f"following {', '.join(paths)}: Ctrl-C ends it")
            keep_following(follower, stopped.wait, tell, count)
        return follower.counts

    def bridged(self, topic: str, *, until_end: bool) -> Bridged:
        """Feeds what a topic holds and gets, until a signal says enough, or only up to its end."""
        check_bridge(self.settings, topic, self.options)
        with self._engine() as engine, stopping() as stopped, counter() as count:
            asked = Bridging(topic, self.options, until_end, stopped.wait, tell, count)
            done = bridge(self.settings, engine, asked)
        if not done.ended:
            tell(f"stopped before the end of topic {topic}: the same command goes on from there")
        return done

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        with working(self.settings) as engine:
            ready_topics(engine, self.settings)
            yield engine
            if self.options.subject is not None:
                self._look_for(engine, self.options.subject)

    def _look_for(self, engine: Engine, subject: str) -> None:
        """Says where there is no such case yet: a subject may be mistyped."""
        case, host = (case_key(self.settings.tenant, one) for one in (subject, f"host:{subject}"))
        if engine.store.row(case) is None:
            meant = f" (there is {host}: did you mean --subject host:{subject}?)" if engine.store.row(host) else ""
            tell(f"there is no case {case} yet: the next run makes it{meant}")


def _check_what(paths: Sequence[str], topic: str | None, kind: str, *, follow: bool, until_end: bool) -> None:
    """Raises UsageError where it is not clear what to feed."""
    if topic is None:
        if not paths:
            raise UsageError("say what to feed: files, folders, `-`, or --from-topic NAME")
        if until_end:
            raise UsageError("--until-end goes with --from-topic")
        return
    if paths:
        raise UsageError("--from-topic NAME stands alone: feed files by a command of their own")
    if follow:
        raise UsageError("--follow is for files: --from-topic goes on by itself, unless --until-end is given")
    refused(kind)


def _time(text: str | None) -> int | None:
    try:
        return None if text is None else parse_rfc3339(text)
    except ValueError as error:
        raise UsageError(f"--at {text}: not an RFC 3339 time ({error})") from None


def _report(counts: FeedCounts, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "read": counts.read,
                "appended": counts.appended,
                "already_fed": counts.already_fed,
                "quarantined": counts.quarantined,
                "untimed": counts.untimed,
            }
        )
        return
    tell(f"read {counts.read:,}: {counts.appended:,} appended, {counts.already_fed:,} already fed")
    if counts.quarantined:
        tell(f"{counts.quarantined} quarantined: see `casetape quarantine list`")
