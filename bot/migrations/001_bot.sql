-- Deliveries, saved before they are acknowledged; what was answered; what was asked; what people thought of it.

CREATE TABLE inbox (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_id  TEXT NOT NULL UNIQUE,
    platform     TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('message', 'command')),
    thread_key   TEXT NOT NULL,
    payload      TEXT NOT NULL,
    state        TEXT NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'working', 'done', 'failed')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    outcome      TEXT,
    received_at  TEXT NOT NULL,
    done_at      TEXT
) STRICT;
CREATE INDEX inbox_open ON inbox (seq) WHERE state IN ('received', 'working');

CREATE INDEX inbox_thread ON inbox (thread_key);

CREATE TABLE replies (
    delivery_id  TEXT PRIMARY KEY,
    platform     TEXT NOT NULL,
    channel_id   TEXT NOT NULL,
    root_id      TEXT NOT NULL,
    post_id      TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    posted_at    TEXT NOT NULL
) STRICT;
CREATE INDEX replies_thread ON replies (platform, channel_id, root_id);
CREATE INDEX replies_post ON replies (post_id);

CREATE TABLE query_log (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_id   TEXT,
    origin        TEXT NOT NULL,
    asker         TEXT NOT NULL,
    question      TEXT NOT NULL,
    route         TEXT NOT NULL,
    outcome       TEXT NOT NULL,
    probability   REAL,
    evidence_ids  TEXT NOT NULL,
    cited_ids     TEXT NOT NULL,
    took_ms       TEXT NOT NULL,
    degraded      TEXT NOT NULL,
    model         TEXT,
    asked_at      TEXT NOT NULL
) STRICT;
CREATE INDEX query_log_time ON query_log (asked_at);

CREATE TABLE feedback (
    reply_id   TEXT NOT NULL,
    author_id  TEXT NOT NULL,
    vote       TEXT NOT NULL CHECK (vote IN ('up', 'down', 'wrong')),
    comment    TEXT NOT NULL,
    given_at   TEXT NOT NULL,
    PRIMARY KEY (reply_id, author_id)
) STRICT;

CREATE TABLE audit_log (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;
