"""The header of a Zeek TSV log: what its lines say, and the layout of the lines under it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from schemas.errors import RecordInvalid
from workers.feed.options import STREAM
from workers.feed.zeek_columns import given_columns, typed
from workers.feed.zeek_values import Convert, Marks, converter, is_text, sure_digits, unescaped

LONGEST = 8 * 1024
"""A header has at most this many bytes (the widest of Zeek: some 3,000): it is kept beside each quarantined line."""
_KEYS = ("separator", "set_separator", "empty_field", "unset_field", "path", "fields", "types")
_KEY = re.compile(rf"#({'|'.join(_KEYS)})(?![a-z_])")
_SPACES = re.compile(" {2,}")
_NO_FIELDS = (
    "the log's header (#fields) is missing: feed the log from its beginning, or give the columns of `{}` in the setting"
    " zeek_fields"
)


class Layout(NamedTuple):
    """How a line's columns become a record. `quick` holds where a line is ASCII without a backslash: by column its
    name, its conversion (None: text needs none), and below how many digits it is surely a number of its type. `tail`:
    the last column holds so many, with several spaces between them."""

    separator: str
    marks: Marks
    names: tuple[str, ...]
    types: tuple[str, ...]
    quick: tuple[tuple[str, Convert | None, int], ...]
    careful: tuple[Convert, ...]
    tail: int


class Header:
    """The header lines in force. `#separator` begins a new header; `#fields` drops the types of the fields before."""

    def __init__(self, context: str = "") -> None:
        self._lines: dict[str, str] = {}
        self._context: str | None = None
        for line in context.split("\n"):
            key = _KEY.match(line)
            if key:
                self._lines[key[1]] = line

    @property
    def context(self) -> str:
        """The lines, from which the same header can be made again."""
        if self._context is None:
            # one string, whatever number of lines are quarantined with it
            self._context = "\n".join(self._lines[key] for key in _KEYS if key in self._lines)
        return self._context

    @property
    def path(self) -> str | None:
        """The stream that the log says it is, without the folders that a path may have; None where it says none."""
        path = self._value("path")
        return path.rpartition("/")[2] or None if path is not None and path != self._marks().unset else None

    def take(self, line: str) -> None:
        """Takes in a line that starts with `#`; comments and times are passed over. Raises RecordInvalid for a header
        that is too long: the lines under it cannot be read then."""
        key = _KEY.match(line)
        if key is None:
            return
        self._context = None
        if key[1] == "separator":
            self._lines.clear()
        if key[1] == "fields":
            self._lines.pop("types", None)
        self._lines[key[1]] = line
        if len(self.context.encode()) > LONGEST:
            self._lines, self._context = {"fields": "#fields"}, None
            raise RecordInvalid(f"the header is longer than {LONGEST} bytes: the lines under it cannot be read")

    def layout(self, given: Mapping[str, str], stream: str | None) -> Layout:
        """The layout of the lines under the header, or, where there is no header, that of the stream in `given`. Raises
        RecordInvalid, saying what to do."""
        separator, marks = self._separator(), self._marks()
        fields, types = self._lines.get("fields"), self._lines.get("types")
        if fields is None:
            named = self.path or stream
            columns = None if named is None else given.get(named)
            if columns is None:
                said = named if named is not None and STREAM.match(named) else "its stream"
                raise RecordInvalid(_NO_FIELDS.format(said))
            names, kinds = given_columns(columns)
            return _layout(separator, marks, names, kinds, 0)
        names = tuple(fields.split(separator)[1:])
        tail = len(_SPACES.split(names[-1])) if names else 0
        names = _apart(names)
        if not names or "" in names or len(set(names)) < len(names):
            raise RecordInvalid("#fields: names that cannot be columns: none, an empty one or the same one twice")
        kinds = typed(names)[1] if types is None else _apart(tuple(types.split(separator)[1:]))
        if len(kinds) != len(names):
            raise RecordInvalid(f"#types: {len(kinds)} types for {len(names)} fields")
        return _layout(separator, marks, names, kinds, tail if tail > 1 else 0)

    def _separator(self) -> str:
        said = self._lines.get("separator", "#separator \\x09").partition(" ")[2]
        separator = _plain(said)
        if not separator:
            raise RecordInvalid("#separator: it is empty")
        return separator

    def _marks(self) -> Marks:
        plain = Marks()
        said = (self._value(key) for key in ("unset_field", "empty_field", "set_separator"))
        unset, empty, within = (one if one is not None else plain[at] for at, one in enumerate(said))
        return Marks(unset, empty, within or plain.within)

    def _value(self, key: str) -> str | None:
        line = self._lines.get(key)
        return None if line is None else _plain(line.partition(self._separator())[2])


def _plain(escaped: str) -> str:
    return unescaped(escaped).decode("utf-8", "surrogateescape")


def _apart(columns: tuple[str, ...]) -> tuple[str, ...]:
    return (*columns[:-1], *_SPACES.split(columns[-1])) if columns else ()


def _layout(separator: str, marks: Marks, names: tuple[str, ...], kinds: tuple[str, ...], tail: int) -> Layout:
    careful: list[Convert] = []
    for name, kind in zip(names, kinds, strict=True):
        convert = converter(kind, marks)
        if convert is None:
            raise RecordInvalid(f"#types: the type of `{name}` is none that Zeek writes")
        careful.append(convert)
    columns = zip(names, kinds, careful, strict=True)
    quick = tuple((name, None if is_text(kind) else convert, sure_digits(kind)) for name, kind, convert in columns)
    return Layout(separator, marks, names, kinds, quick, tuple(careful), tail)
