"""An observation's content in one line: who talked to whom, what was asked for, and then the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from casetape.cli.render import ELLIPSIS, json_text, middle
from schemas.observation import Observation

_CONTENT = 100
"""Characters of an input's content that a table shows."""
_QUERY = 32
"""Characters of a look-up's name that are shown however little room there is."""
_FIRST = (
    *("service", "answers", "rcode_name", "host", "uri", "method", "status_code", "server_name"),
    *("event_type", "proto", "orig_bytes", "resp_bytes", "duration", "conn_state"),
)
"""The fields of a record that people look for, these before all others."""
_ENDS = (
    ("id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"),
    ("id_orig_h", "id_orig_p", "id_resp_h", "id_resp_p"),
    ("src_ip", "src_port", "dest_ip", "dest_port"),
)
"""The fields for both ends of a connection, as Zeek, those who forward its logs, and Suricata call them."""


def content_words(one: Observation) -> str:
    """An input's content: the whole of a text; of a record who talked to whom, the name that a look-up was about
    (shortened in its middle where it must be), and the first of its other fields."""
    if one.text is not None:
        return one.text
    fields = {name: value for name, value in (one.data or {}).items() if not name.startswith(("@", "_"))}
    ends, of_ends = _ends(fields)
    query = _query(fields)
    words = [ends] if ends else []
    if query is not None:
        words.append(f"query={middle(query, max(_QUERY, _CONTENT - len(ends) - len(' query= _')))}")
    head = " ".join(words)
    left = [name for name in fields if name not in of_ends and (name != "query" or query is None)]
    left.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return _beginning(head, [f"{name}={_value(fields[name])}" for name in left])


def _beginning(head: str, words: list[str]) -> str:
    """The head, which is never cut, and as many of the words as there is room for."""
    if not head and words:
        head, *words = words
        if len(head) > _CONTENT:
            return head[: _CONTENT - 1] + ELLIPSIS
    if len(" ".join([head, *words])) <= _CONTENT:
        return " ".join([head, *words])
    for word in words:
        if len(head) + len(word) + 3 > _CONTENT:
            break
        head += f" {word}"
    return f"{head} {ELLIPSIS}"


def _ends(fields: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """`10.0.0.5:50000 -> 10.0.0.4:443` and the fields that say so; nothing where the record does not name both."""
    for names in _ENDS:
        host, port, other, other_port = (fields.get(name) for name in names)
        if host is not None and other is not None:
            return f"{_end(host, port)} -> {_end(other, other_port)}", names
    return "", ()


def _end(host: Any, port: Any) -> str:
    return f"{host}:{port}" if port is not None else str(host)


def _query(fields: Mapping[str, Any]) -> str | None:
    """The name that a look-up was about: of Zeek's records, and of Suricata's in any of its versions."""
    query = fields.get("query")
    if query is not None:
        return _value(query)
    dns = fields.get("dns")
    if not isinstance(dns, Mapping):
        return None
    asked = next((dns[name] for name in ("queries", "query") if isinstance(dns.get(name), list)), [dns])
    named = [one["rrname"] for one in asked if isinstance(one, Mapping) and isinstance(one.get("rrname"), str)]
    return named[0] if named else None


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value, indent=None)
