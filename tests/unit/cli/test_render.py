"""Rendering: untrusted text becomes visible text, and nothing else of it changes."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from casetape.cli import render
from schemas.scales import MILLION

anything = st.text(st.characters())
"""Any characters, lone surrogates too."""


@given(anything)
def test_plain_text_is_visible_whatever_it_was(text: str) -> None:
    assert render.plain(text).isprintable()
    assert render.plain(text, lines=True).replace("\n", "").replace("\t", "").isprintable()


@given(anything)
def test_visible_text_stays_as_it_is(text: str) -> None:
    visible = "".join(one for one in text if one.isprintable())
    assert render.plain(visible) == visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("a\r\nb", "a\\r\\nb"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("[red]x[/red]", "[red]x[/red]"),
        ("Grüße, 日本", "Grüße, 日本"),
    ],
)
def test_what_is_not_visible_is_spelled_out(text: str, seen: str) -> None:
    assert render.plain(text) == seen


def test_lines_are_kept_where_they_are_wanted() -> None:
    assert render.plain("a\n\tb\r\x1b", lines=True) == "a\n\tb\\r\\x1b"


@given(st.text(st.characters(categories=["Lu", "Ps", "Pe", "Po", "Cc", "Cf"]), min_size=1, max_size=40))
def test_a_cell_is_printed_as_it_reads(text: str) -> None:
    """On a terminal with colours: no markup is read, no control character gets through."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="truecolor", width=1000)
    console.print(render.cell(text))
    assert file.getvalue().rstrip("\n") == render.plain(text)


@given(
    st.recursive(anything | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(anything, inner))
)
def test_json_reads_back_as_the_same_value(value: object) -> None:
    text = render.json_text(value)
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("millionths", "seen"),
    [(0, "0.000"), (1, "0.000"), (399_999, "0.399"), (400_000, "0.400"), (999_999, "0.999"), (MILLION, "1.000")],
)
def test_a_score_never_looks_as_if_it_had_reached_a_threshold(millionths: int, seen: str) -> None:
    assert render.share(millionths) == seen


def test_times() -> None:
    assert render.when(None) == "-"
    assert render.when(1_500_000) == "1970-01-01T00:00:01.500000Z"
    assert render.when(1_500_000, whole=True) == "1970-01-01T00:00:01Z"
    assert render.when(-500_000, whole=True) == "1969-12-31T23:59:59Z"


def test_ids_are_cut_and_other_text_is_not() -> None:
    assert render.short("inp_0123456789abcdef") == "inp_01234567\u2026"
    assert render.short("inp_01234567") == "inp_01234567"
    assert render.short("something else") == "something else"


@pytest.mark.parametrize(
    ("seconds", "seen"),
    [
        *((0, "0 s"), (0.001, "1 s"), (0.864, "1 s"), (59, "59 s"), (60, "1 min"), (864, "14 min"), (5_400, "1.5 h")),
        *((86_400, "1 day"), (7 * 86_400, "7 days"), (7.5 * 86_400, "7.5 days"), (36_500 * 86_400, "36,500 days")),
    ],
)
def test_how_long_something_lasts(seconds: float, seen: str) -> None:
    assert render.span(seconds) == seen


@pytest.mark.parametrize(
    ("mib", "seen"),
    [(1.5, "1.5 MiB"), (0.01, "10 KiB"), (1e-05, "10 B"), (1e-9, "0 B"), (64, "64 MiB"), (1e6, "1,000,000 MiB")],
)
def test_how_much_something_is(mib: float, seen: str) -> None:
    assert render.room(mib) == seen


@given(st.text(), st.integers(3, 40))
def test_what_is_too_long_loses_its_middle(text: str, limit: int) -> None:
    seen = render.middle(text, limit)
    assert len(seen) == min(len(text), limit)
    if len(text) <= limit:
        assert seen == text
    else:
        start, _, end = seen.partition(render.ELLIPSIS)
        assert render.ELLIPSIS in text or (text.startswith(start) and text.endswith(end) and start and end)


def test_counts() -> None:
    assert [render.count(n, "case") for n in (0, 1, 1200)] == ["0 cases", "1 case", "1,200 cases"]
    assert render.count(2, "analysis", "analyses") == "2 analyses"
