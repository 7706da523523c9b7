"""Looking over what a pipeline stands on: each dependency, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casetape.lagging import Position, positions
from casetape.opening import reading, working
from casetape.settings import Settings
from engines import topics
from engines.checkup import Finding, LooksOver
from engines.engine import Engine
from engines.log import TopicPartition
from engines.partitioner import partition_of
from merge.highwater import ahead, behind
from schemas.errors import CasetapeError, UnknownTopic

SAMPLE = 200
"""So many records of each partition are looked at for whether they belong there."""


def look_over(settings: Settings) -> list[Finding]:
    """Every finding there is. Where something does not answer that is the finding, and what depends on it is left."""
    try:
        engine = reading(settings) if settings.engine == "embedded" else working(settings, create=False)
    except CasetapeError as error:
        return [Finding("engine", "fault", str(error))]
    with engine:
        found: list[Finding] = []
        for about, look in _parts(engine, settings):
            try:
                found += look()
            except CasetapeError as error:
                found.append(Finding(about, "fault", str(error)))
        return found


def topic_findings(engine: Engine, settings: Settings) -> list[Finding]:
    """Of the topics: whether each is there, with partitions enough and settings that lose nothing."""
    found = []
    missing = set()
    for topic in topics.ALL:
        try:
            count = engine.log.partitions(topic)
        except UnknownTopic:
            missing.add(topic)
            found.append(Finding(f"topic {topic}", "fault", "it is missing: `casetape topics create` makes it"))
            continue
        enough = count >= settings.partitions
        words = f"{count} partitions" if enough else f"{count} partitions, setting `partitions` asks for more"
        found.append(Finding(f"topic {topic}", "ok" if enough else "fault", words))
    if isinstance(engine.log, LooksOver):
        found += [one for one in engine.log.look_over() if one.about.startswith("topic ")]
    return found


def _parts(engine: Engine, settings: Settings) -> Sequence[tuple[str, Callable[[], Sequence[Finding]]]]:
    return [
        ("log", lambda: [one for one in _looked_over(engine.log) if not one.about.startswith("topic ")]),
        ("topics", lambda: topic_findings(engine, settings)),
        ("store", lambda: _looked_over(engine.store)),
        ("high-water mark", lambda: _high_water(engine)),
        ("progress", lambda: _progress(engine)),
        ("partitioner", lambda: _misplaced(engine)),
    ]


def _looked_over(port: object) -> Sequence[Finding]:
    return port.look_over() if isinstance(port, LooksOver) else ()


def _high_water(engine: Engine) -> list[Finding]:
    words = behind(engine) or ahead(engine)
    if words is not None:
        return [Finding("high-water mark", "fault", words)]
    return [Finding("high-water mark", "ok", "the store has everything that reached `states` last")]


def _misplaced(engine: Engine) -> list[Finding]:
    """Among the newest observations: those that lie where their key does not belong."""
    starts, ends = engine.log.start_offsets(topics.OBSERVATIONS), engine.log.end_offsets(topics.OBSERVATIONS)
    looked = wrong = 0
    for partition, end in ends.items():
        at = TopicPartition(topics.OBSERVATIONS, partition)
        for record in engine.log.read(at, max(starts[partition], end - SAMPLE), SAMPLE):
            looked += 1
            wrong += partition_of(record.key, len(ends)) != partition
    about = "partitioner"
    if not wrong:
        return [Finding(about, "ok", f"the newest {looked:,} observations lie where their keys belong")]
    return [
        Finding(
            about,
            "warning",
            f"{wrong:,} of the newest {looked:,} observations came by another partitioner than murmur2: those of one"
            " case lie in several partitions, out of order. Let their producer write a topic of its own, and bridge it"
            " with `casetape feed --from-topic`",
        )
    ]


def _progress(engine: Engine) -> list[Finding]:
    found = []
    by_group: dict[tuple[str, str], list[Position]] = {}
    for one in positions(engine):
        by_group.setdefault((one.group, one.at.topic), []).append(one)
    for (group, topic), held in by_group.items():
        waiting = sum(one.waiting for one in held)
        cut = [one for one in held if one.committed and one.done < one.start]
        about = f"group {group}"
        found.append(Finding(about, "ok", f"{waiting:,} records of `{topic}` to handle"))
        if cut:
            lost = sum(one.start - one.done for one in cut)
            words = f"{lost:,} records of `{topic}` were deleted before it had handled them: raise their retention"
            found.append(Finding(about, "fault", words))
    return found
