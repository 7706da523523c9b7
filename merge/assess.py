"""From a policy's decision to the assessment that a version carries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from heapq import nsmallest
from operator import attrgetter

from merge.policies.common import left_out
from merge.policies.contract import Decision
from merge.policies.registry import WORST, BoundPolicy
from schemas.analysis import Analysis
from schemas.assessment import SHOWN, Assessment, Conflict
from schemas.digests import set_digest
from schemas.scales import MILLION
from schemas.verdicts import VERDICTS, severity_of

POLICY_FAILED = "policy_failed"
CONFLICT = "conflict"
_ID = attrgetter("id")


def assess(current: Iterable[Analysis], newest: int | None, policy: BoundPolicy) -> Assessment:
    """The assessment of a case whose current analyses are these and whose newest event time (microseconds) is `newest`.

    What the options that every policy takes leave out is seen by no policy, and contradicts nothing. A policy that
    raises or decides what is no decision costs its own word only: `worst` decides instead, and the case is up for
    review (I9).
    """
    everything = sorted(current, key=_ID)
    away = left_out(everything, newest, policy.common)
    seen = tuple(one for one in everything if one.id not in away)
    review = []
    decision = _decided(seen, newest, policy)
    if decision is None:
        decision = WORST.function(seen, newest, WORST.options)
        review.append(POLICY_FAILED)
    conflicts = conflicts_of(seen)
    if conflicts:
        review.append(CONFLICT)
    counted = {one.id: one for one in decision.counted}
    return Assessment(
        verdict=decision.verdict,
        score=decision.score,
        severity=severity_of(decision.score),
        counted=_shown(counted.values()),
        counted_total=len(counted),
        counted_digest=set_digest(counted),
        conflicts=tuple(conflicts[:SHOWN]),
        conflicts_total=len(conflicts),
        review=tuple(sorted(review)),
        policy=policy.name,
        options=policy.recorded,
    )


def conflicts_of(analyses: Iterable[Analysis]) -> list[Conflict]:
    """Every target that some of these call benign and some malicious, by target. Of a long list both sides are shown,
    each by its heaviest."""
    sides: dict[str, tuple[list[Analysis], list[Analysis]]] = {}
    for one in analyses:
        if one.target is not None and one.verdict in ("benign", "malicious"):
            sides.setdefault(one.target, ([], []))[one.verdict == "malicious"].append(one)
    out = []
    for target in sorted(sides):
        benign, malicious = sides[target]
        if benign and malicious:
            room = max(SHOWN // 2, SHOWN - len(malicious))
            shown = _shown(benign, room)
            out.append(Conflict(target=target, analyses=tuple(sorted(shown + _shown(malicious, SHOWN - len(shown))))))
    return out


def _shown(analyses: Collection[Analysis], limit: int = SHOWN) -> tuple[str, ...]:
    if len(analyses) <= limit:
        return tuple(sorted([one.id for one in analyses]))
    heaviest = nsmallest(limit, [(-one.weight, one.id) for one in analyses])
    return tuple(sorted([identifier for _, identifier in heaviest]))


def _decided(seen: Sequence[Analysis], newest: int | None, policy: BoundPolicy) -> Decision | None:
    """The policy's decision, or None where it broke its contract."""
    try:
        decision = Decision(*policy.function(seen, newest, dict(policy.options)))
        counted = tuple(decision.counted)
        fits = (
            decision.verdict in VERDICTS
            and type(decision.score) is int
            and 0 <= decision.score <= MILLION
            and {id(one) for one in counted} <= {id(one) for one in seen}
        )
    except (Exception, SystemExit):  # noqa: BLE001 - a user's policy may raise anything, and it is no reason to end
        return None
    return Decision(decision.verdict, decision.score, counted) if fits else None
