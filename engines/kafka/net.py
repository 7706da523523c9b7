"""The client's connections, so that a refusal is told as one, and a broker that hangs costs no longer than asked for.

The client (3.0) takes a refusal while it looks for its first broker for one more connection that failed, and tries on
until its time is over; and it waits ten seconds for a broker's first word, whatever its other times are.
"""

from __future__ import annotations

from typing import Any

from kafka.errors import SaslAuthenticationFailedError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from engines.kafka.faults import refused

_HUNG_UP = 3
"""So many connections in a row that were cut while the broker looked at the password count as a refusal: it says why
and hangs up, and the client often hears the second first."""


class _Connections(KafkaConnectionManager):  # type: ignore[misc] # the client ships no types
    """Its connections; the first that is wanted after a refusal raises it."""

    _refusal: BaseException | None = None
    _cut = 0
    _was_in = False

    def get_connection(self, node_id: Any, *what: Any, **how: Any) -> Any:
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal
        known = self._conns.get(node_id)
        connection = super().get_connection(node_id, *what, **how)
        if connection is not known:
            connection.init_future.add_callback(self._let_in)
            connection.init_future.add_errback(self._failed)
        return connection

    def _let_in(self, done: Any) -> None:
        self._was_in = True

    def _failed(self, error: BaseException) -> None:
        if self.config["sasl_mechanism"] and not self._was_in and "socket disconnected" in str(error):
            self._cut += 1
            if self._cut >= _HUNG_UP:
                error = SaslAuthenticationFailedError("the broker hung up on the password")
        if refused(error):
            self._refusal, self._cut = error, 0


def client(**settings: Any) -> KafkaNetClient:
    """What a producer, consumer or admin client reaches brokers with."""
    net = NetworkSelector(**settings)
    patience = settings["request_timeout_ms"]
    manager = _Connections(
        net,
        **settings,
        socket_connection_setup_timeout_ms=patience,
        socket_connection_setup_timeout_max_ms=patience,
    )
    return KafkaNetClient(net, manager, **settings)
