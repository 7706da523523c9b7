"""Reaching the server, and making sure that it is one that will do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.connection import parse_url
from redis.retry import Retry

from engines.redis.connection import ATTEMPTS, FIRST_PAUSE, LONGEST_PAUSE, Link
from engines.redis.faults import is_passing, translated, unavailable
from engines.redis.options import RedisOptions
from schemas.errors import EngineError, UsageError

T = TypeVar("T")
FORM = 1
"""How keys and values lie in Redis: `keys.py`, `forms.py`."""
LEAST = {"redis_version": (7, 0), "valkey_version": (7, 2)}
_DEFAULT_PORT = 6379


def connect(options: RedisOptions) -> Link:
    """A link to a server that answers, is new enough and lets the user do what is needed.

    Raises UsageError for a URL that is none; within `reach_seconds` EngineUnavailable (no answer), AccessDenied,
    EngineError (too old, or keys of another form).
    """
    told, where = _told(options)
    until = time.monotonic() + options.reach_seconds
    client = _reach(lambda: _client(options, told), until, where)
    try:
        link = Link(client, options, where)
        _check_version(_reach(lambda: link.servers()[0].info("server"), until, where), where)
        _reach(link.load, until, where)
        _check_form(link)
    except BaseException:
        client.close()
        raise
    return link


def _told(options: RedisOptions) -> tuple[dict[str, Any], str]:
    """What the client is to know, and the server's address as people are told it: without user and password."""
    try:
        told: dict[str, Any] = parse_url(options.url)  # type: ignore[no-untyped-call]  # redis-py types it not
    except ValueError:
        # its own words would repeat the URL, and a password in it
        raise UsageError("`redis.url` is no address of a Redis: write redis://host:port/database") from None
    told.pop("connection_class", None)
    where = f"{told.setdefault('host', 'localhost')}:{told.setdefault('port', _DEFAULT_PORT)}"
    secure = options.url.startswith("rediss://")
    if "path" in told:
        where = told["unix_socket_path"] = told.pop("path")
    if options.user is not None:
        told["username"] = options.user
    if options.password is not None:
        told["password"] = options.password
    files = {
        "ssl_ca_certs": options.ca_file,
        "ssl_certfile": options.certificate_file,
        "ssl_keyfile": options.key_file,
    }
    named = {name: path for name, path in files.items() if path is not None}
    if named and not secure:
        raise UsageError("certificates are set for Redis, but `redis.url` does not ask for TLS: write rediss://")
    if secure:
        told |= {"ssl": True, **named}
    if options.cluster:
        # a cluster has one database
        told.pop("db", None)
    return told, where


def _client(options: RedisOptions, told: dict[str, Any]) -> Any:
    share = options.answer_seconds / ATTEMPTS
    more: dict[str, Any] = {
        # `Link` repeats calls: it knows how long it may, and what must be looked at before
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": share,
        "socket_connect_timeout": min(share, options.reach_seconds / ATTEMPTS),
        "protocol": 2,
    }
    try:
        return RedisCluster(**told, **more) if options.cluster else Redis(**told, **more)
    except TypeError:
        raise UsageError("`redis.url` has a parameter that the client does not know") from None


def _reach(ask: Callable[[], T], until: float, where: str) -> T:
    pause = FIRST_PAUSE
    while True:
        try:
            return ask()
        except (exceptions.RedisError, exceptions.RedisClusterException, OSError) as error:
            passing = is_passing(error) or isinstance(error, exceptions.RedisClusterException)
            if not passing:
                raise translated(error, where) from error
            if time.monotonic() + pause > until:
                raise unavailable(error, where) from error
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _check_version(server: Any, where: str) -> None:
    name = "valkey_version" if "valkey_version" in server else "redis_version"
    found = str(server.get(name, "0"))
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < LEAST[name]:
        least = ".".join(map(str, LEAST[name]))
        kind = name.partition("_")[0].capitalize()
        raise EngineError(f"{kind} at {where} is version {found}, and casetape needs {least} or newer")


def _check_form(link: Link) -> None:
    about = link.keys.about
    found = link.one("HGET", about, "form")
    if found is None:
        # a store that is there is only looked at, which one that is full, or a copy, still allows
        _, found = link.ask([("HSETNX", about, "form", FORM), ("HGET", about, "form")])
    if int(found) != FORM:
        raise EngineError(
            f"the store on Redis at {link.where} has form {int(found)}, and this casetape knows form {FORM}:"
            " use the casetape that made it"
        )
