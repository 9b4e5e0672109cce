-- What admins are told by direct message: once when something goes wrong, once a day while it lasts, once when it is over.

CREATE TABLE admin_notices (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL,             -- what it is about, such as "source:rules"
    sentence   TEXT NOT NULL,
    raised_at  TEXT NOT NULL,
    over_at    TEXT,                      -- a notice without an end is over at once
    lasts      INTEGER NOT NULL           -- 0: something that happened, 1: something that is the case
) STRICT;
CREATE INDEX admin_notices_open ON admin_notices (key) WHERE over_at IS NULL;
CREATE INDEX admin_notices_key ON admin_notices (key, raised_at);

CREATE TABLE admin_messages (             -- what one admin was told of one notice, each once
    notice     INTEGER NOT NULL REFERENCES admin_notices (number) ON DELETE CASCADE,
    admin      TEXT NOT NULL,             -- "platform:user"
    what       TEXT NOT NULL,             -- "raised", "over", or the day of a reminder
    tried_at   TEXT NOT NULL,             -- when it was first tried: a killed run may have got through
    told_at    TEXT,
    PRIMARY KEY (notice, admin, what)
) STRICT, WITHOUT ROWID;
