"""How every client reaches the brokers: its settings, and calls that end in time whatever the brokers do."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from kafka import KafkaAdminClient
from kafka.errors import CoordinatorNotAvailableError, KafkaError, KafkaTimeoutError, NotCoordinatorError

from engines.kafka.faults import passing, translated, unreachable
from engines.kafka.net import client
from engines.kafka.options import KafkaOptions
from schemas.errors import EngineError

OLDEST_BROKER = (4, 0)
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.05, 0.5
_T = TypeVar("_T")

# what a client has to say reaches people as one error of casetape's; without a handler Python prints it as well
logging.getLogger("kafka").addHandler(logging.NullHandler())


class Connection:
    """The settings of all clients of one log, its names, and the client for questions and orders."""

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self._admin: KafkaAdminClient | None = None

    def open(self) -> None:
        """Reaches a broker within `reach_seconds`. Raises EngineUnavailable, AccessDenied, EngineError."""
        admin = self.admin()
        version = admin.get_broker_version_data(self.call("ask for the version", _some_broker)).broker_version
        if version < OLDEST_BROKER:
            raise EngineError(
                f"Kafka at {self.options.servers} has version {'.'.join(map(str, version))};"
                f" casetape needs {'.'.join(map(str, OLDEST_BROKER))} or later"
            )

    def topic(self, name: str) -> str:
        """The name of a topic, as the brokers know it; without a prefix its own."""
        return f"{self.options.prefix}.{name}" if self.options.prefix else name

    def group(self, name: str) -> str:
        """The name of a group, as the brokers know it."""
        return f"{self.options.prefix}.{name}" if self.options.prefix else name

    def settings(self) -> dict[str, Any]:
        """What every client is opened with."""
        options = self.options
        request = int(1_000 * max(0.5, min(options.reach_seconds, options.append_seconds / 2)))
        return {
            "bootstrap_servers": [server.strip() for server in options.servers.split(",")],
            "client_id": "casetape",
            "security_protocol": options.security,
            "sasl_mechanism": options.mechanism,
            "sasl_plain_username": options.user,
            "sasl_plain_password": options.password,
            "ssl_cafile": options.ca_file,
            "ssl_certfile": options.certificate_file,
            "ssl_keyfile": options.key_file,
            "bootstrap_timeout_ms": int(options.reach_seconds * 1_000),
            "request_timeout_ms": request,
            "reconnect_backoff_max_ms": 500,
            "kafka_client": client,
        }

    def admin(self) -> KafkaAdminClient:
        """The client for questions and orders, kept open."""
        if self._admin is None:
            self._admin = self.opened(lambda: KafkaAdminClient(**self.settings()))
        return self._admin

    def opened(self, make: Callable[[], _T]) -> _T:
        """A client. Raises EngineUnavailable where no broker answers within `reach_seconds`."""
        try:
            return make()
        except KafkaTimeoutError as error:
            raise unreachable(self.options) from error
        except KafkaError as error:
            raise translated(error, self.options, "connect") from error
        except OSError as error:
            # a file of the settings, by its name: what is in it is not told
            raise EngineError(
                f"could not connect to Kafka: {error.filename or ''} {error.strerror or error}"
            ) from error

    def call(self, what: str, ask: Callable[[KafkaAdminClient], _T], seconds: float | None = None) -> _T:
        """What `ask` answers, asked again while that may help, for `seconds` (`append_seconds` where none are given).
        `what` is to be done, for the message. Raises what `faults.translated` makes of the last error."""
        return self.tried(what, lambda: ask(self.admin()), seconds, self._forget_coordinators)

    def tried(
        self,
        what: str,
        ask: Callable[[], _T],
        seconds: float | None = None,
        between: Callable[[KafkaError], None] = lambda error: None,
    ) -> _T:
        """The same, of any client; `between` sees each error before the next try."""
        until = time.monotonic() + (self.options.append_seconds if seconds is None else seconds)
        pause = _PAUSE_SECONDS
        while True:
            try:
                return ask()
            except KafkaError as error:
                left = until - time.monotonic()
                if left <= 0 or not passing(error):
                    raise translated(error, self.options, what) from error
                between(error)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _forget_coordinators(self, error: KafkaError) -> None:
        # the client keeps a group's coordinator for ever, also when it has moved
        if isinstance(error, NotCoordinatorError | CoordinatorNotAvailableError):
            self.close()

    def close(self) -> None:
        """Closes the client for questions and orders; the next question opens another."""
        admin, self._admin = self._admin, None
        if admin is not None:
            with suppress(KafkaError):
                admin.close()


def _some_broker(admin: KafkaAdminClient) -> int:
    broker: int = admin.describe_cluster()["brokers"][0]["broker_id"]
    return broker
