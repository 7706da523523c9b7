-- From format 1 to 2: old versions may leave the store, and what things take is counted.
-- Where versions published before lie in `states` is found by searching, and noted when they are pruned.

ALTER TABLE partitions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE partitions SET bytes = coalesce((
    SELECT sum(length(b.body)) FROM batches b
    WHERE b.topic_id = partitions.topic_id AND b.partition = partitions.partition
), 0);

ALTER TABLE cases ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cases ADD COLUMN contents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cases ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE cases SET
    contents = (SELECT count(*) FROM content_index c WHERE c.case_id = cases.id),
    bytes = (SELECT coalesce(sum(length(v.record) + length(v.contents)), 0) FROM versions v WHERE v.case_id = cases.id);
CREATE INDEX cases_by_length ON cases (published - pruned) WHERE published - pruned > 64;

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

UPDATE about SET schema = 2;
