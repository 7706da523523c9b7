"""Options that several verbs have."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from casetape.settings import PolicySettings, Settings
from schemas.errors import UsageError
from workers.feed.options import FeedOptions


class Said(StrEnum):
    """The verdicts, mildest first."""

    benign = "benign"
    unknown = "unknown"
    suspicious = "suspicious"
    malicious = "malicious"


class Severe(StrEnum):
    """The severities, mildest first."""

    info = "info"
    low = "low"
    medium = "medium"
    high = "high"
    critical = "critical"


Subject = Annotated[str | None, typer.Option("--subject", help="Whom it is about, for example host:10.0.0.5.")]
Origin = Annotated[str | None, typer.Option("--origin", help="The sensor, of records that name none.")]
PolicyName = Annotated[
    str | None, typer.Option("--policy", help="worst, quorum, noisy-or, trust-order or an installed one.")
]
PolicyOptions = Annotated[
    list[str] | None,
    typer.Option("--policy-option", metavar="NAME=VALUE", help="Of the policy; the value is JSON, or else text."),
]


def feed_options(chosen: Settings, kind: str, subject: str | None, **of_text: Any) -> FeedOptions:
    """How something is fed, by the settings and the flags; `of_text` are those of a text. Raises UsageError."""
    return FeedOptions(
        tenant=chosen.tenant,
        kind=kind,
        subject=subject,
        origin=chosen.origin,
        subjects=chosen.subjects,
        mappings=chosen.mappings,
        zeek_fields=chosen.zeek_fields,
        **of_text,
    )


def listed(text: str | None) -> tuple[str, ...] | None:
    """Names with commas between, or None."""
    return None if text is None else tuple(name.strip() for name in text.split(","))


def chosen_policy(name: str | None, options: list[str] | None) -> PolicySettings | None:
    """The policy that the flags name, or None. Raises UsageError."""
    if name is None:
        if options:
            raise UsageError("--policy-option needs --policy")
        return None
    return PolicySettings(name=name, options=dict(_pair(option) for option in options or []))


def _pair(option: str) -> tuple[str, Any]:
    name, equals, value = option.partition("=")
    if not equals or not name:
        raise UsageError(f"`{option}` is not NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        # what is no JSON is text; a list of detectors is easier to write with commas
        return name, value.split(",") if "," in value else value
