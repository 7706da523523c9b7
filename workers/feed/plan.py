"""Which files will be fed, and by which reader: decided for all of them before anything is written."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from schemas.errors import UsageError
from workers.feed.errors import UnknownKind
from workers.feed.look import inside
from workers.feed.options import AUTO, FeedOptions
from workers.feed.sniff import HEAD, Choice, sniff
from workers.feed.source import Source
from workers.feed.text import Text

STDIN = "-"


class Planned(NamedTuple):
    """One input: its path as given, or `-`. `choice` is None where it is decided at reading: of a stream, or of a file
    that is blank so far. `size` is the file's in bytes, None of a stream."""

    path: str
    choice: Choice | None
    size: int | None


class Skipped(NamedTuple):
    """A file inside a folder that no reader fits, and why."""

    path: str
    reason: str


class Plan(NamedTuple):
    """The files in the order in which they are fed, and what of the folders is left out."""

    files: Sequence[Planned]
    skipped: Sequence[Skipped]


def plan(paths: Sequence[str | Path], options: FeedOptions) -> Plan:
    """The plan for these files, folders (all files inside, sorted, none that is hidden) and `-`.

    Raises UsageError, naming the path, where one that was given does not exist, cannot be read, is binary or of no
    known kind, or where options do not fit (a request id that several files would share); and where a stream is given
    beside others, since it cannot be looked at before the others are fed.
    """
    files: list[Planned] = []
    skipped: list[Skipped] = []
    for given in map(str, paths):
        if given != STDIN and Path(given).is_dir():
            for entry in inside(given, _unreadable):
                path = entry.path
                try:
                    planned = _planned(path, options)
                    wanted(planned.choice, options)
                except UsageError as error:
                    skipped.append(Skipped(path, str(error).removeprefix(f"{path}: ")))
                    continue
                if planned.size is None:
                    skipped.append(Skipped(path, "not a regular file"))
                else:
                    files.append(planned)
        else:
            files.append(_planned(given, options))
    streams = [one.path for one in files if one.size is None]
    if streams and len(files) > 1:
        raise UsageError(f"{streams[0]}: a stream can only be fed by itself")
    if options.request_id is not None and len(files) > 1:
        raise UsageError("--request-id is the name of one text: give one file")
    return Plan(files, skipped)


def fitting(choice: Choice, name: str, options: FeedOptions) -> Choice:
    """The choice. Raises UsageError, naming the input, where options are given that this reader has no use for."""
    given = {"--whole": options.whole, "--at": options.at is not None, "--request-id": options.request_id is not None}
    useless = [flag for flag, on in given.items() if on]
    if choice.reader != Text.name and useless:
        raise UsageError(f"{name}: {' and '.join(useless)} can only be used with text")
    return choice


def wanted(choice: Choice | None, options: FeedOptions) -> None:
    """A text file that happens to lie in a folder of logs is no analyst's note: it is taken only where text was asked
    for. Raises UsageError for one that was not."""
    if choice is not None and choice.reader == Text.name and options.kind == AUTO:
        raise UsageError("it is text: name the file itself, or ask for --kind text")


def _unreadable(error: OSError) -> None:
    raise UsageError(f"{error.filename}: the folder cannot be read: {error.strerror}") from None


def _planned(path: str, options: FeedOptions) -> Planned:
    if path == STDIN:
        return Planned(path, None, None)
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            return Planned(path, None, None)
        with Path(path).open("rb") as raw:
            head = Source(raw).head(HEAD)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not a path'}") from None
    try:
        choice = sniff(head, path, options)
    except UnknownKind as error:
        raise UnknownKind(f"{path}: {error}") from None
    return Planned(path, None if choice is None else fitting(choice, path, options), status.st_size)
