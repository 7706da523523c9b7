"""`casetape detector`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined, to_jsonable_python
from rich.table import Table

from casetape.cli.common import AsJson, Home, out, print_json, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.render import cell, json_text, lines_of
from casetape.settings import Settings
from schemas.scales import SECOND
from workers.detection.plugin import Detector
from workers.detection.registry import Found, Registry, create, discover
from workers.detection.windowed import WindowedDetector

_COLUMNS = (
    Column("name", whole=True),
    Column("version", goes=2),
    Column("kinds"),
    Column("window"),
    Column("parameters", floor=24),
    Column("source", goes=1),
)

app = typer.Typer(help="Look at the detectors there are.", no_args_is_help=True)


@app.callback()
def detectors() -> None:
    """Look at the detectors there are."""


@app.command("list")
@verb
def listing(
    plugins: Annotated[
        Path | None, typer.Option(help="A folder of plug-in files, beside what is installed.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List the detectors that `casetape run` would use, with the parameters that the settings give them, and those that
    were refused, with the reason."""
    chosen = settings(home=home, plugins=plugins)
    # a plug-in that prints while it is imported must not get between us and whoever reads our output
    with contextlib.redirect_stdout(sys.stderr):
        registry = discover(chosen.plugins)
        effective = in_effect(registry, chosen)
    shapes = [_shape(name, registry.found[name], values) for name, values in sorted(effective.items())]
    if as_json:
        print_json({"detectors": shapes, "refused": [one._asdict() for one in registry.refused]})
        return
    out.print(_table(shapes, out.width))
    left_out = sorted(registry.found.keys() - effective.keys())
    if left_out:
        out.print(cell(f"left out by the setting `detectors`: {', '.join(left_out)}", "dim"))
    if registry.refused:
        out.print(_refused(registry, out.width))


def in_effect(registry: Registry, chosen: Settings) -> dict[str, dict[str, Any]]:
    """By detector that a run would use: its parameters' values as JSON; none where it needs some that are not set,
    which is not wrong until it is run. Raises what a run would raise."""
    names = sorted(registry.found) if chosen.detectors is None else list(dict.fromkeys(chosen.detectors))
    waiting = {name for name in names if name in registry.found and _waits(registry.found[name], name, chosen)}
    made = create(registry, [name for name in names if name not in waiting], chosen.parameters)
    values = {one.name: one.parameters.model_dump(mode="json", fallback=str) for one in made}
    return {name: values.get(name, {}) for name in names}


def _waits(found: Found, name: str, chosen: Settings) -> bool:
    needed = any(field.is_required() for field in found.kind.Parameters.model_fields.values())
    return needed and not chosen.parameters.get(name)


def parameters(model: type[BaseModel], values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name: a parameter's default as a JSON value (null and `required` where it has none), its value in effect, and
    what it is for."""
    found = {}
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        required = default is PydanticUndefined
        shown = None if required else to_jsonable_python(default, fallback=str)
        found[name] = {
            "default": shown,
            "required": required,
            "description": field.description,
            "value": values.get(name, shown),
        }
    return found


def window(kind: type[Detector]) -> dict[str, float] | None:
    """Length and step of its window in seconds; None where it has none."""
    if not issubclass(kind, WindowedDetector):
        return None
    return {"length": kind.window.length / SECOND, "every": kind.window.every / SECOND}


def _shape(name: str, found: Found, values: dict[str, Any]) -> dict[str, Any]:
    kind = found.kind
    return {
        "name": name,
        "version": str(kind.version),
        "kinds": [str(one) for one in kind.kinds],
        "window": window(kind),
        "parameters": parameters(kind.Parameters, values),
        "source": found.source,
    }


def _table(shapes: list[dict[str, Any]], width: int) -> Table:
    rows = []
    for shape in shapes:
        span = shape["window"]
        rows.append(
            (
                cell(shape["name"], "bold"),
                cell(shape["version"]),
                cell(", ".join(shape["kinds"])),
                cell("-" if span is None else f"{_hours(span['length'])} every {_hours(span['every'])}"),
                lines_of(cell(_parameter(one, about)) for one, about in shape["parameters"].items()),
                cell(shape["source"]),
            )
        )
    return fitted("detectors", _COLUMNS, rows, width)


def _refused(registry: Registry, width: int) -> Table:
    columns = (Column("name", whole=True), Column("reason"), Column("source", goes=1))
    rows = [(cell(one.name, "bold"), cell(one.reason, "red"), cell(one.source)) for one in registry.refused]
    return fitted("refused", columns, rows, width)


def _parameter(name: str, about: dict[str, Any]) -> str:
    if about["required"] and about["value"] is None:
        return f"{name} (required)"
    said = f"{name} = {json_text(about['value'], indent=None)}"
    changed = not about["required"] and about["value"] != about["default"]
    return f"{said} (default {json_text(about['default'], indent=None)})" if changed else said


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds:g} s"
