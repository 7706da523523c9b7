"""Kafka's errors as casetape's, with what to do. None of them carries a password or anything of a record."""

from __future__ import annotations

import socket
import ssl

from kafka import errors

from engines.kafka.options import KafkaOptions
from schemas.errors import AccessDenied, EngineError, EngineUnavailable, UnknownTopic, UsageError

_REFUSED = (
    errors.SaslAuthenticationFailedError,
    errors.AuthorizationError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
)
_UNKNOWN = (errors.UnknownTopicOrPartitionError, errors.UnknownTopicIdError)
_AWAY = (
    errors.RetriableError,
    errors.UnknownBrokerIdError,
    errors.BrokerNotAvailableError,
    errors.GroupMaxSizeReachedError,
)
_OUT = (errors.UnknownMemberIdError, errors.IllegalGenerationError, errors.FencedInstanceIdError)
_PROBE_SECONDS = 1.0


def passing(error: BaseException) -> bool:
    """Whether the same call may succeed a moment later: a leader moved, a connection broke, a broker starts."""
    return isinstance(error, _AWAY) and not isinstance(error, _UNKNOWN)


def refused(error: BaseException) -> bool:
    """Whether it says that the brokers do not let this user in, or not do this."""
    return isinstance(error, _REFUSED)


def put_out(error: BaseException) -> bool:
    """Whether it says that the group no longer knows this member."""
    if isinstance(error, errors.CommitFailedError):
        return not between(error)
    return isinstance(error, _OUT)


def between(error: BaseException) -> bool:
    """Whether it says that the group is just sharing out its partitions anew."""
    cause = error.args[0] if isinstance(error, errors.CommitFailedError) and error.args else error
    return isinstance(cause, errors.RebalanceInProgressError)


def translated(error: BaseException, options: KafkaOptions, what: str) -> EngineError | UsageError:
    """What an error of the client means to casetape; `what` was being done (`append to topic x`)."""
    name = type(error).__name__
    if refused(error):
        who = f"user `{options.user}`" if options.user else "a client without a user"
        return AccessDenied(
            f"Kafka at {options.servers} does not let {who} {what} ({name}): check `kafka.user`, `kafka.password`,"
            " `kafka.mechanism` and the rights of the user"
        )
    if isinstance(error, _UNKNOWN):
        return UnknownTopic(f"could not {what}: Kafka at {options.servers} does not know it (any more)")
    if isinstance(error, errors.InvalidTopicError):
        return UsageError(f"could not {what}: Kafka allows letters, digits, `.`, `_` and `-` in the name of a topic")
    if isinstance(error, errors.MessageSizeTooLargeError | errors.RecordListTooLargeError):
        return EngineError(f"could not {what}: its `max.message.bytes` is too small for casetape; raise it to 2.1 MiB")
    if passing(error):
        return EngineUnavailable(f"could not {what}: Kafka at {options.servers} does not answer ({name}); try again")
    return EngineError(f"could not {what}: Kafka at {options.servers} answers {name}")


def unreachable(options: KafkaOptions) -> EngineUnavailable:
    """That no broker answered at the start, and the likely reason."""
    return EngineUnavailable(
        f"Kafka at {options.servers} does not answer: {_reason(options)}. Start it, or correct `kafka.servers`"
    )


def _reason(options: KafkaOptions) -> str:
    """Why, as far as a bare connection tells."""
    reason = "nobody speaks there as `kafka.security` expects"
    for server in options.servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _PROBE_SECONDS) as connection:
                _shake_hands(connection, host.strip("[]"), options)
        except socket.gaierror:
            reason = f"there is no host `{host}`"
        except ssl.SSLCertVerificationError as error:
            return f"its certificate is not to be trusted by `kafka.ca_file` ({error.verify_message})"
        except ssl.SSLError as error:
            return f"it does not speak TLS as `kafka.security` asks ({error.reason})"
        except TimeoutError:
            reason = "no connection within a second"
        except OSError as error:
            reason = (error.strerror or "no connection").lower()
        except ValueError:
            reason = f"`{server.strip()}` is no HOST:PORT"
        else:
            return "it takes connections, and does not speak Kafka as `kafka.security` asks, or hangs"
    return reason


def _shake_hands(connection: socket.socket, host: str, options: KafkaOptions) -> None:
    """The greeting of TLS, where it is asked for: the client tells nothing of why it failed."""
    if options.security in ("SSL", "SASL_SSL"):
        context = ssl.create_default_context(cafile=options.ca_file)
        if options.certificate_file is not None:
            context.load_cert_chain(options.certificate_file, options.key_file)
        context.wrap_socket(connection, server_hostname=host).close()
