-- Faults that alerts told of, each delivery of them once, and deployments.

CREATE TABLE alert_faults (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    platform      TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    root_id       TEXT NOT NULL,             -- of the thread that holds the analysis
    delivery_key  TEXT NOT NULL UNIQUE,      -- of the alert that opened it; the analysis answers it
    service       TEXT NOT NULL,
    fingerprint   TEXT NOT NULL,
    sequence      TEXT NOT NULL,             -- JSON, for traces that were cut off
    is_truncated  INTEGER NOT NULL,
    dedup_key     TEXT,
    error_class   TEXT NOT NULL,
    title         TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('open', 'limited', 'resolved')),
    count         INTEGER NOT NULL DEFAULT 1,
    shown_count   INTEGER NOT NULL DEFAULT 1,
    is_changed    INTEGER NOT NULL DEFAULT 0, -- what the analysis shows is not up to date
    first_at      TEXT NOT NULL,
    last_at       TEXT NOT NULL,
    earlier       INTEGER REFERENCES alert_faults (number),
    post_id       TEXT,                      -- of the analysis, once it is posted
    reply         TEXT                       -- JSON: the analysis as it was posted
) STRICT;
CREATE INDEX alert_faults_lately ON alert_faults (platform, channel_id, service, last_at);
CREATE INDEX alert_faults_changed ON alert_faults (number) WHERE is_changed = 1;
CREATE INDEX alert_faults_thread ON alert_faults (platform, channel_id, root_id);

CREATE TABLE alert_occurrences (
    delivery_key  TEXT PRIMARY KEY,
    fault         INTEGER NOT NULL REFERENCES alert_faults (number),
    at            TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_occurrences_time ON alert_occurrences (at);

CREATE TABLE deploys (
    service      TEXT NOT NULL,
    environment  TEXT NOT NULL,
    revision     TEXT NOT NULL,
    repository   TEXT NOT NULL,
    deployed_at  TEXT NOT NULL,
    PRIMARY KEY (service, environment, deployed_at, revision)
) STRICT, WITHOUT ROWID;
