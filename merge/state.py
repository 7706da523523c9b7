"""State: a case at one moment, and the reducers that make the next one. Both collections only grow (I3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.analysis import Analysis, AnalysisKey
from schemas.observation import Observation

Kept = Observation | Analysis
"""What a state holds: evidence or interpretation."""


@dataclass(frozen=True, slots=True)
class State:
    """A case at one moment, by id: `inputs` are the evidence, `analyses` the interpretations."""

    inputs: Mapping[str, Observation] = field(default_factory=dict)
    analyses: Mapping[str, Analysis] = field(default_factory=dict)


def add_input(state: State, observation: Observation) -> State:
    """The state with this observation (its id computed); itself where it has it already."""
    return add(state, [observation])


def add_analysis(state: State, analysis: Analysis) -> State:
    """The state with this analysis (its id computed); itself where it has it already."""
    return add(state, [analysis])


def add(state: State, kept: Iterable[Kept]) -> State:
    """Both reducers over many records at the cost of one copy."""
    inputs: dict[str, Observation] = {}
    analyses: dict[str, Analysis] = {}
    for one in kept:
        if isinstance(one, Observation):
            if one.id not in state.inputs:
                inputs.setdefault(one.id, one)
        elif one.id not in state.analyses:
            analyses.setdefault(one.id, one)
    if not inputs and not analyses:
        return state
    return State({**state.inputs, **inputs}, {**state.analyses, **analyses})


def current(state: State) -> dict[AnalysisKey, Analysis]:
    """Of each detector and fingerprint the analysis that counts: the greatest by `Analysis.order`."""
    return greatest({}, state.analyses.values())


def greatest(known: Mapping[AnalysisKey, Analysis], more: Iterable[Analysis]) -> dict[AnalysisKey, Analysis]:
    """The current analyses once `more` stand beside those that are `known` to be current."""
    out = dict(known)
    for one in more:
        key = one.key
        rival = out.get(key)
        if rival is None or one.order > rival.order:
            out[key] = one
    return out
