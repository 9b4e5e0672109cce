-- Channels and posts of the web platform: they outlive a restart, and a retry finds its own post here.

CREATE TABLE web_channels (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE COLLATE NOCASE,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE web_posts (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    channel_id   TEXT NOT NULL REFERENCES web_channels (id),
    root_id      TEXT NOT NULL,
    author_id    TEXT NOT NULL,
    author_name  TEXT NOT NULL,
    is_bot       INTEGER NOT NULL CHECK (is_bot IN (0, 1)),
    kind         TEXT NOT NULL CHECK (kind IN ('message', 'answer', 'refusal', 'error', 'private')),
    text         TEXT NOT NULL,
    extras       TEXT NOT NULL,            -- JSON: citations, nearest, notices, error_id
    state        TEXT NOT NULL CHECK (state IN ('open', 'final')),  -- open: still being written
    delivery_id  TEXT,                     -- of the message itself, or of the message that the bot answers
    private_to   TEXT,                     -- author id of the only reader
    client_key   TEXT,                     -- chosen by the page, so that sending again does not post twice
    delivered    INTEGER NOT NULL CHECK (delivered IN (0, 1)),
    reaction     TEXT,                     -- the last sign of life on a message
    posted_at    TEXT NOT NULL,
    edited_at    TEXT
) STRICT;
CREATE INDEX web_posts_thread ON web_posts (channel_id, root_id, seq);
CREATE INDEX web_posts_roots ON web_posts (channel_id, seq) WHERE id = root_id;
CREATE INDEX web_posts_undelivered ON web_posts (seq) WHERE delivered = 0;
CREATE UNIQUE INDEX web_posts_client_key ON web_posts (author_id, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX web_posts_delivery ON web_posts (delivery_id) WHERE is_bot = 1;

CREATE TABLE web_votes (
    post_id    TEXT NOT NULL,
    author_id  TEXT NOT NULL,
    vote       TEXT NOT NULL CHECK (vote IN ('up', 'down', 'wrong')),
    PRIMARY KEY (post_id, author_id)
) STRICT;
