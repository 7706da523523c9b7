"""The names of keys: a cluster keeps together what one script touches, and nothing meets that does not belong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from engines.redis.keys import Keys, patterns
from engines.redis.scripts import GUARDED, NAMES, script

KEYS = Keys("p")
tenants = st.from_regex(r"\A[a-z0-9][a-z0-9-]{0,5}\Z")


def tag(key: str) -> str:
    found = re.search(r"\{(.*?)\}", key)
    assert found is not None
    return found[1]


@given(tenants, st.text(min_size=1), st.text())
def test_every_name_has_one_tag_and_a_pattern(tenant: str, subject: str, owner: str) -> None:
    case = f"{tenant}/{subject}"
    of_case = KEYS.all_of_case(case)
    assert len({key_slot(key.encode()) for key in of_case}) == 1
    tags = [tag(key) for key in (KEYS.about, KEYS.of_tenant(tenant, "rows"), of_case[0], KEYS.parts(owner))]
    assert len(set(tags)) == len(tags)
    for key in (*of_case, KEYS.about, KEYS.of_tenant(tenant, "rows"), KEYS.parts(owner)):
        assert sum(re.fullmatch(one, key) is not None for one in patterns("p")) == 1


@given(st.text(), st.text())
def test_two_owners_never_share_a_key(one: str, other: str) -> None:
    assert (KEYS.parts(one) == KEYS.parts(other)) == (one == other)


def test_a_brace_is_not_what_it_is_encoded_as() -> None:
    assert KEYS.parts("{") != KEYS.parts("%7B")


def test_a_head_names_its_case() -> None:
    assert KEYS.case_of(KEYS.of_case("acme/user:%C3%A9", "head")) == "acme/user:%C3%A9"


@pytest.mark.parametrize("name", NAMES)
def test_every_script_says_what_it_is(name: str) -> None:
    """What it does, which keys it is given, and that it names none itself: a cluster would not find them."""
    text = script(name).text
    assert text.startswith("-- ")
    assert "-- KEYS: " in text
    assert ("function behind" in text) == (name in GUARDED)
    assert not re.search(r"redis\.call\('[A-Z]+', '", text)
