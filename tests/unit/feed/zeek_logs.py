"""A small Zeek log in TSV form, and the record that its row is."""

from __future__ import annotations

HEAD = (
    b"#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n"
    b"#open\t2020-04-30-00-00-00\n"
)
CONN = HEAD + (
    b"#fields\tts\tuid\tid.orig_h\tid.resp_p\tproto\tduration\torig_bytes\tlocal_orig\ttunnel_parents\n"
    b"#types\ttime\tstring\taddr\tport\tenum\tinterval\tcount\tbool\tset[string]\n"
)
ROW = b"1588205199.824370\tC1\t10.0.0.5\t443\ttcp\t0.001528\t39\tT\t(empty)\n"
RECORD = {
    "ts": 1588205199.82437,
    "uid": "C1",
    "id.orig_h": "10.0.0.5",
    "id.resp_p": 443,
    "proto": "tcp",
    "duration": 0.001528,
    "orig_bytes": 39,
    "local_orig": True,
    "tunnel_parents": [],
}
