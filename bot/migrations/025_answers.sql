-- What a question was searched as, why sentences of a model were held back, and which models could not be used.

ALTER TABLE query_log ADD COLUMN searched TEXT;
ALTER TABLE query_log ADD COLUMN faults TEXT NOT NULL DEFAULT '[]';
ALTER TABLE query_log ADD COLUMN skipped_models TEXT NOT NULL DEFAULT '[]';
