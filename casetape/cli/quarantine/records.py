"""What the verbs about quarantined records share: how one is named, and what is printed of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from casetape.cli import shapes
from casetape.cli.render import ELLIPSIS
from schemas.digests import QUARANTINED
from schemas.errors import UsageError
from schemas.quarantined import Source
from workers.feed.quarantine import Listed


def chosen(found: Iterable[Listed], name: str) -> Listed:
    """The record that an id, or the beginning of one, names. Raises UsageError where it names none or several."""
    start = name.removesuffix(ELLIPSIS)
    if not start.startswith(f"{QUARANTINED}_"):
        start = f"{QUARANTINED}_{start}"
    fits = [one for one in found if one.record.id.startswith(start)]
    if not fits:
        raise UsageError(f"nothing quarantined has the id `{name}`: see `casetape quarantine list`")
    if len(fits) > 1:
        raise UsageError(f"`{name}` is the beginning of {len(fits)} ids: give more of it")
    return fits[0]


def listed_json(one: Listed) -> dict[str, Any]:
    """A row of `quarantine list`."""
    record = one.record
    return {
        "id": record.id,
        "tenant": record.tenant,
        "what": record.what,
        "code": record.code,
        "reason": record.reason,
        "author": record.author,
        "source": record.source.model_dump(mode="json", exclude_none=True, exclude={"options"}),
        "at": shapes.time(record.at),
        "size": record.size,
        "requeued": None
        if one.requeued is None
        else {"at": shapes.time(one.requeued.at), "observation": one.requeued.observation},
    }


def place(source: Source) -> str:
    """`file:line` or `topic[partition]@offset`."""
    if source.file is not None:
        return source.file if source.line is None else f"{source.file}:{source.line}"
    if source.topic is not None:
        return f"{source.topic}[{source.partition}]@{source.offset}"
    return "-"
