"""A member in a process of its own, to stop it in mid-work: `python -m tests.faults.kafka.member_process SERVERS
PREFIX`. It says `holding` once it has a batch, commits it when it reads a line, and says what came of it."""

from __future__ import annotations

import sys

from engines.kafka import open_log
from engines.kafka.options import KafkaOptions
from schemas.errors import Fenced


def main(servers: str, prefix: str) -> None:
    log = open_log(KafkaOptions(servers, prefix=prefix, poll_seconds=20.0), session_seconds=1.0)
    member = log.consumer("group", ["observations"])
    batches = member.poll(100, 1.0)
    while not batches:
        batches = member.poll(100, 1.0)
    _say("holding")
    sys.stdin.readline()
    try:
        member.commit({batch.at: batch.next_offset for batch in batches})
    except Fenced:
        _say("fenced")
    else:
        _say("committed")
    log.close()


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
