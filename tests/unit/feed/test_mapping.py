"""What is wrong with templates, forms of times and given columns, before anything is read with them."""

from __future__ import annotations

import datetime as dt
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RecordInvalid
from tests.unit.feed.reading import got
from workers.feed.fields import filled
from workers.feed.mapping import FieldMapping, template_fault, time_format_fault
from workers.feed.options import FeedOptions
from workers.feed.times import time_in_format
from workers.feed.zeek_columns import given_columns


@pytest.mark.parametrize("template", ["host:{id.orig_h}", "fixed", "{a}{b}", "a {b c} d", "{ Source IP}"])
def test_what_is_a_template(template: str) -> None:
    assert template_fault(template) is None


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("host:{id.orig_h", "the brace at character 6 is not closed"),
        ("{{a}}", "the brace at character 1 is not closed"),
        ("{a}}", "the brace at character 4 closes none"),
        ("}a{", "the brace at character 1 closes none"),
        ("a{}", "the braces at character 2 are empty: the name of a field stands in them"),
        ("a{ }", "the braces at character 2 are empty: the name of a field stands in them"),
        ("", "it is empty"),
        (" ", "it is empty"),
    ],
)
def test_what_is_no_template(template: str, words: str) -> None:
    assert template_fault(template) == words


@given(st.text("{}ab", min_size=1, max_size=12))
def test_a_template_that_passes_leaves_no_brace_in_what_it_makes(template: str) -> None:
    made = filled(template, {}, lambda record, field: "x")
    assert (template_fault(template) is None) == (made is not None and not {"{", "}"} & set(made))


@pytest.mark.parametrize(
    "form",
    ["%d/%b/%Y:%H:%M:%S %z", "%Y-%m-%d %H:%M:%S UTC", "%Y", "%Y%m%d", "%I:%M:%S %p %x", "%j %y 100%%", "%Z %c"],
)
def test_forms_of_times(form: str) -> None:
    assert time_format_fault(form) is None


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("YYYY-MM-dd", "it says nowhere what is read"),
        ("100%%", "it says nowhere what is read"),
        ("%Y-%m-%d %e", "'e' is a bad directive"),
        ("%s", "'s' is a bad directive"),
        ("%-d.%m.%Y", "'-' is a bad directive"),
        (" %Y%m%d", "space at an end"),
        ("%Y %", "stray %"),
        ("%Y %Y", "a directive stands in it twice"),
        ("%G-%V", "ISO"),
    ],
)
def test_forms_that_strptime_cannot_read(form: str, words: str) -> None:
    assert words in (time_format_fault(form) or "")


@given(st.lists(st.sampled_from([f"%{one}" for one in string.ascii_letters] + list("-:/ T")), max_size=6))
def test_a_form_that_passes_reads_what_it_writes(parts: list[str]) -> None:
    form = "".join(parts)
    if time_format_fault(form) is None:
        moment = dt.datetime(2023, 8, 9, 14, 5, 6, tzinfo=dt.UTC)
        assert time_in_format("at", moment.strftime(form), form) is not None


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("", "it names no column"),
        ("ts uid ts", "the column `ts` is there twice"),
        ("ts own:count own:string", "the column `own` is there twice"),
        ("ts strange", "the type of the column `strange` is not known"),
        ("ts own:float", "the type `float` of the column `own` is none that Zeek writes"),
        ("ts own:set[float]", "the type `set[float]` of the column `own` is none that Zeek writes"),
    ],
)
def test_columns_that_cannot_be_given(columns: str, words: str) -> None:
    with pytest.raises(RecordInvalid) as caught:
        given_columns(columns)
    assert str(caught.value).startswith(words)


def test_columns_that_can_be_given() -> None:
    assert given_columns("ts own:set[addr]") == (("ts", "own"), ("time", "set[addr]"))


def test_columns_that_were_recorded_before_they_were_checked_quarantine_their_lines() -> None:
    """I7: what was quarantined with a wrong setting can be read with a right one, so old choices still load."""
    options = FeedOptions.recorded({"kind": "zeek.conn", "zeek_fields": {"conn": "ts uid uid"}})
    (fault,) = got(b"1.5\ta\tb\n", options, name="x.log").faults
    assert "`uid` is there twice" in str(fault.error)
    mapping = FieldMapping(subject="user:{a", time_format="%e")
    old = FeedOptions(kind="json.idp", mappings={"idp": mapping})
    assert FeedOptions.recorded(old.chosen()) == old
