"""What the sensors' DNS records say: the name asked for, the type, the result. Zeek's `dns.log` and Suricata's EVE, in
the form of version 1 (a record an answer), 2 (`answers`) and 3 (`queries`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from workers.detectors.dns.record_types import NETBIOS, UNKNOWN, code_of

EXCHANGE, ASKED, ANSWERED = 0, 1, 2
"""What a record is: a question with its answer, a question alone, an answer alone."""
NOERROR, NXDOMAIN = 0, 3
_RCODES = {"NOERROR": NOERROR, "FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": NXDOMAIN, "NOTIMP": 4, "REFUSED": 5}
_OTHER_PROTOCOLS = (137, 5353, 5355)
"""NetBIOS, mDNS and LLMNR are no DNS: their names end in the local network. A tuple, since a record may hold anything
where a number is due, also what no set can be asked for."""
_QUESTIONS_READ = 16


class LookUp(NamedTuple):
    """One name asked for. `type` and `rcode` as IANA numbers them; `reply` how many characters the answer's data has;
    each UNKNOWN (-1) where the record does not say."""

    query: str
    type: int
    role: int
    rcode: int
    reply: int


def look_ups(kind: str, data: Mapping[str, Any]) -> Iterator[LookUp]:
    """The look-ups of a record of this kind; none where it has no name, or is of another protocol."""
    return _eve(data) if kind.startswith("eve.") else _zeek(data)


def _zeek(data: Mapping[str, Any]) -> Iterator[LookUp]:
    query, asked = data.get("query"), data.get("original_query")
    port = data.get("id.resp_p", data.get("id_resp_p"))
    if not isinstance(query, str) or port in _OTHER_PROTOCOLS or data.get("qtype_name") in NETBIOS:
        return
    # zeek lower-cases `query`; some sites log the letters as they were sent
    if isinstance(asked, str) and asked.lower() == query.lower():
        query = asked
    rcode = _rcode(data.get("rcode_name"), data.get("rcode"))
    yield LookUp(
        query, code_of(data.get("qtype_name"), data.get("qtype")), EXCHANGE, rcode, _length(data.get("answers"), rcode)
    )


def _eve(data: Mapping[str, Any]) -> Iterator[LookUp]:
    dns = data.get("dns")
    if not isinstance(dns, dict) or data.get("dest_port") in _OTHER_PROTOCOLS:
        return
    answered = dns.get("type") in ("answer", "response")
    rcode = _rcode(dns.get("rcode"), None) if answered else UNKNOWN
    reply = _eve_reply(dns, rcode) if answered else UNKNOWN
    asked = dns.get("queries")
    for one in (asked if isinstance(asked, list) else [dns])[:_QUESTIONS_READ]:
        if isinstance(one, dict) and isinstance(one.get("rrname"), str):
            yield LookUp(one["rrname"], code_of(one.get("rrtype")), ANSWERED if answered else ASKED, rcode, reply)


def _eve_reply(dns: Mapping[str, Any], rcode: int) -> int:
    answers = dns.get("answers")
    if isinstance(answers, list):
        return _length([one.get("rdata") for one in answers if isinstance(one, dict)], rcode)
    grouped = dns.get("grouped")
    if isinstance(grouped, dict):
        return _length([one for each in grouped.values() if isinstance(each, list) for one in each], rcode)
    return _length([dns["rdata"]] if "rdata" in dns else None, rcode)


def _rcode(name: object, number: object) -> int:
    if isinstance(name, str):
        return _RCODES.get(name.upper(), number if type(number) is int and 0 <= number < 65_536 else UNKNOWN)
    return number if type(number) is int and 0 <= number < 65_536 else UNKNOWN


def _length(answers: object, rcode: int) -> int:
    if isinstance(answers, list):
        return sum(len(one) for one in answers if isinstance(one, str))
    return UNKNOWN if rcode == UNKNOWN else 0
