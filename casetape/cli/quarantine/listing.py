"""`casetape quarantine list`."""

from __future__ import annotations

from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.quarantine.records import listed_json, place
from casetape.cli.render import cell, short, table, when
from workers.feed.quarantine import Listed
from workers.feed.quarantine import listing as quarantined


@verb
def listing(tenant: Tenant = None, home: Home = None, as_json: AsJson = False) -> None:
    """List what was quarantined: why, where it came from, and whether it was requeued. Without a tenant: of all."""
    chosen = settings(home=home, tenant=tenant)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    found: list[Listed] = []
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            found = list(quarantined(engine.log, engine.store, of_tenant))
    if as_json:
        print_json([listed_json(one) for one in found])
    else:
        _show(found)


def _show(found: list[Listed]) -> None:
    shown = table(
        f"{len(found):,} quarantined",
        *("id", "tenant", "what", "reason", "from", "by", "at", "bytes", "requeued"),
        right=("bytes",),
        whole=("id", "at"),
    )
    for one in found:
        record = one.record
        shown.add_row(
            cell(short(record.id), "bold"),
            cell(record.tenant),
            record.what,
            cell(f"{record.reason} ({record.code})"),
            cell(place(record.source)),
            cell(record.author),
            when(record.at, whole=True),
            f"{record.size:,}",
            "no" if one.requeued is None else cell("yes", "green"),
        )
    out.print(shown)
