"""Zeek's streams, and which of them a log file's name says."""

from __future__ import annotations

import re

_STREAMS = (
    "analyzer|broker|capture_loss|cluster|config|conn|dce_rpc|dhcp|dnp3|dns|dpd|files|ftp|http|intel|irc|"
    "kerberos|known_certs|known_devices|known_hosts|known_modbus|known_services|ldap|ldap_search|"
    "loaded_scripts|modbus|modbus_register_change|mqtt_connect|mqtt_publish|mqtt_subscribe|mysql|"
    "netcontrol|netcontrol_catch_release|netcontrol_drop|netcontrol_shunt|notice|notice_alarm|ntlm|ntp|"
    "ocsp|openflow|packet_filter|pe|postgresql|print|quic|radius|rdp|redis|reporter|rfb|signatures|sip|"
    "smb_cmd|smb_files|smb_mapping|smtp|snmp|socks|software|ssh|ssl|stats|syslog|telemetry|traceroute|"
    "tunnel|unknown_protocols|websocket|weird|weird_stats|x509"
)
_LOG_NAME = re.compile(rf"({_STREAMS})(?:[._-](?:[0-9][0-9tz:+-]*|log|tsv|json|jsonl|ndjson|gz|labeled|labelled))*\Z")


def stream_of_name(name: str) -> str | None:
    """The stream of a log's file name (no folder): `conn` of `conn.log`, `conn_20200430.log`,
    `conn.2020-04-30-00-00-00.log.gz`; None where the name is not one of Zeek's."""
    found = _LOG_NAME.match(name.lower())
    return found[1] if found else None
