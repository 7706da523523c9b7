"""What is a name, which registered domain it belongs to, and that one name has one form."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import tldextract
from hypothesis import given
from hypothesis import strategies as st

from workers.detectors.dns.names import LONGEST_LABEL, Name, Suffixes, in_one_form, printable

SUFFIXES = Suffixes(private=True)


@pytest.mark.parametrize(
    ("query", "domain", "below"),
    [
        ("www.example.com", "example.com", "www"),
        ("WWW.Example.COM.", "example.com", "WWW"),
        ("example.com", "example.com", ""),
        ("a.b.example.co.uk", "example.co.uk", "a.b"),
        ("q+Z8/AnwaBA.x@y?z#.hidemyself.org.", "hidemyself.org", "q+Z8/AnwaBA.x@y?z#"),
        ("bücher.example.de", "example.de", "bücher"),
        ("www.bücher.de", "xn--bcher-kva.de", "www"),
        ("www.BÜCHER.de", "xn--bcher-kva.de", "www"),
        ("www.xn--bcher-kva.de", "xn--bcher-kva.de", "www"),
        ("www.example。com", "example.com", "www"),
        ("\\xbd\\xfeq.t.example.org", "example.org", "\\xbd\\xfeq.t"),
        ("a\ufffdb.example.org", "example.org", "a\ufffdb"),
        ("host.site.unlisted-suffix", "site.unlisted-suffix", "host"),
        ("dnscat.7d6701b1a8f5.ad7a", "dnscat", "7d6701b1a8f5.ad7a"),
        ("x.foo.bar.kawasaki.jp", "foo.bar.kawasaki.jp", "x"),
        ("x.city.kawasaki.jp", "city.kawasaki.jp", "x"),
    ],
)
def test_the_registered_domain(query: str, domain: str, below: str) -> None:
    """First table, rows 2 and 3: strange bytes survive; letters, dots and writing of the domain do not matter."""
    name = SUFFIXES.split(query)
    assert name is not None
    assert (name.domain, name.below) == (domain, below)


def test_private_suffixes_both_ways() -> None:
    """First table, row 26."""
    plain = Suffixes(private=False)
    for query, private, public in (
        ("www.example.uk.com", "example.uk.com", "uk.com"),
        ("a.bucket.s3.amazonaws.com", "bucket.s3.amazonaws.com", "amazonaws.com"),
        ("d1.d111111abcdef8.cloudfront.net", "d111111abcdef8.cloudfront.net", "cloudfront.net"),
    ):
        one, other = SUFFIXES.split(query), plain.split(query)
        assert one is not None
        assert other is not None
        assert (one.domain, other.domain) == (private, public)


@pytest.mark.parametrize(
    "query",
    [
        *("", ".", "..", "com", "co.uk", "uk.com", "localhost", "SCRANTON", "xkcdjfhgf", "a..", ".com", "a..com"),
        *("192.0.2.1", "192.0.2.1.", "2001:db8::1", "[2001:db8::1]", "fe80::1%eth0"),
        *("git.example.com:443", "example.com:53"),
        *("4.3.2.1.in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa", "_ldap._tcp.dc._msdcs.dmevals.local", "printer.lan"),
        *("ip-10-0-0-1.ec2.internal", "x." + "a" * (LONGEST_LABEL + 1) + ".com"),
    ],
)
def test_what_is_no_name_or_leads_nowhere(query: str) -> None:
    """First table, row 27 among them: a port makes no name, and addresses are none."""
    assert SUFFIXES.split(query) is None


@given(st.text(max_size=300) | st.lists(st.text(max_size=70), max_size=8).map(".".join))
def test_every_text_is_a_name_or_none(query: str) -> None:
    """Whatever it is, and with a dot at its end as without."""
    name = SUFFIXES.split(query)
    assert name is None or isinstance(name, Name)
    assert SUFFIXES.split(f"{query}.") == name or not query
    if name is not None:
        assert name.domain.isprintable()
        assert 0 < len(name.domain) <= 1_024
        assert in_one_form(name.domain) == name.domain


def test_no_name_plays_with_a_terminal() -> None:
    name = SUFFIXES.split("a.b\x1b[31m.com")
    assert name is not None
    assert name.domain == "b\\x1b[31m.com"
    assert printable("a\x07ü") == "a\\x07ü"


def test_the_list_is_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fetched, and nothing is written beside it."""

    def refuse(*_args: object, **_more: object) -> None:
        raise AssertionError("the suffix list was asked for over the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    home = Path(tldextract.__file__).parent
    before = sorted(home.iterdir())
    name = Suffixes(private=True).split("a.example.co.uk")
    assert name is not None
    assert name.domain == "example.co.uk"
    assert sorted(home.iterdir()) == before
