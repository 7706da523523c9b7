-- One file, casetape.db, holds the tape and the store of the embedded engine.
--
-- What grows with what (everything has an owner; nothing else is kept):
--   topics, partitions      with the topics made: one row a partition
--   batches                 with the records appended; the topic's retention trims it
--   groups, shares          with the groups ever used: one share a group and partition
--   members                 with the members alive; the next member to look removes the dead
--   cases                   with the cases: one row each
--   versions                with the versions of a case that the keeper leaves: its record and what it brought
--   remains                 with the current analyses of cases whose versions were pruned
--   content_index           with the distinct contents of a case, for ever: 35 bytes of id and a number each
--   places                  with the versions of a case, for ever: a number and an offset in `states` each
--   snapshots               with the snapshots the merger takes of a case, thinned out where it was pruned
--   parts, manifests        with the owners of windows; an owner drops its parts when its manifest has moved on
--   notes                   with the keys noted; whoever notes a key removes it
--
-- Ids `abc_` + 64 hexadecimal digits are kept as 35 bytes (`abc` and the digest), any other id as its text.
-- `codec` says how the body beside it is kept: 0 as it is, 1 zstd.

CREATE TABLE about (schema INTEGER NOT NULL);
INSERT INTO about VALUES (2);

CREATE TABLE topics (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    partitions INTEGER NOT NULL
);

-- bytes: those of the bodies of its batches
CREATE TABLE partitions (
    topic_id INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    start_offset INTEGER NOT NULL DEFAULT 0,
    next_offset INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (topic_id, partition)
) WITHOUT ROWID;

-- the records base_offset .. base_offset + count - 1 of one partition, as batch.py frames them
CREATE TABLE batches (
    topic_id INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    base_offset INTEGER NOT NULL,
    count INTEGER NOT NULL,
    appended_at INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (topic_id, partition, base_offset)
);

-- epoch moves whenever members or owners change, so that a member sees with one read whether it must look
CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0
);

-- lease_until and session in microseconds; topics as a JSON array
CREATE TABLE members (
    group_id INTEGER NOT NULL,
    member TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    session INTEGER NOT NULL,
    topics TEXT NOT NULL,
    PRIMARY KEY (group_id, member)
) WITHOUT ROWID;

-- who owns a partition for a group, in which generation, and how far the group has committed
CREATE TABLE shares (
    group_id INTEGER NOT NULL,
    topic_id INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    owner TEXT,
    generation INTEGER NOT NULL DEFAULT 0,
    committed INTEGER,
    PRIMARY KEY (group_id, topic_id, partition)
) WITHOUT ROWID;

-- the head (number, version_id), the row of the index, the last number known to have reached `states`, the last one
-- that is no longer kept here, how many contents the case has, and the bytes of the versions kept
CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    number INTEGER NOT NULL,
    version_id BLOB NOT NULL,
    verdict TEXT NOT NULL,
    severity TEXT NOT NULL,
    score INTEGER NOT NULL,
    analyses INTEGER NOT NULL,
    conflicts INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    published INTEGER NOT NULL DEFAULT 0,
    pruned INTEGER NOT NULL DEFAULT 0,
    contents INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX cases_by_score ON cases (tenant, score DESC, updated_at DESC, key);
CREATE INDEX cases_by_update ON cases (tenant, updated_at DESC, key);
CREATE INDEX cases_by_key ON cases (tenant, key);
CREATE INDEX cases_unpublished ON cases (id) WHERE number > published;
CREATE INDEX cases_by_length ON cases (published - pruned) WHERE published - pruned > 64;

-- contents: those that the version brought, framed together as batch.py does; immutable
CREATE TABLE versions (
    case_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    version_id BLOB NOT NULL,
    record_codec INTEGER NOT NULL,
    record BLOB NOT NULL,
    content_count INTEGER NOT NULL,
    contents_codec INTEGER NOT NULL,
    contents BLOB NOT NULL,
    PRIMARY KEY (case_id, number)
);

-- what is left of the contents of versions up to `pruned`
CREATE TABLE remains (
    case_id INTEGER NOT NULL,
    content_id BLOB NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (case_id, content_id)
);

CREATE TABLE places (
    case_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tape_offset INTEGER NOT NULL,
    PRIMARY KEY (case_id, number)
) WITHOUT ROWID;

CREATE TABLE content_index (
    case_id INTEGER NOT NULL,
    content_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (case_id, content_id)
) WITHOUT ROWID;

CREATE TABLE snapshots (
    case_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (case_id, number)
);

CREATE TABLE parts (
    owner TEXT NOT NULL,
    part TEXT NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (owner, part)
);

CREATE TABLE manifests (
    owner TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE notes (
    key TEXT PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;
