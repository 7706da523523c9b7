"""`casetape home`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from casetape.cli import shapes
from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.render import cell, room, span, when
from casetape.home import HomeUse, TopicUse, use_of
from casetape.settings import Settings
from engines.sizes import Size

MIB = 1024 * 1024
DAY = 24 * 60 * 60
_TOPICS = (
    Column("topic", whole=True),
    Column("records", right=True, whole=True),
    Column("MiB", right=True, whole=True),
    Column("oldest", whole=True, goes=1),
    Column("newest", whole=True, goes=2),
    Column("keeps", floor=8),
)
_STORE = (Column("what", floor=24), Column("how many", right=True, whole=True), Column("MiB", right=True, whole=True))


@verb
def home(home: Home = None, as_json: AsJson = False) -> None:
    """Show where the data lies and what takes how much room: topics with what they keep, the store, and what is free.
    Bytes are those on the disk, compressed."""
    chosen = settings(home=home)
    with reading(chosen) as engine:
        use = use_of(engine)
    if as_json:
        print_json(use_json(use, chosen))
    else:
        _show(use, chosen)


def use_json(use: HomeUse, chosen: Settings) -> dict[str, Any]:
    """The use as `--json` prints it."""
    store, space = use.store, use.space
    return {
        "home": str(chosen.home),
        "topics": [
            {
                "topic": one.topic,
                "records": one.records,
                "bytes": one.bytes,
                "oldest": shapes.time(one.oldest),
                "newest": shapes.time(one.newest),
                "keeps": dict(zip(("days", "mib"), _bounds(chosen, one.topic), strict=True)),
            }
            for one in use.topics
        ],
        "store": {
            "cases": store.cases,
            "versions": _size(store.versions),
            "pruned": store.pruned,
            "remains": _size(store.remains),
            "contents": store.contents,
            "snapshots": _size(store.snapshots),
            "windows": {group: _size(size) for group, size in use.windows.items()},
            "notes": {name: _size(size) for name, size in store.notes.items()},
            "keeps": {"versions": chosen.keep_versions or None},
        },
        "bytes": None
        if space is None
        else {
            "file": space.file,
            "beside": space.beside,
            "data": space.data,
            "free": space.free,
            "other": use.other,
        },
    }


def _bounds(chosen: Settings, topic: str) -> tuple[float | None, float | None]:
    """Days and MiB that a topic keeps."""
    days = {str(name): one for name, one in chosen.retention.items()}
    mib = {str(name): one for name, one in chosen.retention_mib.items()}
    return days.get(topic), mib.get(topic)


def _size(size: Size) -> dict[str, int]:
    return {"count": size.count, "bytes": size.bytes}


def _mib(size: int) -> str:
    return f"{size / MIB:,.1f}"


def _show(use: HomeUse, chosen: Settings) -> None:
    out.print(cell(str(chosen.home), "bold"))
    if use.space is not None:
        beside = f", {_mib(use.space.beside)} of them beside the file" if use.space.beside else ""
        out.print(cell(f"{_mib(use.space.file + use.space.beside)} MiB on the disk{beside}"))
    out.print()
    rows = [_topic_row(one, chosen) for one in use.topics]
    out.print(fitted("topics", _TOPICS, rows, out.width))
    out.print(_store_table(use))


def _topic_row(one: TopicUse, chosen: Settings) -> list[str]:
    days, mib = _bounds(chosen, one.topic)
    kept = [span(days * DAY)] if days is not None else []
    kept += [room(mib)] if mib is not None else []
    times = (when(at, whole=True) for at in (one.oldest, one.newest))
    return [one.topic, f"{one.records:,}", _mib(one.bytes), *times, ", ".join(kept) or "for ever"]


def _store_table(use: HomeUse) -> Table:
    rows = [
        [what, "" if many is None else f"{many:,}", "" if size is None else _mib(size)]
        for what, many, size in _store(use)
    ]
    return fitted("store and file", _STORE, rows, out.width)


def _store(use: HomeUse) -> Iterator[tuple[str, int | None, int | None]]:
    """What there is, how many, and its bytes."""
    store, space = use.store, use.space
    yield "cases", store.cases, None
    yield "versions, with contents", store.versions.count, store.versions.bytes
    yield "older versions, on the tape only", store.pruned, None
    yield "what is current of those", store.remains.count, store.remains.bytes
    yield "contents known", store.contents, None
    yield "snapshots of cases", store.snapshots.count, store.snapshots.bytes
    for group, size in use.windows.items():
        yield f"windows of {group}", size.count, size.bytes
    for name, size in store.notes.items():
        yield f"notes: {name}", size.count, size.bytes
    yield "topics", None, sum(one.bytes for one in use.topics)
    if space is not None:
        yield "indexes, ids and ends of pages", None, use.other
        yield "free, for what comes next", None, space.free
        yield "all data", None, space.data
