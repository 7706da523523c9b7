"""What each field of a record means, for readers of the exported JSON Schemas. By model, then by field on the tape."""

from __future__ import annotations

_SCHEMA = "The schema version of this record. Readers refuse versions that they do not know."
_TENANT = "Whose case this is. The record's key on the topic must name the same tenant and subject."
_SUBJECT = "Whom or what it is about, for example `host:10.0.0.5` or `user:alice`: printable, no space at either end."

DESCRIPTIONS: dict[str, dict[str, str]] = {
    "Observation": {
        "schema": _SCHEMA,
        "tenant": _TENANT,
        "subject": _SUBJECT,
        "id": (
            "May be left out (or empty): casetape computes it from the content. Where given it must be `inp_` and the "
            "lower-case hexadecimal SHA-256 of the letters `inp`, a line feed, and the canonical bytes of the object "
            'of at, content, kind, origin, subject and tenant, where content is {"data": ...} or {"text": ...}. '
            "A wrong id sends the record to quarantine."
        ),
        "kind": "What sort of record it is: `zeek.conn`, `zeek.dns`, `eve.alert`, `windows.<channel>`, `text`, ...",
        "at": "Event time in microseconds since 1970-01-01 UTC; null where there is none.",
        "flags": "`clock`: the event time is implausible; `no_time`: there is none that can be used.",
        "content": "What was noticed: exactly one of data, text and sealed.",
        "origin": "The sensor's or feed's name, for text the request id. Never a file offset: it is part of the id.",
        "redaction": "The version of the transform that ran before the id was computed; null where none did.",
        "key_id": "The key that sealed the content; null means that the content is plain.",
    },
    "ObservationContent": {
        "data": "The foreign record as it came, after redaction: any JSON object. No NaN, infinity or half surrogate.",
        "text": "Text from a person.",
        "sealed": "Base64 of the encrypted content; key_id of the observation names the key.",
    },
    "Analysis": {
        "schema": _SCHEMA,
        "tenant": _TENANT,
        "subject": _SUBJECT,
        "id": "`ana_` and the digest of all other fields.",
        "detector": (
            "The name of the detector or model that says this. `person:` and a name: that person, in a branch version "
            "whose author it is; no detector may have such a name."
        ),
        "version": "The detector's version.",
        "parameters": "The digest of the parameters that it ran with.",
        "fingerprint": "What the analysis is about: of one detector and fingerprint only the newest is current.",
        "target": "What the verdict is about, the same for all detectors: an address and port, a domain, a digest.",
        "verdict": "Best first: benign, unknown, suspicious, malicious.",
        "score": "How bad, in millionths.",
        "confidence": "How sure, in millionths.",
        "title": "One line for people.",
        "text": "The explanation for people.",
        "techniques": "ATT&CK technique ids.",
        "numbers": "The figures it rests on, as scaled integers; the detector documents each scale.",
        "evidence": "The observations it rests on.",
        "at": "Event time in microseconds since 1970-01-01 UTC; a person's: of the request.",
        "provisional": "Said before the window was surely complete; a final one of the same fingerprint supersedes it.",
    },
    "Evidence": {
        "total": "How many observations.",
        "first": "Event time of the first, in microseconds since 1970-01-01 UTC.",
        "last": "Event time of the last, in microseconds since 1970-01-01 UTC.",
        "sample": "Ids of the first, the last and the 8 smallest, sorted.",
        "set_digest": "`set_` and the digest of all ids: sorted, each followed by a line feed.",
    },
    "Assessment": {
        "verdict": "The merged verdict.",
        "score": "The merged score in millionths.",
        "severity": "By score: info, low from 0.40, medium 0.60, high 0.80, critical 0.95.",
        "counted": "Ids of the analyses that it rests on: the heaviest 16, sorted.",
        "counted_total": "How many it rests on.",
        "counted_digest": "`set_` and the digest of the ids of all that it rests on.",
        "conflicts": "Contradictions about one target: the first 16 by target.",
        "conflicts_total": "How many contradictions there are.",
        "review": "Why a person should look.",
        "policy": "The merge policy that made it.",
        "options": "The policy's options, and those that every policy takes as far as they are set.",
    },
    "Conflict": {
        "target": "What the analyses contradict each other about.",
        "analyses": "Ids of at most 16 of them.",
    },
    "Header": {
        "schema": _SCHEMA,
        "tenant": _TENANT,
        "subject": _SUBJECT,
        "number": "Its place on the case's line; null on a branch.",
        "parents": (
            "On a branch the version that its author looked at; on a merged version the one before it, then the "
            "branches that it took in."
        ),
        "inputs": "Ids of the observations that it adds, sorted.",
        "analyses": "Ids of the analyses that it adds, sorted.",
        "assessment_digest": "`ass_` and the digest of its assessment; null on a branch.",
        "author": "Who made it.",
        "at": "When it was made, in microseconds since 1970-01-01 UTC.",
    },
    "Author": {
        "kind": "A detector set, a merger or a person; `none` made the empty state.",
        "name": "The author's name.",
        "version": "The author's version.",
    },
    "StateVersion": {
        "schema": _SCHEMA,
        "id": "`ver_` and the digest of the header.",
        "header": "What the id is the digest of.",
        "assessment": "The merged view; null on a branch.",
        "branches": "On a merged version: the headers of the branches that it took in, by id.",
        "contents": "What it adds, each proved by its own id.",
    },
    "Content": {
        "id": "The id of the observation or analysis inside.",
        "key_id": "The key that sealed it; null means plain.",
        "body": "The record in plain; null where it is sealed or was destroyed.",
        "sealed": "Base64 of the encrypted record; null where it is plain or was destroyed.",
    },
    "Quarantined": {
        "schema": _SCHEMA,
        "tenant": "Whose it is.",
        "subject": "The case's subject, where it is known.",
        "id": "`qua_` and a digest: the same for the same fault of the same bytes from the same place.",
        "what": "`input`: a line or file of a feed; `record`: a record on a topic; `result`: a plug-in failed on it.",
        "code": "The error's stable code.",
        "reason": "The sentence for people.",
        "author": "Who set it aside.",
        "source": "Where it came from.",
        "payload": "Base64 of the bytes, after redaction.",
        "cut": "Whether payload holds a prefix only.",
        "size": "How many bytes the whole has.",
        "payload_digest": "`qua_` and the digest of the whole bytes.",
        "at": "When it was set aside, in microseconds since 1970-01-01 UTC.",
    },
    "Source": {
        "file": "The file's name.",
        "line": "The line in it, from 1.",
        "topic": "The topic.",
        "partition": "The partition of it.",
        "offset": "The offset in it.",
        "options": "What the feed was told, for a requeue.",
    },
}
