"""How Faust reaches Kafka: the engine's options in its words."""

from __future__ import annotations

import ssl
from typing import Any

from faust import SASLCredentials, SSLCredentials

from engines.kafka.options import KafkaOptions
from schemas.errors import EngineError


def reaching(options: KafkaOptions) -> dict[str, Any]:
    """Faust's settings for it. Raises EngineError where a file of the settings cannot be read."""
    settings: dict[str, Any] = {
        "broker": [f"kafka://{server.strip()}" for server in options.servers.split(",")],
        "broker_client_id": "casetape",
        "broker_credentials": _credentials(options),
    }
    if options.member is not None:
        settings["consumer_group_instance_id"] = f"{options.member}-async"
    return settings


def _credentials(options: KafkaOptions) -> SASLCredentials | SSLCredentials | None:
    context = _context(options) if options.security.endswith("SSL") else None
    if options.security.startswith("SASL"):
        return SASLCredentials(
            username=options.user, password=options.password, mechanism=options.mechanism, ssl_context=context
        )
    return None if context is None else SSLCredentials(context)


def _context(options: KafkaOptions) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
        if options.certificate_file is not None:
            context.load_cert_chain(options.certificate_file, options.key_file)
    except OSError as error:
        # the file by its name: what is in it is not told
        raise EngineError(f"could not connect to Kafka: {error.filename or ''} {error.strerror or error}") from error
    return context
