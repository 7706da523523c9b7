"""What a merge policy is: a pure function from the current analyses, the case's newest event time and its options to a
decision. It changes the assessment and nothing else (I3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from schemas.analysis import Analysis
from schemas.canonical import Json
from schemas.verdicts import Verdict


class Decision(NamedTuple):
    """What a policy decides: verdict, score in millionths, and the analyses (of those it was given) it rests on."""

    verdict: Verdict
    score: int
    counted: Sequence[Analysis]


PolicyFunction = Callable[[Sequence[Analysis], int | None, Mapping[str, Json]], Decision]
"""(current analyses in id order, the case's newest event time in microseconds or None, validated options). What the
options that every policy takes (`merge.policies.common`) leave out it is not shown."""

UNDECIDED = Decision("unknown", 0, ())
"""What follows from nothing."""

Function = TypeVar("Function", bound=PolicyFunction)


class NoOptions(BaseModel):
    """The options of a policy that has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def takes(model: type[BaseModel]) -> Callable[[Function], Function]:
    """Declares which options a policy takes: `@takes(MyOptions)`. A policy that declares none takes none."""

    def declare(function: Function) -> Function:
        vars(function)["Options"] = model
        return function

    return declare
