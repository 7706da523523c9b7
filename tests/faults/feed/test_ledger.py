"""Feeding a file twice adds nothing and says so, under whatever name; a grown one brings only what is new (row 24)."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from engines.engine import Engine
from tests.faults.feed.feeding import NOW, clock, conn, engine, feed, notes, quarantine, tape
from workers.feed.feeder import Feeder
from workers.feed.ledger import Entry, Mark, prune
from workers.feed.options import FeedCounts, FeedOptions

DATA = Path(__file__).parents[2] / "fixtures" / "apt29-zeek"
TEXT = FeedOptions(kind="text")


def test_the_real_days_twice(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for read, untimed, name in ((2140, 0, "day1"), (5664, 2880, "day2")):
        path = DATA / f"{name}.zeek.json.gz"
        assert feed(home, path) == FeedCounts(read=read, appended=read, untimed=untimed)
        assert feed(home, path) == FeedCounts(read=read, already_fed=read)
        plain = tmp_path / "renamed"
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        assert feed(home, plain) == FeedCounts(read=read, already_fed=read)
    assert len(tape(home)) == 2140 + 5664
    assert len(notes(home)) == 2


def test_a_grown_file_brings_only_its_new_lines_and_keeps_one_entry(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    lines = [conn(at) if at % 7 else b"bad\n" for at in range(1, 60)]
    for end in range(10, 60, 10):
        path.write_bytes(b"".join(lines[:end]))
        counts = feed(home, path)
        bad = sum(line == b"bad\n" for line in lines[end - 10 : end])
        assert counts == FeedCounts(end, 10 - bad, end - 10, bad)
    assert len(notes(home)) == 1
    assert [one.record.source.line for one in quarantine(home)] == [7, 14, 21, 28, 35, 42, 49]


def test_other_files_with_the_same_first_lines_are_their_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ends = {name: conn(0) + conn(1) + conn(at) for at, name in enumerate("abc", 10)}
    for name, content in ends.items():
        (tmp_path / name).write_bytes(content)
        assert feed(home, tmp_path / name) == FeedCounts(read=3, appended=3)
    for name in ends:
        assert feed(home, tmp_path / name) == FeedCounts(read=3, already_fed=3)
    assert len(notes(home)) == 3


def test_after_a_longer_candidate_the_feed_returns_to_the_shorter_one(tmp_path: Path) -> None:
    home, short, long = tmp_path / "home", tmp_path / "short", tmp_path / "long"
    short.write_bytes(conn(0) + conn(1))
    long.write_bytes(conn(0) + conn(2) + conn(3) + conn(4))
    assert feed(home, short).appended == 2
    assert feed(home, long).appended == 4
    short.write_bytes(conn(0) + conn(1) + conn(5) + conn(6) + conn(7))
    assert feed(home, short) == FeedCounts(read=5, appended=3, already_fed=2)


def test_a_last_line_that_is_still_being_written(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    whole = conn(0) + conn(1)
    path.write_bytes(whole[:-20])
    assert feed(home, path) == FeedCounts(read=2, appended=1, quarantined=1)
    assert feed(home, path) == FeedCounts(read=2, already_fed=2)
    path.write_bytes(whole)
    assert feed(home, path) == FeedCounts(read=2, appended=1, already_fed=1)
    assert len(tape(home)) == 2
    assert [one.record.code for one in quarantine(home)] == ["cut_record"]


def test_a_last_line_without_its_line_feed_is_known_when_it_gets_one(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0) + conn(1)[:-1])
    assert feed(home, path) == FeedCounts(read=2, appended=2)
    assert feed(home, path) == FeedCounts(read=2, already_fed=2)
    path.write_bytes(conn(0) + conn(1) + conn(2))
    assert feed(home, path) == FeedCounts(read=3, appended=1, already_fed=2)
    assert len(tape(home)) == 3


def test_texts_keep_their_ids_and_are_fed_once(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "note.txt"
    path.write_text("same\nsame")
    assert feed(home, path, TEXT) == FeedCounts(read=2, appended=2)
    path.write_text("same\nsame\nsame\n")
    assert feed(home, path, TEXT) == FeedCounts(read=3, appended=1, already_fed=2)
    assert len({one.id for one in tape(home)}) == 3
    fresh = tmp_path / "other"
    assert feed(fresh, path, TEXT).appended == 3
    assert {one.id for one in tape(fresh)} == {one.id for one in tape(home)}


def test_whole_texts_with_the_same_first_line_are_both_known(tmp_path: Path) -> None:
    home, options = tmp_path / "home", FeedOptions(kind="text", whole=True)
    for name in ("a", "b", "a", "b"):
        (tmp_path / name).write_text(f"title\n{name}\n")
    assert [feed(home, tmp_path / name, options).appended for name in ("a", "b", "a", "b")] == [1, 1, 0, 0]


def test_other_choices_are_another_feed(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0))
    for options in (FeedOptions(), FeedOptions(tenant="acme"), FeedOptions(subject="x"), FeedOptions(origin="s")):
        assert feed(home, path, options).appended == 1
        assert feed(home, path, options).already_fed == 1
    assert {one.tenant for one in tape(home)} == {"default", "acme"}


def test_a_cut_gzip_then_the_whole_one(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log.gz"
    lines = [conn(at) for at in range(3000)]
    packed = gzip.compress(b"".join(lines))
    path.write_bytes(packed[: len(packed) // 2])
    first = feed(home, path)
    assert (first.quarantined, first.read) == (1, first.appended + 1)
    assert 0 < first.appended < 3000
    assert feed(home, path) == FeedCounts(read=first.read, already_fed=first.read)
    path.write_bytes(packed)
    assert feed(home, path) == FeedCounts(3000, 3000 - first.appended, first.appended, 0)
    (listed,) = quarantine(home)
    assert (listed.record.code, listed.record.source.file) == ("input_damaged", str(path))
    assert "the file is cut" in listed.record.reason
    assert len({one.id for one in tape(home)}) == 3000


def test_a_stream_is_fed_without_a_ledger(tmp_path: Path) -> None:
    with engine(tmp_path / "home") as opened:
        feeder = Feeder(opened.log, opened.store, FeedOptions(), clock)
        for _ in range(2):
            counts = feeder.feed_stream(io.BytesIO(b"a build server opened outbound connections\n"))
            assert counts == FeedCounts(read=1, appended=1)
        assert feeder.feed_stream(io.BytesIO(b"")) == FeedCounts()
    texts = tape(tmp_path / "home")
    assert len({one.id for one in texts}) == 2
    assert notes(tmp_path / "home") == {}


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    path = tmp_path / "conn.log"
    path.write_bytes(b"".join(conn(at) for at in range(4500)))
    seen: list[tuple[int, int | None, FeedCounts]] = []
    with engine(tmp_path / "home") as opened:

        def note(done: int, total: int | None, counts: FeedCounts) -> None:
            seen.append((done, total, counts))

        Feeder(opened.log, opened.store, FeedOptions(), clock, on_progress=note).feed_path(path)
    size = path.stat().st_size
    assert [counts.read for _, _, counts in seen] == sorted(counts.read for _, _, counts in seen)
    assert seen[-1] == (size, size, FeedCounts(read=4500, appended=4500))


def test_a_lost_race_goes_on_in_a_slot_of_its_own_and_ends_with_one(tmp_path: Path) -> None:
    with engine(tmp_path / "home") as opened:
        first, second = _entries(opened, "ledger/default/x/y/")
        first.move(Mark(length=10, at=1))
        second.move(Mark(length=10, at=2))
        assert len(opened.store.notes("ledger/")) == 2
        first.settle(Mark(length=10))
        second.settle(Mark(length=10))
        assert len(opened.store.notes("ledger/")) == 1


def _entries(opened: Engine, folder: str) -> tuple[Entry, Entry]:
    return Entry(opened.store, folder, "slot", None), Entry(opened.store, folder, "slot", None)


def test_old_entries_can_be_forgotten_of_one_tenant_only(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0))
    for tenant in ("acme", "acme-corp"):
        feed(home, path, FeedOptions(tenant=tenant))
    with engine(home) as opened:
        assert prune(opened.store, "acme", NOW) == 0
        assert prune(opened.store, "acme", NOW + 1) == 1
    assert [key.split("/")[1] for key in notes(home)] == ["acme-corp"]
