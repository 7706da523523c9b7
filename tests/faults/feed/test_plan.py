"""All files are looked at before anything is written, and what is wrong with one is said by its name."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from schemas.errors import UsageError
from tests.faults.feed.feeding import clock, conn, engine, feed, tape
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import plan


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    for name in ("b/conn.log", "a/dns.log", "a/LICENSE", "a/.hidden.log", ".git/conn.log", "picture", "empty.log"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_bytes(conn(len(name)) if name.endswith(".log") else b"prose\n")
    (logs / "picture").write_bytes(b"\x89PNG\0")
    (logs / "empty.log").write_bytes(b"")
    (logs / "gone.log").symlink_to("nowhere")
    os.mkfifo(logs / "pipe")
    return logs


def test_folders_are_expanded_sorted_and_what_is_left_out_is_named(folder: Path) -> None:
    files, skipped = plan([folder], FeedOptions())
    assert [os.path.relpath(one.path, folder) for one in files] == ["empty.log", "a/dns.log", "b/conn.log"]
    said = {os.path.relpath(one.path, folder): one.reason for one in skipped}
    assert sorted(said) == ["a/LICENSE", "gone.log", "picture", "pipe"]
    assert said["picture"] == "the content is binary"
    assert said["gone.log"] == "there is no such file"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "no such file"),
        ("a/LICENSE", "no known kind"),
        ("picture", "binary"),
        ("bad\0name", "cannot be read"),
    ],
)
def test_a_bad_file_given_by_name_is_refused_and_nothing_is_written(folder: Path, name: str, said: str) -> None:
    home = folder.parent / "home"
    with engine(home) as opened, pytest.raises(UsageError, match=said) as raised:
        Feeder(opened.log, opened.store, FeedOptions(), clock).plan([folder / "b/conn.log", folder / name])
    assert name in str(raised.value)
    assert tape(home) == []


def test_text_options_are_refused_for_other_inputs(folder: Path) -> None:
    for options in (FeedOptions(whole=True), FeedOptions(at=1), FeedOptions(request_id="r")):
        with pytest.raises(UsageError, match="can only be used with text"):
            plan([folder / "b/conn.log"], options)


def test_a_stream_stands_alone(folder: Path) -> None:
    assert plan(["-"], FeedOptions()).files[0].size is None
    with pytest.raises(UsageError, match="by itself"):
        plan(["-", folder], FeedOptions())


def test_a_pipe_is_a_stream(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[conn(0) + conn(1)])
    writer.start()
    assert feed(tmp_path / "home", pipe) == FeedCounts(read=2, appended=2)
    writer.join()


def test_an_empty_file_is_fine_and_is_looked_at_again_when_it_is_fed(tmp_path: Path) -> None:
    path = tmp_path / "conn.log"
    path.write_bytes(b"\n \n")
    with engine(tmp_path / "home") as opened:
        feeder = Feeder(opened.log, opened.store, FeedOptions(), clock)
        (planned,) = feeder.plan([path]).files
        assert feeder.feed_planned(planned) == FeedCounts()
        path.write_bytes(conn(0))
        assert feeder.feed_planned(planned) == FeedCounts(read=1, appended=1)
        path.unlink()
        with pytest.raises(UsageError, match=r"conn\.log"):
            feeder.feed_planned(planned)


def test_a_folder_is_fed_file_by_file(folder: Path) -> None:
    assert feed(folder.parent / "home", folder) == FeedCounts(read=2, appended=2)
