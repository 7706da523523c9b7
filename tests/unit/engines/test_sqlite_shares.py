"""How partitions are shared: completely, evenly, and moving as little as possible."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engines.log import TopicPartition
from engines.sqlite.groups import share_out

TOPICS = ("a", "b", "c")
names = st.sampled_from([f"member {number}" for number in range(7)])
partitions = st.sets(st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 7)), max_size=24).map(sorted)
members = st.dictionaries(names, st.sets(st.sampled_from(TOPICS)), max_size=7)
equals = st.sets(names, min_size=1).map(lambda some: {one: set(TOPICS) for one in some})
owners = st.dictionaries(st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 7)), names)


def retained(
    at: list[TopicPartition], who: dict[str, set[str]], now: dict[TopicPartition, str]
) -> dict[TopicPartition, str]:
    """What living members own now, and may go on owning."""
    return {one: now[one] for one in at if one in now and one.topic in who.get(now[one], ())}


@given(partitions, members, owners)
def test_complete_allowed_and_level(
    at: list[TopicPartition], who: dict[str, set[str]], now: dict[TopicPartition, str]
) -> None:
    shares = share_out(at, who, now)
    wanted = {topic for topics in who.values() for topic in topics}
    assert set(shares) == {one for one in at if one.topic in wanted}
    loads = Counter(shares.values())
    for one, owner in shares.items():
        assert one.topic in who[owner]
        assert all(loads[owner] - loads[other] < 2 for other in who if one.topic in who[other])


@given(partitions, equals, owners)
def test_members_with_equal_topics_differ_by_at_most_one_and_as_few_as_possible_move(
    at: list[TopicPartition], who: dict[str, set[str]], now: dict[TopicPartition, str]
) -> None:
    shares = share_out(at, who, now)
    loads = Counter(shares.values())
    each, over = divmod(len(at), len(who))
    assert sorted(loads[member] for member in who) == [each] * (len(who) - over) + [each + 1] * over
    kept = retained(at, who, now)
    before = sorted((Counter(kept.values())[member] for member in who), reverse=True)
    unavoidable = sum(max(0, load - each - (place < over)) for place, load in enumerate(before))
    assert sum(shares[one] != owner for one, owner in kept.items()) == unavoidable


@given(partitions, members, owners)
def test_what_is_shared_out_stays(
    at: list[TopicPartition], who: dict[str, set[str]], now: dict[TopicPartition, str]
) -> None:
    shares = share_out(at, who, now)
    assert share_out(at, who, shares) == shares


@given(partitions, equals, owners)
def test_handing_back_first_comes_to_the_same_balance_without_taking_back(
    at: list[TopicPartition], who: dict[str, set[str]], now: dict[TopicPartition, str]
) -> None:
    """A partition that should move is free between two owners: its former owner must not be given it again."""
    kept = retained(at, who, now)
    shares = share_out(at, who, now)
    freed = {one: owner for one, owner in kept.items() if shares[one] == owner}
    again = share_out(at, who, freed)
    assert all(again[one] == owner for one, owner in freed.items())
    assert all(again[one] != kept[one] for one in kept if one not in freed)
