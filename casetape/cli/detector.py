"""`casetape detector`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined, to_jsonable_python

from casetape.cli.common import AsJson, Home, out, print_json, settings, verb
from casetape.cli.render import cell, json_text, lines_of, table
from schemas.scales import SECOND
from workers.detection.plugin import Detector
from workers.detection.registry import Found, Registry, discover
from workers.detection.windowed import WindowedDetector

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
    """List the detectors that `casetape run` would use, and those that were refused, with the reason."""
    chosen = settings(home=home, plugins=plugins)
    # a plug-in that prints while it is imported must not get between us and whoever reads our output
    with contextlib.redirect_stdout(sys.stderr):
        registry = discover(chosen.plugins)
    if as_json:
        print_json(
            {
                "detectors": [_shape(name, found) for name, found in sorted(registry.found.items())],
                "refused": [one._asdict() for one in registry.refused],
            }
        )
    else:
        _show(registry)


def parameters(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """By name: a parameter's default as a JSON value (null and `required` where it has none), and what it is for."""
    found = {}
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        required = default is PydanticUndefined
        found[name] = {
            "default": None if required else to_jsonable_python(default, fallback=str),
            "required": required,
            "description": field.description,
        }
    return found


def window(kind: type[Detector]) -> dict[str, float] | None:
    """Length and step of its window in seconds; None where it has none."""
    if not issubclass(kind, WindowedDetector):
        return None
    return {"length": kind.window.length / SECOND, "every": kind.window.every / SECOND}


def _shape(name: str, found: Found) -> dict[str, Any]:
    kind = found.kind
    return {
        "name": name,
        "version": str(kind.version),
        "kinds": [str(one) for one in kind.kinds],
        "window": window(kind),
        "parameters": parameters(kind.Parameters),
        "source": found.source,
    }


def _show(registry: Registry) -> None:
    shown = table("detectors", "name", "version", "kinds", "window", "parameters", "source")
    for name, found in sorted(registry.found.items()):
        shape = _shape(name, found)
        span = shape["window"]
        shown.add_row(
            cell(name, "bold"),
            cell(shape["version"]),
            cell(", ".join(shape["kinds"])),
            cell("-" if span is None else f"{_hours(span['length'])} every {_hours(span['every'])}"),
            lines_of(cell(_parameter(one, about)) for one, about in shape["parameters"].items()),
            cell(found.source),
        )
    out.print(shown)
    if registry.refused:
        refused = table("refused", "name", "reason", "source")
        for one in registry.refused:
            refused.add_row(cell(one.name, "bold"), cell(one.reason, "red"), cell(one.source))
        out.print(refused)


def _parameter(name: str, about: dict[str, Any]) -> str:
    return f"{name} (required)" if about["required"] else f"{name} = {json_text(about['default'], indent=None)}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds:g} s"
