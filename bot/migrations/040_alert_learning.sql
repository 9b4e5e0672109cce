-- What people say about analyses, what is to be remembered of them, and what a follow-up in their threads rests on.

ALTER TABLE alert_faults ADD COLUMN came TEXT NOT NULL DEFAULT 'new'
    CHECK (came IN ('new', 'back', 'going_on'));                       -- why this episode was begun
ALTER TABLE alert_faults ADD COLUMN judged TEXT NOT NULL DEFAULT ''
    CHECK (judged IN ('', 'wrong', 'corrected'));                      -- what people said of the analysis
ALTER TABLE alert_faults ADD COLUMN background TEXT;                   -- JSON: what the analysis was made from
ALTER TABLE alert_faults ADD COLUMN pending_case TEXT;                 -- JSON: a case that is not in the memory yet
CREATE INDEX alert_faults_post ON alert_faults (platform, post_id) WHERE post_id IS NOT NULL;
CREATE INDEX alert_faults_pending ON alert_faults (number) WHERE pending_case IS NOT NULL;

CREATE TABLE alert_verdicts (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    fault         INTEGER NOT NULL REFERENCES alert_faults (number),
    kind          TEXT NOT NULL CHECK (kind IN ('wrong', 'correction')),
    author_id     TEXT NOT NULL,
    key           TEXT NOT NULL UNIQUE,        -- of the vote or the post that said it: each counts once
    cause         TEXT NOT NULL,               -- of a correction, masked
    given_at      TEXT NOT NULL,
    applied_at    TEXT                         -- when the memory was changed and the thread was told
) STRICT;
CREATE INDEX alert_verdicts_open ON alert_verdicts (number) WHERE applied_at IS NULL;

CREATE TABLE alert_told (                      -- what is said once in a while in a channel
    platform      TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    what          TEXT NOT NULL,
    told_at       TEXT NOT NULL,
    PRIMARY KEY (platform, channel_id, what)
) STRICT, WITHOUT ROWID;
