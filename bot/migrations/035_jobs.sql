-- The queue of syncs and its history, and the webhook deliveries that were taken.

CREATE TABLE jobs (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    source       TEXT NOT NULL,
    force        INTEGER NOT NULL,
    state        TEXT NOT NULL
                 CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    requested_by TEXT NOT NULL,             -- JSON: everybody who asked, in order
    requested_at TEXT NOT NULL,
    started_at   TEXT,
    finished_at  TEXT,
    duration_s   REAL,
    counts       TEXT,                      -- JSON: added, updated, deleted, unchanged, failed, embedded
    reason       TEXT,                      -- why it failed or was cancelled, or what was wrong although it is done
    resumed      INTEGER NOT NULL DEFAULT 0 -- an interrupted job that was taken up again
) STRICT;
CREATE INDEX jobs_of_source ON jobs (source, number);

CREATE TABLE hook_deliveries (
    delivery    TEXT PRIMARY KEY,           -- host and its id of the delivery
    received_at TEXT NOT NULL,
    jobs        TEXT NOT NULL               -- JSON: numbers of the jobs that it asked for
) STRICT, WITHOUT ROWID;
