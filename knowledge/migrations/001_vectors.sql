-- The embedding cache: what has been embedded once is never embedded again.

CREATE TABLE spaces (
    number INTEGER PRIMARY KEY,
    key    TEXT NOT NULL UNIQUE
);

CREATE TABLE vectors (
    text_hash BLOB NOT NULL,     -- sha256 of the index text
    space     INTEGER NOT NULL,  -- spaces.number
    vector    BLOB NOT NULL,     -- float32, little endian, unit length
    UNIQUE (text_hash, space)
);
