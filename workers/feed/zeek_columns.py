"""The types of the columns that Zeek's usual logs have, for logs whose header says none."""

from __future__ import annotations

import re
from collections.abc import Iterable

from schemas.errors import RecordInvalid
from workers.feed.zeek_values import Marks, converter

_TYPED = re.compile(r"(.+):((?:set|vector|table)\[[a-z]+\]|[a-z]+)\Z")
_KNOWN = {
    "time": "ts write_ts _write_ts",
    "addr": "id.orig_h id.resp_h tx_host rx_host host client_addr server_addr assigned_addr requested_addr src dst",
    "port": "id.orig_p id.resp_p p",
    "enum": "proto note",
    "interval": "duration rtt lease_time timedout_duration suppress_for",
    "count": (
        "orig_bytes resp_bytes missed_bytes orig_pkts orig_ip_bytes resp_pkts resp_ip_bytes ip_proto trans_id qclass "
        "qtype rcode Z trans_depth request_body_len response_body_len status_code info_code depth seen_bytes "
        "total_bytes missing_bytes overflow_bytes extracted_size auth_attempts n"
    ),
    "bool": (
        "local_orig local_resp AA TC RD RA rejected resumed established is_orig timedout extracted_cutoff auth_success "
        "tls sni_matches_cert"
    ),
    "string": (
        "uid service conn_state history query qclass_name qtype_name rcode_name method uri referrer version "
        "user_agent origin status_msg info_msg username password cipher curve server_name last_alert next_protocol "
        "ssl_history subject issuer client_subject client_issuer ja3 ja3s validation_status fuid source filename "
        "mime_type md5 sha1 sha256 extracted parent_fuid name addl peer source_name msg sub peer_descr client "
        "server cipher_alg mac_alg compression_alg kex_alg host_key_alg host_key direction label detailed-label "
        "community_id _path _system_name _node_name _node"
    ),
    "set[string]": "tunnel_parents conn_uids analyzers",
    "set[addr]": "tx_hosts rx_hosts",
    "set[enum]": "tags actions",
    "vector[string]": (
        "answers cert_chain_fuids client_cert_chain_fuids cert_chain_fps client_cert_chain_fps orig_fuids "
        "orig_filenames orig_mime_types resp_fuids resp_filenames resp_mime_types"
    ),
    "vector[interval]": "TTLs",
}
COLUMNS = {name: kind for kind, names in _KNOWN.items() for name in names.split()}
"""By column: its type in the logs that Zeek 3 to 7 write (conn, dns, http, ssl, files, ssh, weird, notice)."""


def typed(columns: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and types of columns that are given as `name` or `name:type`. Raises RecordInvalid, naming one whose type
    is not known."""
    names, kinds = [], []
    for column in columns:
        given = _TYPED.match(column)
        name, kind = (given[1], given[2]) if given else (column, COLUMNS.get(column))
        if kind is None:
            raise RecordInvalid(f"the type of the column `{name}` is not known: say it in zeek_fields, `{name}:string`")
        names.append(name)
        kinds.append(kind)
    return tuple(names), tuple(kinds)


def given_columns(said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and types of the columns that the setting `zeek_fields` gives for a stream. Raises RecordInvalid where
    there are none, or one is there twice or has a type that is not known or that Zeek does not write."""
    names, kinds = typed(said.split())
    if not names:
        raise RecordInvalid("it names no column")
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise RecordInvalid(f"the column `{twice}` is there twice")
    strange = next((pair for pair in zip(names, kinds, strict=True) if converter(pair[1], Marks()) is None), None)
    if strange is not None:
        raise RecordInvalid(f"the type `{strange[1]}` of the column `{strange[0]}` is none that Zeek writes")
    return names, kinds
