"""Which reader fits an input: by the kind asked for and the first lines' content; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from schemas.errors import UsageError
from workers.feed.errors import UnknownKind
from workers.feed.eve import Eve
from workers.feed.json_lines import JsonLines
from workers.feed.marks import SAMPLE, Marks, marks, misshapen
from workers.feed.options import AUTO, EVE, JSON, KINDS, TEXT, WINDOWS, ZEEK, FeedOptions
from workers.feed.reader import Reader, Redaction
from workers.feed.streams import stream_of_name
from workers.feed.text import Text
from workers.feed.windows import Windows
from workers.feed.zeek_json import ZeekJson
from workers.feed.zeek_tsv import ZeekTsv

HEAD = 64 * 1024
"""So many bytes of an input's content are looked at."""
BOM = b"\xef\xbb\xbf"
READERS: Mapping[str, Callable[[FeedOptions, str | None, Redaction, str], Reader]] = {
    ZeekJson.name: ZeekJson,
    ZeekTsv.name: ZeekTsv,
    Eve.name: Eve,
    Windows.name: Windows,
    JsonLines.name: JsonLines,
    Text.name: Text,
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_EVTX = b"ElfFile\0"
_TEXT_NAMES = (".txt", ".text")
_NAMELESS = "the records name no stream, nor does the file's name: say which with --kind, for example --kind zeek.conn"
_NO_OBJECTS = "none of the first lines is a JSON object"
_NO_ZEEK = f"{_NO_OBJECTS}, nor are they of a Zeek log in TSV form"
_OTHER_JSON = "JSON lines of no known kind: say --kind json, or describe them in the settings ([mappings.<name>])"
_UNKNOWN = (
    "no known kind of input: neither a Zeek log, Suricata's EVE or Windows events as JSON lines, nor a .txt file (say "
    "--kind text to feed its lines as text)"
)


class Choice(NamedTuple):
    """The reader's name; and the stream of Zeek records that do not name theirs, or the mapping of JSON lines."""

    reader: str
    stream: str | None

    @property
    def kind(self) -> str:
        """The kind by which the same reader is asked for."""
        family = ZEEK if self.reader == ZeekTsv.name else self.reader
        return family if self.stream is None else f"{family}.{self.stream}"


def sniff(head: bytes, name: str, options: FeedOptions) -> Choice | None:
    """The choice for an input that starts with `head` (its first 64 KiB, decompressed, or all); None where that is
    blank. `name` is the file's name, `-` for a stream, in which prose counts as text. Raises UnknownKind, saying what
    to do."""
    if head.startswith(_UTF_16):
        raise UnknownKind("it is UTF-16: write it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`")
    if head.startswith(_EVTX):
        raise UnknownKind(
            "a Windows event log as it is on disk: write JSON lines, for example with `evtx_dump -o jsonl`"
        )
    lines = [line.strip() for line in head.removeprefix(BOM).splitlines() if line.strip()][:SAMPLE]
    if not lines:
        return None
    seen = marks(lines)
    # a log that a crash has filled up with zeros is still a log
    if b"\0" in head and (options.kind == TEXT or not seen.any):
        raise UnknownKind("the content is binary")
    base = PurePath(name).name
    family = options.kind.partition(".")[0]
    if family == AUTO:
        return _by_content(head, lines, seen, base, options)
    return _as_asked(family, lines, seen, base, options)


def of_line(line: bytes, options: FeedOptions) -> Choice:
    """The choice for one line whose kind is known. Raises UsageError where it is not."""
    family = options.kind.partition(".")[0]
    if family == AUTO:
        raise UsageError(f"say with which kind to read it: {KINDS.removeprefix('auto, ')}")
    if family != ZEEK:
        return Choice(family, options.mapping)
    tabbed = bool(options.context) or (b"\t" in line and not line.lstrip().startswith(b"{"))
    return Choice(ZeekTsv.name if tabbed else ZeekJson.name, options.stream)


def relevant(options: FeedOptions, choice: Choice) -> FeedOptions:
    """The options without those that only other readers look at, so that these can be changed without a log being
    another one."""
    mapping = choice.stream if choice.reader == JSON else None
    mappings = {name: one for name, one in options.mappings.items() if name == mapping}
    return replace(options, mappings=mappings, zeek_fields=options.zeek_fields if choice.reader == ZeekTsv.name else {})


def _as_asked(family: str, lines: Sequence[bytes], seen: Marks, base: str, options: FeedOptions) -> Choice:
    if family == TEXT:
        return Choice(TEXT, None)
    if family == ZEEK:
        return _zeek(seen, base, options)
    wrong = misshapen(lines)
    if wrong is not None or not any(b"{" in line for line in lines):
        raise UnknownKind(wrong or _NO_OBJECTS)
    return Choice(family, options.mapping)


def _by_content(head: bytes, lines: Sequence[bytes], seen: Marks, base: str, options: FeedOptions) -> Choice:
    named = sorted(name for name, mapping in options.mappings.items() if mapping.fits(base))
    if len(named) > 1:
        raise UnknownKind(f"several mappings name it: {', '.join(named)}; say which with --kind json.<mapping>")
    if named:
        return _as_asked(JSON, lines, seen, base, replace(options, kind=f"{JSON}.{named[0]}"))
    wrong = misshapen(lines)
    if wrong is not None and not seen.header:
        raise UnknownKind(f"no known kind of input: {wrong}")
    counts = {ZEEK: seen.zeek, WINDOWS: seen.windows, EVE: seen.eve}
    likely = max(counts, key=lambda family: counts[family])
    named_by_file = stream_of_name(base) is not None
    if seen.header or (not counts[likely] and named_by_file and (seen.objects or seen.tabs)):
        likely = ZEEK
    elif not counts[likely]:
        if _prose(head, lines, base):
            return Choice(TEXT, None)
        raise UnknownKind(f"no known kind of input: {_OTHER_JSON}" if seen.objects else _UNKNOWN)
    return _as_asked(likely, lines, seen, base, options)


def _zeek(seen: Marks, base: str, options: FeedOptions) -> Choice:
    # where the records say their stream the file's name must not matter: the ledger's key holds the choice
    named = seen.path if seen.header else seen.streams
    stream = options.stream or (None if named else stream_of_name(base))
    if seen.header:
        return Choice(ZeekTsv.name, stream)
    if not seen.objects and not seen.tabs:
        raise UnknownKind(_NO_ZEEK)
    if stream is None and not named:
        raise UnknownKind(_NAMELESS)
    return Choice(ZeekJson.name if seen.objects else ZeekTsv.name, stream)


def _prose(head: bytes, lines: Sequence[bytes], base: str) -> bool:
    named = base == "-" or PurePath(base.lower().removesuffix(".gz")).suffix in _TEXT_NAMES
    structured = lines[0][:1] in (b"{", b"[", b"<")
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head[:4096])
    return named and not structured and controls == 0
