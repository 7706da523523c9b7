"""Taking a partition over: loading what is known of it, and claiming it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engines.log import TopicPartition
from engines.store import StateStore
from schemas.errors import EngineError
from workers.detection.partition import Partition, Terms
from workers.detection.plugin import Detector
from workers.detection.seen import SeenFilter, stored
from workers.detection.snapshot import Body, WindowEntry, body_of, entries, owner_of, unpack_cases
from workers.detection.window import Load, WindowState
from workers.detection.windowed import WindowedDetector


def take_over(
    store: StateStore,
    group: str,
    at: TopicPartition,
    detectors: Sequence[Detector],
    start: int,
    end: Callable[[], int],
    terms: Terms,
    *,
    replay: str | None = None,
) -> Partition:
    """Loads what is known of the partition and claims it by moving its manifest to the next generation, so that an
    earlier owner can no longer write. The store counts the generations, since a log's own may fall or repeat.

    A detector that is new, or has another version or other parameters than the snapshot, starts afresh; where nothing
    is known, or retention has deleted what comes next, from offset `start`; from there also where the log ends before
    what is known of it (`end`, asked once that was read): it was made anew, or cut. The first owner in a `replay` of
    this name lets all detectors start again from there; what they said before they say again, to no effect, since ids
    are digests of content (I4). Raises Fenced where a later owner was first, EngineError where the snapshot is damaged.
    """
    owner = owner_of(group, at)
    manifest = store.manifest(owner)
    read = _reader(store, owner, at, terms)
    generation = 1 if manifest is None else manifest.generation + 1
    partition = Partition(store, owner, at, generation, SeenFilter(read), terms, manifest=manifest)
    load = Load(read, partition.name, terms.beat)
    windowed = [detector for detector in detectors if isinstance(detector, WindowedDetector)]
    partition.windows = [WindowState(detector, load, terms.limit) for detector in windowed]
    partition.detectors = entries(detectors)
    known = None if manifest is None else body_of(manifest)
    partition.offset = start
    if manifest is not None and known is not None:
        partition.counts, partition.heard, partition.counted = known.counts, known.heard, known.counted
        partition.replay = known.replay
        if replay is not None and replay != known.replay:
            partition.counted = max(known.counted, manifest.offset)
        else:
            # a log that ends before what is known of it was made anew, or cut: what it holds was never seen
            partition.offset = start if manifest.offset > end() else max(start, manifest.offset)
            _load(partition, known, read)
    partition.replay = replay or partition.replay
    partition.move()
    partition.drop_strays()
    return partition


def _reader(store: StateStore, owner: str, at: TopicPartition, terms: Terms) -> Callable[[str], bytes]:
    def read(name: str) -> bytes:
        body = store.part(owner, name)
        if body is None:
            raise EngineError(f"the snapshot of {at.topic}[{at.partition}] names a part {name} that the store lacks")
        terms.beat()
        return body

    return read


def _load(partition: Partition, known: Body, read: Callable[[str], bytes]) -> None:
    partition.concluded = known.concluded
    partition.cases = known.cases
    if known.cases is not None:
        cases = unpack_cases(read(known.cases))
        partition.clocks, partition.early, partition.standings = cases.clocks, cases.early, cases.standings
    partition.seen.segments = [stored(one.name, read(one.name), one.newest) for one in known.seen]
    for window in partition.windows:
        entry = next((one for one in known.windows if _same(window, one)), None)
        if entry is not None:
            window.runs, window.concluded = entry.runs, entry.concluded
            window.restore(partition.floor_of(window, lambda clock: clock.pruned))


def _same(window: WindowState, entry: WindowEntry) -> bool:
    detector = window.detector
    known = (entry.detector, entry.version, entry.parameters)
    return known == (detector.name, detector.version, detector.parameters_digest)
