"""The one link of a store to Redis: calls in pipelines, repeated while that makes sense, and what their errors mean."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from redis import exceptions

from engines.redis.faults import is_passing, translated
from engines.redis.keys import Keys
from engines.redis.options import RedisOptions
from engines.redis.scripts import NAMES, script

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5
"""Seconds between two attempts: they double from the first to the longest."""
ATTEMPTS = 3
"""A silent server is asked so many times within `answer_seconds`."""
AT_ONCE = 1_000
"""Calls in one pipeline."""
TOGETHER = 250
"""Scripts in one transaction, which holds everyone else up for some milliseconds. Redis reads a pipeline in pieces of
16 KiB and, told to keep every write, waits for the disk after each; after a transaction it waits once."""

Argument = str | bytes | int
Call = tuple[Argument, ...]
"""A command with its arguments."""


class Link:
    """An open client. Every call that writes may be repeated: redis-py's own repeats are off, and this class repeats
    whole pipelines, knowing how long it may."""

    def __init__(self, client: Any, options: RedisOptions, where: str) -> None:
        self._client = client
        self._options = options
        self.where = where
        self.keys = Keys(options.prefix)
        self.shared = not options.cluster
        """Whether one server has all keys, so that one script may touch those of several slots."""
        self._until: float | None = None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Everything asked inside is answered within `answer_seconds` altogether, or fails."""
        before = self._until
        if before is None:
            self._until = time.monotonic() + self._options.answer_seconds
        try:
            yield
        finally:
            self._until = before

    def ask(self, calls: Sequence[Call], again: Callable[[], None] | None = None) -> list[Any]:
        """The answers to these calls. `again` runs before they are repeated. Raises EngineUnavailable, StorageFull,
        AccessDenied, EngineError."""
        with self.answering():
            found: list[Any] = []
            most = TOGETHER if _scripts(calls) else AT_ONCE
            for start in range(0, len(calls), most):
                found += self._ask(calls[start : start + most], again)
        return found

    def one(self, *call: Argument) -> Any:
        """The answer to one call."""
        return self.ask([call])[0]

    def script(self, name: str, keys: Sequence[str], arguments: Sequence[Argument]) -> Call:
        """The call of a script."""
        return ("EVALSHA", script(name).sha, len(keys), *keys, *arguments)

    def load(self) -> None:
        """Loads all scripts, of each of which Redis keeps one copy until it is restarted."""
        for name in NAMES:
            self._client.script_load(script(name).text)

    def info(self, section: str) -> Mapping[str, Any]:
        """A section of what the server tells of itself; of a cluster, what one node tells."""
        try:
            found: Mapping[str, Any] = self.servers()[0].info(section)
        except (exceptions.RedisError, OSError) as error:
            raise translated(error, self.where) from error
        return found

    def setting(self, name: str) -> str | None:
        """A setting of that server, or None where it does not tell."""
        try:
            found = self.servers()[0].config_get(name)
        except exceptions.ResponseError:
            return None
        except (exceptions.RedisError, OSError) as error:
            raise translated(error, self.where) from error
        return str(found[name]) if name in found else None

    def scan(self, pattern: str) -> Iterator[list[bytes]]:
        """All keys that fit the pattern, some at a time: a look at everything there is."""
        try:
            for server in self.servers():
                position = -1
                while position != 0:
                    position, found = server.scan(max(position, 0), pattern, AT_ONCE)
                    yield found
        except (exceptions.RedisError, OSError) as error:
            raise translated(error, self.where) from error

    def servers(self) -> list[Any]:
        """A client of each server that has keys of its own."""
        if self.shared:
            return [self._client]
        return [self._client.get_redis_connection(node) for node in self._client.get_primaries()]

    def close(self) -> None:
        """Closes the client; a repeat is harmless."""
        self._client.close()

    def _ask(self, calls: Sequence[Call], again: Callable[[], None] | None) -> list[Any]:
        pause = FIRST_PAUSE
        while True:
            answers, error = self._once(calls)
            if error is None:
                return answers
            if not is_passing(error) or not self._wait(pause):
                raise translated(error, self.where) from error
            pause = min(2 * pause, LONGEST_PAUSE)
            if again is not None:
                again()

    def _once(self, calls: Sequence[Call]) -> tuple[list[Any], Exception | None]:
        """The answers, and the first error among them, or that which kept all of them back."""
        try:
            answers = self._send(calls)
            # of a server that was restarted, or whose scripts were flushed
            unknown = [place for place, one in enumerate(answers) if isinstance(one, exceptions.NoScriptError)]
            if unknown:
                self.load()
                for place, answer in zip(unknown, self._send([calls[place] for place in unknown]), strict=True):
                    answers[place] = answer
        except (exceptions.RedisError, exceptions.RedisClusterException, OSError) as error:
            return [], error
        return answers, next((one for one in answers if isinstance(one, Exception)), None)

    def _send(self, calls: Sequence[Call]) -> list[Any]:
        if len(calls) == 1 and self.shared:
            try:
                return [self._client.execute_command(*calls[0])]
            except exceptions.ResponseError as error:
                return [error]
        # scripts of a cluster cannot be put together: each server has some of their keys
        together = self.shared and _scripts(calls)
        pipeline = self._client.pipeline(transaction=together) if self.shared else self._client.pipeline()
        for call in calls:
            if self.shared:
                pipeline.execute_command(*call)
            else:
                # told where to send it, the client does not ask a server which arguments are keys
                pipeline.execute_command(*call, target_nodes=self._node(call))
        return list(pipeline.execute(raise_on_error=False))

    def _node(self, call: Call) -> Any:
        key = call[3] if call[0] == "EVALSHA" else call[1]
        return self._client.get_node_from_key(key)

    def _wait(self, seconds: float) -> bool:
        """Waits, unless there is no time for another attempt after that."""
        assert self._until is not None, "asked within `answering`"  # noqa: S101 - for the type checker
        share = self._options.answer_seconds / ATTEMPTS
        if time.monotonic() + seconds + share > self._until:
            return False
        time.sleep(seconds)
        return True


def _scripts(calls: Sequence[Call]) -> bool:
    return bool(calls) and calls[-1][0] == "EVALSHA"


def token() -> str:
    """A name for one call or one store that nothing else has."""
    return uuid.uuid4().hex
