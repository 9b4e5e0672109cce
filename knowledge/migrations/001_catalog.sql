-- The single truth of what is known. Every row of content carries its generation, and
-- sources.active_generation says which generation is shown.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sources (
    name              TEXT PRIMARY KEY,
    kind              TEXT NOT NULL,
    active_generation INTEGER,
    revision          TEXT,
    last_sync         TEXT,
    problem           TEXT
) WITHOUT ROWID;

CREATE TABLE generations (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    source       TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    fingerprint  TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    completed_at TEXT,
    complete     INTEGER NOT NULL DEFAULT 0,  -- every document of one discovery has gone through
    chunks       INTEGER NOT NULL DEFAULT 0,
    tokens       INTEGER NOT NULL DEFAULT 0,
    next_chunk   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX generations_source ON generations (source, state);

-- The vector spaces of a generation. The key is unknown until the embedder could be asked for the first time.
CREATE TABLE spaces (
    generation    INTEGER NOT NULL,
    embedder      TEXT NOT NULL,  -- as configured: "e5", "ollama:bge-m3"
    position      INTEGER NOT NULL,
    key           TEXT,
    name          TEXT,
    digest        TEXT,
    dim           INTEGER,
    prefix_scheme TEXT,
    PRIMARY KEY (generation, embedder)
) WITHOUT ROWID;

CREATE TABLE documents (
    number       INTEGER PRIMARY KEY,
    generation   INTEGER NOT NULL,
    id           TEXT NOT NULL,
    uri          TEXT NOT NULL,
    file_name    TEXT NOT NULL,  -- last part of the uri, as stack traces and people give it
    content_hash TEXT NOT NULL,
    revision     TEXT NOT NULL,
    title        TEXT NOT NULL,
    media_type   TEXT NOT NULL,
    format       TEXT,
    extractor    TEXT,
    status       TEXT NOT NULL CHECK (status IN ('indexed', 'failed')),
    reason       TEXT,
    warnings     TEXT NOT NULL DEFAULT '[]',
    chunks       INTEGER NOT NULL DEFAULT 0,
    updated_at   TEXT NOT NULL,
    blocks       BLOB,  -- masked, JSON, zlib; last, so that listing does not read it
    UNIQUE (generation, uri)
);
CREATE INDEX documents_file_name ON documents (generation, file_name);

-- number = generation * 2^32 + n: the chunks of one generation are one range of row numbers, here and in the keyword
-- index, so that a search within one source never walks through the others.
CREATE TABLE chunks (
    number      INTEGER PRIMARY KEY,
    generation  INTEGER NOT NULL,
    id          TEXT NOT NULL,
    document    INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    part_of     TEXT NOT NULL,  -- ChunkDraft.group
    label       TEXT,
    symbol      TEXT,
    symbol_kind TEXT,
    signature   TEXT,
    start_line  INTEGER,
    end_line    INTEGER,
    page        INTEGER,
    first_block INTEGER,
    last_block  INTEGER,
    regulation  TEXT,
    anchors     TEXT NOT NULL DEFAULT '[]',
    tokens      INTEGER NOT NULL,
    text        TEXT NOT NULL,
    index_text  TEXT NOT NULL,
    UNIQUE (id, generation)
);
CREATE INDEX chunks_document ON chunks (document, ordinal);

CREATE VIRTUAL TABLE keywords USING fts5 (tokens, tokenize = 'unicode61 remove_diacritics 0');

CREATE TABLE terms (
    term       TEXT NOT NULL,
    generation INTEGER NOT NULL,
    chunks     INTEGER NOT NULL,
    PRIMARY KEY (term, generation)
) WITHOUT ROWID;

CREATE TABLE links (
    generation INTEGER NOT NULL,
    article    INTEGER NOT NULL,  -- chunks.number
    position   INTEGER NOT NULL,
    appendix   INTEGER NOT NULL,  -- chunks.number
    PRIMARY KEY (article, position)
) WITHOUT ROWID;
CREATE INDEX links_appendix ON links (appendix);

CREATE TABLE callers (
    generation INTEGER NOT NULL,
    name       TEXT NOT NULL,
    chunk      INTEGER NOT NULL,  -- chunks.number of the caller
    PRIMARY KEY (generation, name, chunk)
) WITHOUT ROWID;
CREATE INDEX callers_chunk ON callers (chunk);

-- A chunk whose vector is not confirmed by the vector index. Absence means confirmed.
CREATE TABLE pending (
    generation INTEGER NOT NULL,
    embedder   TEXT NOT NULL,
    chunk      INTEGER NOT NULL,  -- chunks.number
    problem    TEXT,              -- why the embedder rejected this very text
    PRIMARY KEY (generation, embedder, chunk)
) WITHOUT ROWID;
CREATE INDEX pending_chunk ON pending (chunk);

CREATE TABLE skipped (
    source TEXT NOT NULL,
    uri    TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (source, uri)
) WITHOUT ROWID;

CREATE TABLE jobs (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    source      TEXT,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    outcome     TEXT,  -- done, stopped, failed, interrupted
    detail      TEXT
);
