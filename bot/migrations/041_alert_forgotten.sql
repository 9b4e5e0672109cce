-- Cases that admins forgot: a backup of the memory that still holds one must not bring it back.

CREATE TABLE alert_forgotten (
    origin        TEXT PRIMARY KEY,            -- what the case was learnt from
    forgotten_at  TEXT NOT NULL,
    applied_at    TEXT                         -- when the memory knew; emptied by a restore
) STRICT, WITHOUT ROWID;
