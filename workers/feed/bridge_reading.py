"""From a record of a foreign topic to one for `observations`, or to what is said of it in quarantine. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from engines.log import LogRecord, NewRecord, TopicPartition
from schemas.digests import QUARANTINED, digest
from schemas.errors import InputError, RecordInvalid, RecordTooLarge, UsageError
from schemas.observation import TEXT as CONTENT_TEXT
from schemas.quarantined import PREFIX_LIMIT, Quarantined, Source, quarantined
from schemas.scales import AHEAD, EARLIEST
from workers.feed.encode import Encoder
from workers.feed.options import AUTO, KINDS, TEXT, ZEEK, FeedOptions
from workers.feed.plan import fitting
from workers.feed.reader import Item, Redaction
from workers.feed.sniff import BOM, READERS, Choice, relevant
from workers.feed.source import LINE_LIMIT
from workers.feed.zeek_tsv import ZeekTsv

AUTHOR = "bridge"
_EMPTY = "the record has no value: a deletion marker, or nothing at all"
_BLANK = "the record's value is blank"
_TSV = (
    "a line of a Zeek log in TSV form, which says nothing without its header: feed the log's file, or have Zeek write"
    " JSON; with its columns in the settings ([zeek_fields]) it can be requeued"
)


class Unread(NamedTuple):
    """A record that could not be used: what of its bytes is kept (after redaction), size and digest of all of them, and
    why."""

    data: bytes
    whole: tuple[int, str] | None
    error: InputError


class Held(NamedTuple):
    """A record of the foreign topic and what it becomes: `record`, or where that is None the `unread`. `time`: its
    event time as far as it moves a clock (I10). `untimed`: that it has none, and is no text."""

    offset: int
    time: int | None
    size: int
    untimed: bool
    record: NewRecord | None
    unread: Unread | None


def bridged(options: FeedOptions, topic: str) -> FeedOptions:
    """The options of a bridge from a topic. Raises UsageError for what cannot be told record by record."""
    if options.kind == AUTO:
        raise UsageError(f"records of a topic are not guessed at: say --kind, {KINDS.removeprefix('auto, ')}")
    if options.request_id is not None:
        raise UsageError("--request-id is the name of one text: the records of a topic are named by their places")
    fitting(choice_of(options), topic, options)
    # a text in a record is one text, whatever line feeds it has
    return replace(options, whole=True) if options.kind == TEXT else options


def refused(kind: str) -> None:
    """Raises UsageError for a kind whose lines need what other lines said."""
    if kind == ZeekTsv.name:
        raise UsageError(
            "Zeek's TSV logs cannot be read record by record, without their header: feed the files, or have Zeek write"
            " JSON and say --kind zeek"
        )


def choice_of(options: FeedOptions) -> Choice:
    """The reader of these options' kind."""
    family = options.kind.partition(".")[0]
    return Choice(family, options.stream if family == ZEEK else options.mapping)


class Reading:
    """Reads records by one set of options, each for itself. `clock` gives microseconds."""

    def __init__(
        self, options: FeedOptions, redaction: Redaction, secret: bytes | None, clock: Callable[[], int]
    ) -> None:
        self._options = options
        self._redaction = redaction
        self._choice = choice_of(options)
        self._reader = READERS[self._choice.reader](options, self._choice.stream, redaction, "")
        self._encoder = Encoder(options.tenant, redaction=redaction.version, secret=secret)
        self._clock = clock
        said = {**relevant(options, self._choice).chosen(), "kind": self._choice.kind}
        self._said: dict[str, Any] = said if redaction.version is None else {**said, "redaction": redaction.version}

    def read(self, at: TopicPartition, records: list[LogRecord]) -> list[Held]:
        """What the records become, in their order. Neither their keys nor anything in them names a tenant: that is the
        options' (I8)."""
        now = self._encoder.now = self._clock()
        return [self._held(at, one, now) for one in records]

    def quarantined(self, at: TopicPartition, offset: int, unread: Unread) -> Quarantined:
        """The record for the topic `quarantine`; the same again has the same id."""
        said = {**self._said, "request": request(at, offset)} if self._reader.needs_request else self._said
        source = Source(topic=at.topic, partition=at.partition, offset=offset, options=said)
        code, reason, whole = unread.error.code, str(unread.error), unread.whole
        tenant, now = self._options.tenant, self._clock()
        return quarantined(tenant, "input", code, reason, unread.data, source, author=AUTHOR, at=now, whole=whole)

    def _held(self, at: TopicPartition, one: LogRecord, now: int) -> Held:
        size = len(one.value)
        try:
            item = self._item(at, one)
            record = self._encoder.record(item)
        except InputError as error:
            return Held(one.offset, None, size, False, None, self._unread(one.value, error))
        usable = item.at is not None and EARLIEST <= item.at <= now + AHEAD
        untimed = item.at is None and CONTENT_TEXT not in item.content
        return Held(one.offset, item.at if usable else None, size, untimed, record, None)

    def _item(self, at: TopicPartition, one: LogRecord) -> Item:
        if not one.value:
            raise RecordInvalid(_EMPTY)
        if len(one.value) > LINE_LIMIT:
            raise RecordTooLarge(f"the record's value is longer than {LINE_LIMIT} bytes")
        value = one.value.removeprefix(BOM)
        if value.isspace() or not value:
            raise RecordInvalid(_BLANK)
        if self._choice.reader == ZEEK and (value.startswith(b"#") or (b"\t" in value and b"{" not in value)):
            raise RecordInvalid(_TSV)
        item = self._reader.read(value, request(at, one.offset) if self._reader.needs_request else "")
        if item is None:
            raise RecordInvalid("the value holds no record")
        return item

    def _unread(self, value: bytes, error: InputError) -> Unread:
        # where it was raised, and all that was at hand there, is not kept beside it
        error.__context__ = None
        why = error.with_traceback(None)
        if len(value) > LINE_LIMIT:
            kept = self._redaction.apply_bytes(value[:PREFIX_LIMIT])
            return Unread(kept, (len(value), digest(QUARANTINED, value)), why)
        kept = self._redaction.apply_bytes(value)
        return Unread(kept[:PREFIX_LIMIT], (len(kept), digest(QUARANTINED, kept)), why)


def request(at: TopicPartition, offset: int) -> str:
    """What tells the text at this place from the same text at another."""
    return f"{at.topic}:{at.partition}:{offset}"
