"""Keys of cases: exact both ways, and no tenant's keys begin with another's."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.errors import UsageError
from schemas.keys import SUBJECT_LIMIT, CaseKey, case_key, parse_case, valid_subject, valid_tenant
from tests.strategies import subjects, tenants


@given(tenants, subjects)
def test_a_key_names_its_case(tenant: str, subject: str) -> None:
    key = case_key(tenant, subject)
    assert parse_case(key) == (tenant, subject)
    assert str(CaseKey(tenant, subject)) == key
    assert key.count("/") == 1
    assert key.isascii()


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        ("host:10.0.0.5", "acme/host:10.0.0.5"),
        ("a/b", "acme/a%2Fb"),
        ("100%", "acme/100%25"),
        ("a b", "acme/a%20b"),
        ("host:fe80::1%eth0", "acme/host:fe80::1%25eth0"),
        ("user:zoë", "acme/user:zo%C3%AB"),
        ("A-z.0_~", "acme/A-z.0_~"),
        ("..", "acme/.."),
    ],
)
def test_keys_are_pinned(subject: str, key: str) -> None:
    assert case_key("acme", subject) == key
    assert parse_case(key) == ("acme", subject)


@given(tenants, tenants, subjects)
def test_a_tenants_prefix_holds_no_other_tenants_key(tenant: str, other: str, subject: str) -> None:
    assume(tenant != other)
    assert not case_key(other, subject).startswith(f"{tenant}/")


def test_acme_is_not_acme_corp() -> None:
    assert parse_case("acme/x") != parse_case("acme-corp/x")
    assert not case_key("acme-corp", "x").startswith("acme/")


@given(subjects)
def test_the_default_tenant_may_be_left_out(subject: str) -> None:
    key = case_key("default", subject)
    assert parse_case(key.removeprefix("default/")) == parse_case(key)


@pytest.mark.parametrize("tenant", ["a", "0", "acme-corp", "a" * 63])
def test_tenants(tenant: str) -> None:
    assert valid_tenant(tenant)


@pytest.mark.parametrize("tenant", ["", "-a", "A", "a" * 64, "a_b", "a\n", "é", "a b", ".."])
def test_what_is_no_tenant(tenant: str) -> None:
    assert not valid_tenant(tenant)
    with pytest.raises(UsageError):
        parse_case(f"{tenant}/host:10.0.0.5")


@pytest.mark.parametrize("subject", ["x", "a b", "s" * SUBJECT_LIMIT, "名", "😀", "/", "%"])
def test_subjects(subject: str) -> None:
    assert valid_subject(subject)


@pytest.mark.parametrize(
    "subject", ["", " ", " a", "a ", "a\nb", "a\x00b", "\ud800", "s" * (SUBJECT_LIMIT + 1), "a\u200bb", "a\u2028b"]
)
def test_what_is_no_subject(subject: str) -> None:
    assert not valid_subject(subject)


@pytest.mark.parametrize("text", ["", "/", "acme/", "/x", "acme/%00", "acme/%ff", "%ff", "acme/%20x"])
def test_what_names_no_case(text: str) -> None:
    with pytest.raises(UsageError):
        parse_case(text)


@given(st.text())
def test_any_text_is_a_case_or_a_usage_error(text: str) -> None:
    try:
        found = parse_case(text)
    except UsageError:
        return
    assert parse_case(str(found)) == found
