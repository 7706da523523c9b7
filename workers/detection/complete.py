"""From what a detector says to an Analysis: who said it, of which case, on what evidence, when."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemas.analysis import Analysis, Evidence, evidence_of
from schemas.errors import PluginError
from schemas.keys import CaseKey
from schemas.observation import Observation
from schemas.persons import looks_like_a_person
from schemas.scales import AHEAD, MILLION
from workers.detection.branch import BRANCH_LIMIT
from workers.detection.calling import Call
from workers.detection.guard import Fault, Guard
from workers.detection.plugin import Detector, Finding

TITLE_LIMIT, FINGERPRINT_LIMIT = 512, 1024
TECHNIQUES_LIMIT = 100


class Basis(NamedTuple):
    """What a finding rests on. `newest`: event time of the newest evidence, microseconds, or None."""

    case: CaseKey
    evidence: Evidence
    newest: int | None
    provisional: bool = False


def on_one(observation: Observation) -> Basis:
    """The basis of a finding about a single observation."""
    at = None if "clock" in observation.flags else observation.at
    evidence = evidence_of([(observation.id, observation.at)])
    return Basis(CaseKey(observation.tenant, observation.subject), evidence, at)


def complete(
    detector: Detector, finding: Finding, basis: Basis, secret: bytes | None = None, *, now: int | None = None
) -> Analysis:
    """The analysis. Raises PluginError where the finding is not one, naming the field and never its value; and where
    it claims to be of later than a day after `now` (microseconds): it would be current for ever."""
    _check(finding)
    if now is not None and isinstance(finding.at, int) and finding.at > now + AHEAD:
        raise PluginError("returned a finding whose at lies more than a day ahead")
    try:
        analysis = _analysis(detector, finding, basis).identified(secret)
        size = len(analysis.model_dump_json().encode())
    except PluginError:
        raise
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        # deeper places are named by the plug-in's own keys, which may be content
        places = ", ".join(sorted({str(fault["loc"][0]) for fault in faults}))
        raise PluginError(f"returned a finding that does not fit its schema in: {places}") from None
    except Exception as error:  # noqa: BLE001 - what its fields hold is the plug-in's own, and may do anything
        raise PluginError(f"returned a finding that cannot be read: {type(error).__name__}") from None
    if size > BRANCH_LIMIT:
        raise PluginError(f"returned a finding of {size} bytes; at most {BRANCH_LIMIT} fit")
    return analysis


def _analysis(detector: Detector, finding: Finding, basis: Basis) -> Analysis:
    if looks_like_a_person(detector.name):
        # the registry refused such names; this one was given afterwards, and the merger would refuse the whole branch
        raise PluginError("returned a finding in a person's name")
    techniques = tuple(itertools.islice(finding.techniques, TECHNIQUES_LIMIT + 1))
    if isinstance(finding.techniques, str) or len(techniques) > TECHNIQUES_LIMIT:
        raise PluginError(f"returned a finding whose techniques are not a sequence of at most {TECHNIQUES_LIMIT}")
    return Analysis(
        tenant=basis.case.tenant,
        subject=basis.case.subject,
        detector=detector.name,
        version=detector.version,
        parameters=detector.parameters_digest,
        fingerprint=detector.name if finding.fingerprint is None else finding.fingerprint,
        target=finding.target,
        verdict=finding.verdict,
        score=_millionths("score", finding.score),
        confidence=_millionths("confidence", finding.confidence),
        title=(detector.name if finding.title is None else finding.title)[:TITLE_LIMIT],
        text=finding.text,
        techniques=techniques,
        numbers=finding.numbers,
        evidence=basis.evidence,
        at=basis.newest if finding.at is None else finding.at,
        provisional=basis.provisional,
    )


def named(detector: Detector, finding: Finding, observation: Observation, guard: Guard) -> tuple[Finding, list[Fault]]:
    """The finding with the title and fingerprint it left out asked of the detector. One that cannot be had is replaced
    by a plain one, and its fault returned: the finding itself is never lost by it. Raises PluginError where it is no
    Finding."""
    _check(finding)
    faults: list[Fault] = []
    chosen: dict[str, str] = {}
    plain = {"title": detector.name, "fingerprint": f"{detector.name} {observation.kind}"}
    for field, ask in (("title", detector.title), ("fingerprint", detector.fingerprint)):
        if getattr(finding, field) is None:
            call = Call(detector.name, observation.id)
            text = guard.call(lambda ask=ask: ask(observation), call)  # type: ignore[misc]  # mypy cannot type a bound default
            fault = _unfit(text)
            chosen[field] = plain[field] if fault is not None else str(text)
            if fault is not None:
                faults.append(Fault(fault.code, f"{field}: {fault.reason}"))
    return (with_fields(finding, chosen) if chosen else finding), faults


def with_fields(finding: Finding, changes: dict[str, Any]) -> Finding:
    """A plain finding with the same fields but these."""
    return Finding(**({one.name: getattr(finding, one.name) for one in fields(Finding)} | changes))


def _check(finding: object) -> None:
    # no subclass: its fields could be code
    if type(finding) is not Finding:
        raise PluginError(f"returned {type(finding).__name__} where a Finding was due")


def _unfit(text: object) -> Fault | None:
    if isinstance(text, Fault):
        return text
    if not isinstance(text, str):
        return Fault(PluginError.code, f"{type(text).__name__}, not a text")
    if not 0 < len(text) <= FINGERPRINT_LIMIT:
        return Fault(PluginError.code, f"{len(text)} characters; 1 to {FINGERPRINT_LIMIT} are due")
    try:
        text.encode()
    except UnicodeEncodeError:
        return Fault(PluginError.code, "half a surrogate pair in it")
    return None


def _millionths(field: str, value: float) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise PluginError(f"returned a finding whose {field} is not a number from 0 to 1")
    return round(value * MILLION)
