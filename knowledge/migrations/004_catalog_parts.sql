-- The repositories of a source that holds many, as the last complete sync left them in one generation.

CREATE TABLE parts (
    generation INTEGER NOT NULL,
    prefix     TEXT NOT NULL,     -- what the uris of the part begin with: "shop/"
    state      TEXT NOT NULL,     -- equal as long as listing it again would give the same; '' when it never could be
    revision   TEXT,              -- its commit
    problem    TEXT,              -- why it could not be reached
    checked_at TEXT NOT NULL,
    PRIMARY KEY (generation, prefix)
) WITHOUT ROWID;
