"""The lines of the cases: heads, versions with what they brought, snapshots. Versions are never changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from engines.checks import check_commit
from engines.redis import forms
from engines.redis.connection import AT_ONCE, Argument, Call, Link
from engines.redis.index import Index
from engines.redis.part import Part, chunks
from engines.store import Commit, Head, Snapshot, StoredVersion
from schemas.errors import EngineError

_KEYS = ("head", "versions", "brought", "contents", "snapshots", "snapshotted")
_TOGETHER = 8 * 1024 * 1024
"""Bytes of the commits in one pipeline, unless one alone is larger."""


class _Ready(NamedTuple):
    """A commit in the form in which it is kept."""

    commit: Commit
    versions: Sequence[Argument]
    brought: Sequence[Argument]
    snapshot: tuple[Argument, Argument]
    bytes: int


class Versions(Part):
    """The part of the store about lines of versions."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self._index = Index(link)

    def heads(self, cases: Sequence[str]) -> Mapping[str, Head]:
        answers = self._watch.ask([("HMGET", self._keys.of_case(case, "head"), "number", "id") for case in cases])
        return {
            case: Head(int(number), forms.long(identifier))
            for case, (number, identifier) in zip(cases, answers, strict=True)
            if number is not None
        }

    def commit(self, commits: Sequence[Commit]) -> Sequence[bool]:
        for commit in commits:
            check_commit(commit)
        done: list[bool] = []
        for some in _together(_ready(commit) for commit in commits):
            with self._link.answering():
                done += self._commit(some)
        return done

    def _commit(self, some: Sequence[_Ready]) -> list[bool]:
        """Three round trips: what spans cases lies in other slots, and a case is noted before it moves."""
        self._mark(some)
        answers = self._link.ask([self._call(one) for one in some], lambda: self._mark(some))
        if -1 in answers:
            raise self._watch.behind()
        self._index.put([one.commit.row for one, answer in zip(some, answers, strict=True) if answer])
        return [bool(answer) for answer in answers]

    def _mark(self, some: Sequence[_Ready]) -> None:
        tenants = {one.commit.row.tenant for one in some}
        moves = [what for one in some for what in (one.commit.row.number, one.commit.case)]
        keys = [self._keys.about, self._keys.pending, self._keys.tenants]
        arguments = (*self._watch.told(), len(tenants), *tenants, *moves)
        beat = self._link.one(*self._link.script("mark", keys, arguments))
        if beat < 0:
            raise self._watch.behind()
        self._watch.counted(beat)

    def _call(self, one: _Ready) -> Call:
        case, expected, _, row, _ = one.commit
        keys = [self._keys.of_case(case, what) for what in _KEYS]
        if self._link.shared:
            keys.append(self._keys.about)
        before = (expected.number, forms.short(expected.id), row.number, forms.short(row.id), one.bytes)
        fields = (row.verdict, row.severity, row.score, row.analyses, row.conflicts, row.updated_at)
        rest = (forms.subject_of(row), *one.snapshot, *self._watch.told(), len(one.commit.versions))
        return self._link.script("commit", keys, (*before, *fields, *rest, *one.versions, *one.brought))

    def versions(self, case: str, first: int, last: int) -> Sequence[StoredVersion]:
        keys = [self._keys.of_case(case, what) for what in ("head", "versions")]
        found = self._watch.one(*self._link.script("versions", keys, (first, last)))
        read = []
        for number, kept in zip(map(int, found[::2]), found[1::2], strict=True):
            with _placed(case, number):
                read.append(forms.read_version(number, kept))
        return read

    def known(self, case: str, ids: Sequence[str]) -> set[str]:
        return set(self.content_numbers(case, ids))

    def known_by_case(self, asked: Mapping[str, Sequence[str]]) -> Mapping[str, set[str]]:
        return {case: set(found) for case, found in self._numbers(asked).items()}

    def content_numbers(self, case: str, ids: Sequence[str]) -> Mapping[str, int]:
        return self._numbers({case: ids})[case]

    def _numbers(self, asked: Mapping[str, Sequence[str]]) -> dict[str, dict[str, int]]:
        pieces = [(case, some) for case, ids in asked.items() for some in chunks(ids)]
        answers = self._watch.ask(
            [("HMGET", self._keys.of_case(case, "contents"), *map(forms.short, some)) for case, some in pieces]
        )
        found: dict[str, dict[str, int]] = {case: {} for case in asked}
        for (case, some), numbers in zip(pieces, answers, strict=True):
            found[case].update((one, int(number)) for one, number in zip(some, numbers, strict=True) if number)
        return found

    def contents(self, case: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        wanted: defaultdict[int, set[str]] = defaultdict(set)
        for identifier, number in self.content_numbers(case, ids).items():
            wanted[number].add(identifier)
        frames, held = list(chunks(sorted(wanted))), list(chunks([one for some in wanted.values() for one in some]))
        # the remains last: what is pruned meanwhile goes from the versions to them
        calls: list[Call] = [("HMGET", self._keys.of_case(case, "brought"), *some) for some in frames]
        calls += [("HMGET", self._keys.of_case(case, "remains"), *map(forms.short, some)) for some in held]
        answers = self._watch.ask(calls)
        found: dict[str, bytes] = {}
        for some, answer in zip(held, answers[len(frames) :], strict=True):
            for identifier, kept in zip(some, answer, strict=True):
                if kept is not None:
                    with _placed(case, 0, identifier):
                        found[identifier] = forms.unblob(kept)
        for numbers, answer in zip(frames, answers, strict=False):
            for number, kept in zip(numbers, answer, strict=True):
                if kept is not None:
                    with _placed(case, number):
                        brought = forms.read_brought(kept)
                    found.update((one, brought[one]) for one in wanted[number] if one in brought)
        return found

    def snapshot(self, case: str, number: int) -> Snapshot | None:
        keys = [self._keys.of_case(case, what) for what in ("snapshots", "snapshotted")]
        found = self._watch.one(*self._link.script("snapshot", keys, (number,)))
        if not found:
            return None
        with _placed(case, int(found[0])):
            return Snapshot(int(found[0]), forms.unblob(found[1]))


@contextmanager
def _placed(case: str, number: int, content: str | None = None) -> Iterator[None]:
    """Says of an error inside which version or content of which case cannot be read."""
    try:
        yield
    except EngineError as error:
        what = f"version {number}" if content is None else f"content {content}"
        raise EngineError(
            f"{what} of `{case}`: {error}, and run `casetape cases verify {case}` for all that is damaged"
        ) from error


def _ready(commit: Commit) -> _Ready:
    versions: list[Argument] = []
    brought: list[Argument] = []
    size = 0
    for version in commit.versions:
        record, contents = forms.version(version), forms.brought(version.contents)
        versions += (version.number, record, contents)
        for content in version.contents:
            brought += (forms.short(content.id), version.number)
        size += len(record) + len(contents)
    taken = commit.snapshot
    snapshot: tuple[Argument, Argument] = ("", "") if taken is None else (taken.number, forms.blob(taken.body))
    return _Ready(commit, versions, brought, snapshot, size)


def _together(ready: Iterator[_Ready]) -> Iterator[list[_Ready]]:
    """In order, as many at once as one pipeline is to hold."""
    held: list[_Ready] = []
    size = 0
    for one in ready:
        if held and (len(held) == AT_ONCE or size + one.bytes > _TOGETHER):
            yield held
            held, size = [], 0
        held.append(one)
        size += one.bytes
    if held:
        yield held
