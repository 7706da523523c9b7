"""The quick reading of branch versions against that by the models: it takes nothing that they refuse, and gives the
same; what it leaves to them is decided as ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from engines.log import LogRecord
from merge import branches, written
from merge.branches import Branch, no_secrets, read_branch
from merge.contents import outlined, parted
from schemas.analysis import Analysis
from schemas.canonical import canonical_bytes
from schemas.digests import digest
from schemas.errors import InputError, NotCanonical, RecordInvalid
from schemas.observation import DEPTH_LIMIT, Observation, ObservationContent
from schemas.scales import AHEAD, FLOOR, LIMIT
from schemas.version import Author, Header, StateVersion
from tests import factories
from tests.strategies import versions

Outcome = Branch | tuple[type[InputError], str]
SECRET = b"of the tenant"
STRANGE = factories.observation(
    2, data={"ts": 1588248000.25, "big": 10**30, "ä": ["\u2028", None, {"x": 1e-7}], "n": -0.0}, flags=("clock",)
)
BASES = (
    factories.finding(1),
    factories.finding(2, subject="user:jürgen ☃ \U0001f600", text='why "\\/" \n null', target="t"),
    factories.branch(STRANGE, factories.observation(3, text="null"), factories.analysis(4, on=(STRANGE,), at=None)),
)
LENGTHS = (0, 1, 64, 65, 128, 129, 256, 257, 512, 513)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, FLOOR - 1, FLOOR, LIMIT - 1, LIMIT, 1_000_001]),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e16, 1e-7, float("nan"), float("inf")]),
    st.sampled_from(["", "\x00", "\x7f\u2028", "☃", "person:kim", "person", "detectors", "suspicious", "clock"]),
    st.sampled_from(LENGTHS).map(lambda length: "\U0001f600" * length),
    st.sampled_from([[], {}, [1], ["clock"], {"data": {}}, {"n": 1}, {"text": "x", "data": None, "sealed": None}]).map(
        deepcopy
    ),
)


def by_models(record: LogRecord, secret_of: branches.SecretOf = no_secrets) -> Branch:
    return branches._any(record, secret_of, record.appended_at + AHEAD)


def outcome(read: Callable[[LogRecord], Branch], value: bytes) -> Outcome:
    try:
        return read(LogRecord(0, factories.CASE, value, factories.START))
    except InputError as error:
        return type(error), str(error)


def same(value: bytes) -> None:
    assert outcome(read_branch, value) == outcome(by_models, value)


def quick(version: StateVersion, secret: bytes | None = None) -> bool:
    record = LogRecord(0, version.case, version.encode(), factories.START)
    found = branches._usual(record, lambda tenant: secret, factories.START + AHEAD)
    assert found is None or found == by_models(record, lambda tenant: secret)
    return found is not None


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in a JSON value."""
    if path:
        yield path
    for name, inner in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(inner, (*path, name))


def change(body: dict[str, Any], data: st.DataObject) -> None:
    """One edit somewhere: a value set, a field dropped, added, put last or renamed."""
    *path, last = data.draw(st.sampled_from(list(places(body))))
    node: Any = body
    for name in path:
        node = node[name]
    kind = data.draw(st.sampled_from(["set", "set", "drop", "last", "add", "rename"]))
    if kind == "set" or isinstance(node, list):
        node[last] = data.draw(values)
    elif kind == "add":
        node[data.draw(st.sampled_from(["more", "schema_", "id", "key_id", "text"]))] = data.draw(values)
    else:
        held = node.pop(last)
        if kind == "last":
            node[last] = held
        elif kind == "rename":
            node[f"{last}_"] = held


def rehash(body: dict[str, Any]) -> None:
    """Gives everything the id of what it says, as far as it says something: an attacker can do that."""
    try:
        for one in body["contents"]:
            held = one["body"]
            if held["id"].startswith("ana_"):
                said = {name: value for name, value in held.items() if name != "id"}
            else:
                content = {name: value for name, value in held["content"].items() if value is not None}
                said = {"content": content, **{name: held[name] for name in ("at", "kind", "origin", "subject")}}
                said["tenant"] = held["tenant"]
            one["id"] = held["id"] = digest(held["id"][:3], canonical_bytes(said))
        ids = sorted(one["id"] for one in body["contents"])
        header = body["header"]
        header["inputs"] = [one for one in ids if one.startswith("inp_")]
        header["analyses"] = [one for one in ids if one.startswith("ana_")]
        body["id"] = digest("ver", canonical_bytes(header))
    except (KeyError, TypeError, AttributeError, NotCanonical):
        return


FORMS: tuple[Callable[[Any], str], ...] = (
    lambda body: json.dumps(body, separators=(",", ":"), ensure_ascii=False),
    lambda body: json.dumps(body, ensure_ascii=False),
    lambda body: json.dumps(body, separators=(",", ":")),
)


@given(st.data())
def test_both_say_the_same_of_any_edit(data: st.DataObject) -> None:
    body = json.loads(data.draw(st.sampled_from(BASES)).encode())
    for _ in range(data.draw(st.integers(0, 2))):
        change(body, data)
    if data.draw(st.booleans()):
        rehash(body)
    same(data.draw(st.sampled_from(FORMS))(body).encode("utf-8", "surrogatepass"))


@given(st.data())
def test_both_say_the_same_of_damaged_bytes(data: st.DataObject) -> None:
    value = bytearray(data.draw(st.sampled_from(BASES)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    same(bytes(value))


@given(versions)
def test_both_say_the_same_of_any_version(version: StateVersion) -> None:
    quick(version)
    same(version.encode())


@pytest.mark.parametrize("base", BASES)
def test_what_casetape_writes_is_read_quickly(base: StateVersion) -> None:
    assert quick(base)


def test_a_tenants_secret_proves_and_its_lack_does_not() -> None:
    said = factories.analysis(1).identified(SECRET)
    seen = factories.observation(1).model_copy(update={"id": ""}).proven(SECRET)
    made = factories.branch(said, seen)
    made = made.model_copy(update={"id": made.header.version_id(SECRET)})
    assert quick(made, SECRET)
    assert not quick(made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"n":1}', b'"n":1,"n":1}'),
        (b'"n":1}', b'"n":NaN}'),
        (b'"n":1}', b'"n":1e400}'),
        (b'"n":1}', b'"n":1.0e0}'),
        (b'"n":1}', b'"n":' + b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT + b"}"),
        *((b'"n":1}', b'"n":' + b"[" * levels + b"]" * levels + b"}") for levels in (300, 100_000)),
        *(
            (b'"branches"', b'"more":' + b'{"a":' * levels + b"1" + b"}" * levels + b',"branches"')
            for levels in (300, 9_999)
        ),
        (b'"id":"ver_', b'"id":"\\ud800ver_'),
        (b'"subject":"host:', b'"subject":"\\ud800host:'),
        (b'"subject":"host:', b'"subject":"\xff\xfehost:'),
        (b'"score":600000', b'"score":600000.0'),
        (b'"score":600000', b'"score":600000,"score":600000'),
        (b'"schema":1,"flags"', b'"schema":true,"flags"'),
        (b'"schema":1,"flags"', b'"schema":1.0,"flags"'),
        (b'"sealed":null},{', b'"sealed":null,"sealed":null},{'),
        (b'"branches":{}', b'"branches":{ }'),
        (b'"tenant"', b'"\\u0074enant"'),
        (b'"key_id":null,"body"', b'"body"'),
    ],
)
def test_another_way_of_writing_is_left_to_the_models(old: bytes, new: bytes) -> None:
    value = factories.finding(1).encode()
    assert old in value
    other = value.replace(old, new)
    record = LogRecord(0, factories.CASE, other, factories.START)
    assert branches._usual(record, no_secrets, factories.START + AHEAD) is None
    same(other)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("field", ["kind", "origin", "subject", "author", "version"])
def test_limits_are_those_of_the_models(field: str, length: int) -> None:
    text = "\U0001f600" * length
    body = json.loads(factories.finding(1).encode())
    header, (seen,) = body["header"], [one["body"] for one in body["contents"] if one["id"].startswith("inp_")]
    if field == "author":
        header["author"]["name"] = text
    elif field == "version":
        header["author"]["version"] = text
    else:
        seen[field] = text
    rehash(body)
    same(FORMS[0](body).encode())


@pytest.mark.parametrize("at", [FLOOR - 1, FLOOR, LIMIT - 1, LIMIT, None])
@pytest.mark.parametrize("where", ["header", "inp_", "ana_"])
def test_times_are_those_of_the_models(where: str, at: int | None) -> None:
    body = json.loads(factories.finding(1).encode())
    held = {"header": body["header"], **{one["id"][:4]: one["body"] for one in body["contents"]}}
    held[where]["at"] = at
    rehash(body)
    same(FORMS[0](body).encode())


@pytest.mark.parametrize("read", [parted, outlined])
def test_a_merged_version_of_too_many_levels_is_refused(read: Callable[[bytes], object]) -> None:
    with pytest.raises(RecordInvalid, match="not a"):
        read(factories.finding(1).encode().replace(b'"n":1}', b'"n":' + b"[" * 9_999 + b"]" * 9_999 + b"}"))


def named(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize(
    ("struct", "model"),
    [
        (written.WrittenHeader, Header),
        (written._Author, Author),
        (written._Observation, Observation),
        (written._Noticed, ObservationContent),
    ],
)
def test_fields_are_those_of_the_models(struct: Any, model: type[BaseModel]) -> None:
    """A field that is new in one of them would send every branch version to the models."""
    assert list(struct.__struct_fields__) == named(model)


@given(versions)
def test_ids_are_digests_of_the_plain_dump(version: StateVersion) -> None:
    header = version.header
    assert header.version_id() == digest("ver", canonical_bytes(header.model_dump(mode="json", by_alias=True)))
    for content in version.contents:
        if content.body is not None and content.id.startswith("ana_"):
            said = Analysis.load(content.body)
            assert said.identified().proven() == said.identified()
