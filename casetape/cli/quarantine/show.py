"""`casetape quarantine show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.quarantine.records import chosen, listed_json, place
from casetape.cli.render import cell, when
from workers.feed.quarantine import Listed
from workers.feed.quarantine import listing as quarantined

Identifier = Annotated[
    str, typer.Argument(metavar="ID", help="Its id, or as much of the beginning as no other has.", show_default=False)
]
_WIDTH = 16


@verb
def show(identifier: Identifier, home: Home = None, as_json: AsJson = False) -> None:
    """Show a quarantined record with its bytes: as text where they are text, else as a hexadecimal dump."""
    with reading(settings(home=home)) as engine:
        found = chosen(quarantined(engine.log, engine.store), identifier)
    text = text_of(found.record.data)
    if as_json:
        record = found.record
        beside = {"subject": record.subject, "options": record.source.options, "cut": record.cut}
        payload = {"payload_digest": record.payload_digest, "payload": record.payload, "text": text}
        print_json({**listed_json(found), **beside, **payload})
    else:
        _print(found, text)


def text_of(data: bytes) -> str | None:
    """The text that the bytes are, or None where they are no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def hex_dump(data: bytes) -> Iterator[str]:
    """Lines of offset, 16 bytes in hexadecimal, and what of them is visible ASCII."""
    for start in range(0, len(data), _WIDTH):
        some = data[start : start + _WIDTH]
        seen = "".join(chr(one) if 0x20 <= one < 0x7F else "." for one in some)
        yield f"{start:08x}  {some.hex(' '):<{3 * _WIDTH - 1}}  {seen}"


def _print(found: Listed, text: str | None) -> None:
    record = found.record
    cut = ", only the beginning of which was kept" if record.cut else ""
    out.print(cell(record.id, "bold"))
    out.print(cell(f"{record.what} of tenant {record.tenant}, from {place(record.source)}, by {record.author}"))
    out.print(cell(f"{record.reason} ({record.code})", "red"))
    out.print(cell(f"quarantined {when(record.at)}, {record.size:,} bytes{cut}"))
    if found.requeued is not None:
        out.print(cell(f"requeued {when(found.requeued.at)} as {found.requeued.observation}", "green"))
    out.print(cell("\nits bytes, as text:" if text is not None else "\nits bytes, in hexadecimal:", "dim", lines=True))
    if text is not None:
        out.print(cell(text, lines=True))
        return
    for line in hex_dump(record.data):
        out.print(cell(line))
