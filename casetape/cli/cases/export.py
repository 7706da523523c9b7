"""`casetape cases export`."""

from __future__ import annotations

import sys

from casetape.cli import shapes
from casetape.cli.cases.line import Case, genesis_id, key_of, known, version_at
from casetape.cli.common import AsJson, Home, reading, settings, verb
from casetape.cli.render import json_text, visible_json
from merge.reading import whole
from schemas.keys import parse_case

FORMAT = "casetape.case"


@verb
def export(case: Case, home: Home = None, as_json: AsJson = False) -> None:
    """Print a case as one JSON document, for a file (`> case.json`; --json changes nothing).

    It holds what is needed to check the case elsewhere: the id of version 0, and every version as on the topic
    `states`, with its header, assessment, the headers of the branches it took in, and its contents. Ids are digests of
    canonical bytes, so that any program can compute the chain and every content anew; the schema of a version is
    schemas/jsonschema/state-version.v1.json.
    """
    key = key_of(case)
    with reading(settings(home=home)) as engine:
        number = known(engine, key)
        about = {
            "format": FORMAT,
            "schema": 1,
            "case": key,
            **parse_case(key)._asdict(),
            "genesis": genesis_id(key),
            "head": shapes.place(number, version_at(engine, key, number).id),
        }
        # one version after the other, so that a long case needs no more memory than a short one
        write = sys.stdout.write
        write(json_text(about, indent=None).removesuffix("}") + ', "versions": [')
        for version in whole(engine.store, key, 1, number, engine.log):
            write((",\n" if version.number > 1 else "\n") + visible_json(version.encode().decode()))
        write("\n]}\n")
