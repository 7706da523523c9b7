"""What the verbs about one case share: its key, its versions, and its contents, proved before they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple, TypeVar

import typer

from casetape.cli.render import case_name
from engines.engine import Engine
from merge.reading import envelopes, head_number, versions
from merge.state import Kept
from schemas.analysis import Analysis
from schemas.errors import EngineError, InputError, UnknownCase, UsageError
from schemas.keys import parse_case
from schemas.observation import Observation
from schemas.scales import FLOOR
from schemas.version import Content, StateVersion, genesis

T = TypeVar("T")

Case = Annotated[
    str, typer.Argument(metavar="CASE", help="tenant/subject; `default/` may be left out.", show_default=False)
]
PAGE = 256
_HINTS = 3


def key_of(case: str) -> str:
    """The key that a CASE argument names. Raises UsageError."""
    try:
        return str(parse_case(case))
    except UnicodeDecodeError:
        raise UsageError(f"`{case}` does not name a case: what is percent-encoded in it is no UTF-8") from None


def known(engine: Engine, case: str) -> int:
    """The number of a case's newest version. Raises UnknownCase, which names cases that were probably meant: those
    that have this subject behind a type."""
    try:
        return head_number(engine.store, case)
    except UnknownCase:
        tenant, subject = parse_case(case)
        rows = engine.store.cases(tenant, order="key")
        meant = [case_name(one.key) for one in rows if one.subject.partition(":")[2] == subject]
        hint = f"; did you mean {' or '.join(meant[:_HINTS])}?" if meant else ""
        raise UnknownCase(f"there is no case `{case}`{hint}") from None


def genesis_id(case: str) -> str:
    """The id of a case's version 0."""
    return genesis(*parse_case(case)).version_id()


def version_at(engine: Engine, case: str, number: int) -> StateVersion:
    """Version `number` (from 1) of a case, proved. Raises UnknownVersion; EngineError where it does not verify."""
    version = next(versions(engine.store, case, number, number, engine.log))
    try:
        return version.proven()
    except InputError as error:
        raise _unproved(case, f"version {number}", error) from None


def version_id(engine: Engine, case: str, number: int) -> str:
    """The id of version `number` of a case. Raises what `version_at` raises."""
    return version_at(engine, case, number).id if number else genesis_id(case)


class Brought(NamedTuple):
    """A content's id, and the number of the version that brought it."""

    id: str
    number: int


def last_brought(engine: Engine, case: str, number: int, prefix: str, limit: int | None) -> list[Brought]:
    """Contents of one sort (`inp_` or `ana_`) that versions up to `number` brought, by version and id: the last
    `limit`, or all. Reads no further back than it must."""
    found: list[Brought] = []
    last = number
    while last > 0 and (limit is None or len(found) < limit):
        first = max(1, last - PAGE + 1)
        page = versions(engine.store, case, first, last, engine.log)
        found[:0] = [Brought(one, version.number) for version in page for one in _ids(version, prefix)]
        last = first - 1
    return found if limit is None else found[max(0, len(found) - limit) :]


def proved(engine: Engine, case: str, ids: Iterable[str]) -> dict[str, Kept]:
    """By id: contents of a case, each proved by its id. Raises EngineError where one is lost or does not verify."""
    out: dict[str, Kept] = {}
    for identifier, body in envelopes(engine.store, case, ids, engine.log).items():
        try:
            out[identifier] = Content.parse(body).opened()
        except InputError as error:
            raise _unproved(case, f"content {identifier}", error) from None
    return out


def inputs(engine: Engine, case: str, ids: Iterable[str]) -> dict[str, Observation]:
    """The same, of inputs."""
    return {one: kept for one, kept in proved(engine, case, ids).items() if isinstance(kept, Observation)}


def analyses(engine: Engine, case: str, ids: Iterable[str]) -> dict[str, Analysis]:
    """The same, of analyses."""
    return {one: kept for one, kept in proved(engine, case, ids).items() if isinstance(kept, Analysis)}


def in_order(one: Observation, number: int) -> tuple[int, int, str]:
    """Sorts inputs by the version that brought them, then by event time (without one: first), then by id."""
    return number, FLOOR if one.at is None else one.at, one.id


def pages(items: Iterable[T], size: int = PAGE) -> Iterator[Sequence[T]]:
    """The items in lists of at most `size`."""
    iterator = iter(items)
    while page := list(islice(iterator, size)):
        yield page


def _ids(version: StateVersion, prefix: str) -> tuple[str, ...]:
    return version.header.inputs if prefix == "inp_" else version.header.analyses


def _unproved(case: str, what: str, error: InputError) -> EngineError:
    return EngineError(f"{what} of `{case}` is not what was written ({error}): run `casetape cases verify {case}`")
