-- Which regulation a chunk is of, whatever its revision, and since when this revision holds. Until when follows from the
-- other revisions that are in the index, so that it is no column.

ALTER TABLE chunks ADD COLUMN family TEXT;
ALTER TABLE chunks ADD COLUMN valid_from TEXT;  -- ISO 8601 day
CREATE INDEX chunks_family ON chunks (generation, family, valid_from) WHERE family IS NOT NULL;
