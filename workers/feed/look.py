"""What lies under paths at one moment: the files inside of folders, and what became of files since the last look."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Identity(NamedTuple):
    """Which file it is, whatever it is called."""

    device: int
    inode: int


class Seen(NamedTuple):
    """A regular file under a name (of a symlink: what it leads to): its size in bytes and when it was modified
    (nanoseconds). `given`: it was named itself, and not found in a folder."""

    path: str
    identity: Identity
    size: int
    modified: int
    given: bool


class Look(NamedTuple):
    """The files that are there, those of a folder sorted; given paths that are not; and by path what else is wrong."""

    seen: Sequence[Seen]
    missing: Sequence[str]
    troubles: Mapping[str, str]


def look(paths: Sequence[str]) -> Look:
    """What lies under these files and folders now."""
    seen: list[Seen] = []
    missing: list[str] = []
    troubles: dict[str, str] = {}

    def failed(error: OSError) -> None:
        troubles[str(error.filename)] = f"the folder cannot be read: {error.strerror}"

    def note(path: str, status: os.stat_result, *, given: bool) -> None:
        if stat.S_ISREG(status.st_mode):
            seen.append(Seen(path, _identity(status), status.st_size, status.st_mtime_ns, given))
        else:
            troubles[path] = "not a regular file"

    for path in paths:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            missing.append(path)
            continue
        except (OSError, ValueError) as error:
            troubles[path] = f"cannot be looked at: {getattr(error, 'strerror', None) or 'not a path'}"
            continue
        if not stat.S_ISDIR(status.st_mode):
            note(path, status, given=True)
            continue
        for entry in inside(path, failed):
            try:
                note(entry.path, entry.stat(), given=False)
            except OSError:
                # it left between being listed and being looked at, or it is a symlink to what is not there yet
                continue
    return Look(seen, missing, troubles)


def inside(folder: str, failed: Callable[[OSError], None]) -> Iterator[os.DirEntry[str]]:
    """All files of a folder, sorted, then those of its folders; none that is hidden. Symlinks to folders are entered
    (Zeek's `current`), each folder once, and none that the folder itself lies in. `failed` is told of a folder that
    cannot be read."""
    above = os.path.realpath(folder)
    yield from _inside(folder, failed, {_identity_of(above)}, above)


def _inside(
    folder: str, failed: Callable[[OSError], None], entered: set[Identity | None], above: str
) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted((one for one in listed if not one.name.startswith(".")), key=lambda one: one.name)
    except OSError as error:
        failed(error)
        return
    folders = [one for one in entries if _is_folder(one)]
    kept = {one.name for one in folders}
    yield from (one for one in entries if one.name not in kept)
    for one in folders:
        if one.is_symlink() and f"{above}/".startswith(os.path.realpath(one.path).rstrip("/") + "/"):
            continue
        identity = _identity_of(one.path)
        if identity not in entered:
            entered.add(identity)
            yield from _inside(one.path, failed, entered, above)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _identity_of(path: str) -> Identity | None:
    try:
        return _identity(os.stat(path))
    except OSError:
        return None


def _identity(status: os.stat_result) -> Identity:
    return Identity(status.st_dev, status.st_ino)
