"""What stands of a fingerprint when words are taken back."""

from __future__ import annotations

from tests.factories import START, analysis
from workers.detection.standing import KEPT, Standing


def test_a_word_that_nothing_was_taken_back_over_stands_as_it_was_said() -> None:
    standing = Standing()
    assert standing.say(10, analysis(1, at=START)) is None


def test_what_is_taken_back_lets_the_earlier_word_stand_again_as_new() -> None:
    standing = Standing()
    earlier = analysis(1, at=START)
    standing.say(10, earlier)
    standing.say(20, analysis(2, at=START + 5))
    again = standing.take_back(20, START + 9)
    assert again == earlier.model_copy(update={"at": START + 9})


def test_where_nothing_stands_the_time_to_say_so_is_told() -> None:
    standing = Standing()
    standing.say(20, analysis(2, at=START + 5))
    assert standing.take_back(20, START + 9) == START + 9
    assert standing.take_back(30, START + 7) == START + 9


def test_a_later_word_of_an_earlier_window_is_said_over_what_was_taken_back() -> None:
    standing = Standing()
    standing.say(20, analysis(2, at=START + 5))
    standing.take_back(20, START + 9)
    final = analysis(1, at=START)
    assert standing.say(10, final) == final.model_copy(update={"at": START + 9})


def test_a_word_that_is_newer_needs_no_help() -> None:
    standing = Standing()
    standing.take_back(20, START + 9)
    assert standing.say(30, analysis(3, at=START + 10)) is None


def test_a_windows_new_word_replaces_its_old_one_and_few_windows_are_kept() -> None:
    standing = Standing()
    for end in range(20):
        standing.say(end, analysis(end, at=START + end))
        standing.say(end, analysis(end, at=START + end))
    assert [end for end, _ in standing.words] == list(range(20 - KEPT, 20))
