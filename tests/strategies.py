"""Hypothesis strategies for JSON values and for every record, each with all its fields in use now and then.

Observations, analyses and versions come with the ids that belong to them, so that `proven` holds.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from schemas.analysis import Analysis, Evidence, evidence_of
from schemas.assessment import SHOWN, Assessment, Conflict
from schemas.digests import set_digest
from schemas.keys import SUBJECT_LIMIT, valid_subject
from schemas.observation import Observation, ObservationContent
from schemas.quarantined import Quarantined, Source, quarantined
from schemas.record import INT64
from schemas.scales import FLOOR, LIMIT, MILLION
from schemas.verdicts import SEVERITIES, VERDICTS
from schemas.version import Author, Content, Header, StateVersion

text = st.text(st.characters(exclude_categories=["Cs"]))
short_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | floats | text
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(short_text, inner, max_size=4), max_leaves=12
)
"""Any JSON value: integers of any length, finite floats, text without half surrogate pairs."""
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(short_text, json_values, max_size=5)
"""Any JSON object: a foreign record."""

tenants = st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True)
subjects = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" /%:"), min_size=1, max_size=40
).filter(valid_subject)
long_subjects = st.just("s" * SUBJECT_LIMIT)
times = st.integers(FLOOR, LIMIT - 1)
millionths = st.integers(0, MILLION)
digests = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def ids(prefix: str) -> st.SearchStrategy[str]:
    """Ids with this prefix that belong to nothing."""
    return digests.map(lambda one: f"{prefix}_{one}")


contents_of_observations = st.builds(ObservationContent, data=objects) | st.builds(ObservationContent, text=text)
unidentified_observations = st.builds(
    Observation,
    schema=st.just(1),
    tenant=tenants,
    subject=subjects | long_subjects,
    kind=labels,
    at=st.none() | times,
    content=contents_of_observations,
    origin=short_text,
    flags=st.lists(st.sampled_from(["clock", "no_time"]), unique=True).map(tuple),
    redaction=st.none() | short_text,
)
"""Observations as a producer may write them: plain, without an id."""
observations = unidentified_observations.map(Observation.proven)
sealed_observations = st.builds(
    Observation,
    schema=st.just(1),
    tenant=tenants,
    subject=subjects,
    kind=labels,
    at=st.none() | times,
    content=st.builds(ObservationContent, sealed=short_text),
    key_id=labels,
    id=ids("inp"),
)

evidences: st.SearchStrategy[Evidence] = st.lists(st.tuples(ids("inp"), st.none() | times), max_size=14).map(
    evidence_of
)
analyses = st.builds(
    Analysis,
    tenant=tenants,
    subject=subjects,
    detector=labels,
    version=short_text,
    parameters=ids("par"),
    fingerprint=labels,
    target=st.none() | short_text,
    verdict=st.sampled_from(VERDICTS),
    score=millionths,
    confidence=millionths,
    title=short_text,
    text=text,
    techniques=st.lists(st.from_regex(r"T[0-9]{4}(\.[0-9]{3})?", fullmatch=True), max_size=3).map(tuple),
    numbers=st.dictionaries(short_text, st.integers(-INT64, INT64 - 1), max_size=4),
    evidence=evidences,
    at=st.none() | times,
    provisional=st.booleans(),
).map(Analysis.identified)

conflicts = st.builds(Conflict, target=short_text, analyses=st.lists(ids("ana"), max_size=SHOWN).map(tuple))
assessments = st.builds(
    Assessment,
    verdict=st.sampled_from(VERDICTS),
    score=millionths,
    severity=st.sampled_from(SEVERITIES),
    counted=st.lists(ids("ana"), max_size=SHOWN, unique=True).map(lambda found: tuple(sorted(found))),
    counted_total=st.integers(0, 10**6),
    counted_digest=st.lists(ids("ana"), max_size=3).map(set_digest),
    conflicts=st.lists(conflicts, max_size=2).map(tuple),
    conflicts_total=st.integers(0, 10**6),
    review=st.lists(short_text, max_size=3).map(tuple),
    policy=labels,
    options=objects,
)

authors = st.builds(
    Author,
    kind=st.sampled_from(["none", "detectors", "merger", "person"]),
    name=short_text,
    version=short_text,
)
headers = st.builds(
    Header,
    tenant=tenants,
    subject=subjects,
    number=st.none() | st.integers(0, 10**9),
    parents=st.lists(ids("ver"), max_size=3, unique=True).map(tuple),
    inputs=st.lists(ids("inp"), max_size=3, unique=True).map(tuple),
    analyses=st.lists(ids("ana"), max_size=3, unique=True).map(tuple),
    assessment_digest=st.none() | ids("ass"),
    author=authors,
    at=times,
)


def _plain(record: Observation | Analysis) -> Content:
    return Content(id=record.id, body=record.model_dump(mode="json", by_alias=True))


plain_contents = observations.map(_plain) | analyses.map(_plain)
contents = (
    plain_contents
    | st.builds(Content, id=ids("inp") | ids("ana"), key_id=labels, sealed=short_text)
    | st.builds(Content, id=ids("inp") | ids("ana"))
)
"""In plain, sealed, and destroyed."""


@st.composite
def state_versions(draw: st.DrawFn) -> StateVersion:
    """Branch versions and merged versions, proven."""
    branches = {one.version_id(): one for one in draw(st.lists(headers, max_size=2))}
    assessment = draw(st.none() | assessments)
    header = draw(headers)
    header = header.model_copy(
        update={
            "parents": header.parents + tuple(branches),
            "assessment_digest": None if assessment is None else assessment.digest(),
        }
    )
    return StateVersion(
        id=header.version_id(),
        header=header,
        assessment=assessment,
        branches=branches,
        contents=tuple(draw(st.lists(contents, max_size=3))),
    )


versions = state_versions()

sources = st.builds(
    Source,
    file=st.none() | short_text,
    line=st.none() | st.integers(1, 10**9),
    topic=st.none() | short_text,
    partition=st.none() | st.integers(0, 1000),
    offset=st.none() | st.integers(0, 10**12),
    options=objects,
)
quarantined_records: st.SearchStrategy[Quarantined] = st.builds(
    quarantined,
    tenant=tenants,
    what=st.sampled_from(["input", "record", "result"]),
    code=short_text,
    reason=short_text,
    data=st.binary(max_size=200),
    source=sources,
    author=short_text,
    at=times,
    subject=st.none() | subjects,
)
