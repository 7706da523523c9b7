"""What the workers of a home have counted, over all partitions."""

from __future__ import annotations

from casetape.services.starting import MANIFESTS
from engines.engine import Engine
from workers.detection.snapshot import Counts, counts_of


def counts_in(engine: Engine, prefix: str = MANIFESTS) -> Counts:
    """The sums of all partitions' counts, as of their newest snapshots: of the manifests whose names begin so."""
    total = Counts()
    for manifest in engine.store.manifests(prefix).values():
        counts, _ = counts_of(manifest)
        for field in Counts.__struct_fields__:
            setattr(total, field, getattr(total, field) + getattr(counts, field))
    return total


def unused_words(quarantined: int, faults: int) -> str:
    """What lies in quarantine: records that could not be used, and failures of plug-ins, whose records went on."""
    said = f"{quarantined:,} {'record' if quarantined == 1 else 'records'} quarantined"
    return f"{said}, {faults:,} {'failure of a plug-in' if faults == 1 else 'failures of plug-ins'}" if faults else said
