"""The engine that the settings name, opened to work on it or to look at it."""

from __future__ import annotations

from casetape.settings import Settings
from engines import topics
from engines.engine import Engine
from engines.opening import EmbeddedOptions, open_engine
from engines.sqlite import FILE
from merge.highwater import admit
from schemas.errors import EngineError, UnknownTopic


class TooFewPartitions(EngineError):
    """A topic has fewer partitions than the settings ask for."""

    code = "too_few_partitions"


def working(settings: Settings, *, create: bool = True) -> Engine:
    """The engine to work on; `create` makes the home where it is missing."""
    options = settings.engine_options()
    if create and not isinstance(options, EmbeddedOptions):
        # turns are taken in it
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return open_engine(options, session_seconds=settings.session, create=create)


def reading(settings: Settings) -> Engine:
    """The engine to look at what must be there already. Raises UnknownTopic where nothing is."""
    engine = open_engine(settings.engine_options(), create=False, read_only=True)
    if settings.engine == "cluster":
        try:
            _partitions(engine, topics.OBSERVATIONS)
        except BaseException:
            engine.close()
            raise
    return engine


def _partitions(engine: Engine, topic: str) -> int:
    try:
        return engine.log.partitions(topic)
    except UnknownTopic as error:
        raise UnknownTopic(f"{error}: `casetape topics create` makes what is missing") from None


def is_empty(settings: Settings) -> bool:
    """Whether the home is a folder in which nothing was kept yet."""
    return settings.engine == "embedded" and settings.home.is_dir() and not (settings.home / FILE).exists()


def ready_topics(engine: Engine, settings: Settings) -> None:
    """Sees to the topics, and lets work begin: in a home of ours they are made where they are missing; on servers that
    is for `casetape topics create`, for there a prefix may be mistyped, or a topic lost. Raises what `make_topics` and
    `check_topics` raise."""
    if settings.engine == "embedded":
        make_topics(engine, settings)
        admit(engine)
    else:
        check_topics(engine, settings)


def make_topics(engine: Engine, settings: Settings) -> None:
    """Makes the topics that are missing. Raises EngineError where one has another number of partitions."""
    for topic in topics.ALL:
        engine.log.create_topic(topic, settings.partitions)


def check_topics(engine: Engine, settings: Settings) -> None:
    """Lets work begin. Raises UnknownTopic where a topic is missing, TooFewPartitions where one has fewer than the
    settings ask for, StoreBehind where the store has lost writes."""
    for topic in topics.ALL:
        found = _partitions(engine, topic)
        if found < settings.partitions:
            raise TooFewPartitions(
                f"topic `{topic}` has {found} partitions, and setting `partitions` asks for {settings.partitions}: set"
                f" `partitions` to {found}, or make the topics anew before anything is fed"
            )
    admit(engine)
