"""How what a worker knows of a partition is kept: immutable parts under a small manifest that moves by
compare-and-swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from engines.log import TopicPartition
from engines.store import Manifest
from schemas.errors import EngineError
from workers.detection.plugin import Detector
from workers.detection.seen import Segment
from workers.detection.standing import Standings
from workers.detection.window import Run, WindowState

_FORM = 1

Early = tuple[str, str, str, int]
"""A window: detector, case key, detector's key, end in microseconds."""


class Said(NamedTuple):
    """What was said of a window before it was complete: the analysis's fingerprint, and its time (microseconds or
    None)."""

    fingerprint: str
    at: int | None


class Counts(msgspec.Struct):
    """What became of the records of a partition since it exists: consumed = new + duplicate + quarantined. Of the new
    ones, `late` came after their case's windows had closed, and `untimed` have no time that could be used."""

    consumed: int = 0
    new: int = 0
    duplicate: int = 0
    quarantined: int = 0
    late: int = 0
    faults: int = 0
    untimed: int = 0


class Clock(msgspec.Struct, array_like=True):
    """A case's own time: `at` the greatest event time among its records, `heard` the log's time of its newest record,
    `pruned` what `at` was when its rows were last pruned (all microseconds); `quiet` whether its open windows were
    concluded early since it was heard."""

    at: int
    heard: int
    pruned: int = 0
    quiet: bool = False


class Cases(msgspec.Struct, array_like=True):
    """What is known by case, kept as one part."""

    clocks: dict[str, Clock]
    early: dict[Early, Said]
    standings: Standings = {}


class WindowEntry(msgspec.Struct):
    """A window of one detector, version and parameters."""

    detector: str
    version: str
    parameters: str
    runs: list[Run]
    concluded: int


class SeenEntry(msgspec.Struct):
    """A segment of the seen filter."""

    name: str
    newest: int


class DetectorEntry(NamedTuple):
    """A detector that has looked at a partition."""

    name: str
    version: str
    parameters: str


class Body(msgspec.Struct):
    """The manifest's body. `counted`: the offset up to which records were counted before a replay began again;
    `replay`: the name of the newest replay."""

    form: int
    counts: Counts
    windows: list[WindowEntry]
    seen: list[SeenEntry]
    cases: str | None
    heard: int
    concluded: int
    detectors: list[DetectorEntry] = []
    counted: int = 0
    replay: str | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Body).decode
pack_cases = msgspec.msgpack.Encoder().encode
unpack_cases = msgspec.msgpack.Decoder(Cases).decode


def owner_of(group: str, at: TopicPartition) -> str:
    """The name under which a group's knowledge of a partition lies in the store."""
    return f"detect/{group}/{at.topic}/{at.partition}"


def counts_of(manifest: Manifest) -> tuple[Counts, int]:
    """The counts of a partition, and the offset up to which a drain has concluded everything."""
    body = body_of(manifest)
    return body.counts, body.concluded


def body_of(manifest: Manifest) -> Body:
    """What a manifest says. Raises EngineError where it was written in another form."""
    try:
        body = _decode(manifest.body)
    except msgspec.MsgspecError as error:
        raise EngineError(f"a snapshot cannot be read: {error}") from error
    if body.form != _FORM:
        raise EngineError(f"a snapshot has form {body.form}, and this casetape knows form {_FORM}")
    return body


def packed(
    windows: Sequence[WindowState],
    segments: Sequence[Segment],
    counts: Counts,
    *,
    cases: str | None,
    heard: int,
    concluded: int,
    detectors: Sequence[DetectorEntry],
    counted: int,
    replay: str | None,
) -> bytes:
    """The manifest's body: small, since it names its parts only."""
    body = Body(
        form=_FORM,
        counts=counts,
        windows=[_entry(window) for window in windows],
        seen=[SeenEntry(segment.name, segment.newest) for segment in segments],
        cases=cases,
        heard=heard,
        concluded=concluded,
        detectors=list(detectors),
        counted=counted,
        replay=replay,
    )
    return _encode(body)


def entries(detectors: Sequence[Detector]) -> list[DetectorEntry]:
    """The detectors as a manifest names them."""
    return [DetectorEntry(one.name, one.version, one.parameters_digest) for one in detectors]


def _entry(window: WindowState) -> WindowEntry:
    detector = window.detector
    return WindowEntry(detector.name, detector.version, detector.parameters_digest, window.runs, window.concluded)
