-- What calls a definition: where, on what receiver, and what the calling file imports.

ALTER TABLE chunks ADD COLUMN name TEXT;  -- last part of the symbol, by which calls name it
CREATE INDEX chunks_name ON chunks (generation, name) WHERE name IS NOT NULL;

ALTER TABLE callers ADD COLUMN line INTEGER;                      -- of the first call
ALTER TABLE callers ADD COLUMN receivers TEXT NOT NULL DEFAULT '';  -- names before the dot, joined by blanks

ALTER TABLE documents ADD COLUMN imports TEXT NOT NULL DEFAULT '';  -- names in import statements, joined by blanks
