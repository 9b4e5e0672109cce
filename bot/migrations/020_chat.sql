-- Alerts and commands go through the inbox too; deliveries that wait for a platform; what votes are about; cursors.

CREATE TABLE inbox_of_chats (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_id   TEXT NOT NULL UNIQUE,
    platform      TEXT NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('message', 'command', 'alert')),
    lane          TEXT NOT NULL CHECK (lane IN ('slow', 'quick', 'long', 'alert')),  -- see bot/inbox.py
    thread_key    TEXT NOT NULL,
    author_id     TEXT NOT NULL DEFAULT '',
    said_at       TEXT NOT NULL,               -- order within a thread: deliveries overtake each other
    told          TEXT,                        -- what is said instead of an answer
    payload       TEXT NOT NULL,
    state         TEXT NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'working', 'done', 'failed')),
    not_before    TEXT,                        -- waits until then for a platform that did not answer
    postponed     INTEGER NOT NULL DEFAULT 0,  -- how often
    crashes       INTEGER NOT NULL DEFAULT 0,  -- how often the process ended while it was being worked on
    scope         TEXT,                        -- JSON: the sources that the answer was taken from, null for all
    reply         TEXT,                        -- JSON: what is to be posted, once it is known
    outcome       TEXT,
    received_at   TEXT NOT NULL,
    done_at       TEXT
) STRICT;

INSERT INTO inbox_of_chats (seq, delivery_id, platform, kind, lane, thread_key, author_id, said_at, told, payload, state, crashes,
                            outcome, received_at, done_at)
SELECT seq, delivery_id, platform, kind, 'slow', thread_key,
       COALESCE(json_extract(payload, '$.message.author.id'), ''), received_at, json_extract(payload, '$.told'),
       COALESCE(json_extract(payload, '$.message'), payload), state, MAX(attempts - 1, 0), outcome, received_at, done_at
FROM inbox;

DROP TABLE inbox;
ALTER TABLE inbox_of_chats RENAME TO inbox;

CREATE INDEX inbox_open ON inbox (seq) WHERE state IN ('received', 'working');
CREATE INDEX inbox_open_thread ON inbox (thread_key, seq) WHERE state IN ('received', 'working');
CREATE INDEX inbox_thread ON inbox (thread_key);
CREATE INDEX inbox_time ON inbox (received_at);
CREATE INDEX inbox_author ON inbox (platform, author_id, received_at);

ALTER TABLE replies ADD COLUMN kind TEXT NOT NULL DEFAULT 'message';    -- of the delivery
ALTER TABLE replies ADD COLUMN scope TEXT;                              -- as in inbox
ALTER TABLE replies ADD COLUMN question TEXT NOT NULL DEFAULT '';       -- masked, as the rest
ALTER TABLE replies ADD COLUMN answer TEXT NOT NULL DEFAULT '';
ALTER TABLE replies ADD COLUMN evidence_ids TEXT NOT NULL DEFAULT '[]'; -- JSON: chunks that were cited or shown

CREATE TABLE votes (
    platform      TEXT NOT NULL,
    delivery_id   TEXT NOT NULL,               -- that the reply answers
    author_id     TEXT NOT NULL,
    vote          TEXT NOT NULL CHECK (vote IN ('up', 'down', 'wrong')),
    comment       TEXT NOT NULL,
    question      TEXT NOT NULL,               -- what was voted on stays readable when the reply is gone
    answer        TEXT NOT NULL,
    evidence_ids  TEXT NOT NULL,
    given_at      TEXT NOT NULL,
    PRIMARY KEY (platform, delivery_id, author_id)
) STRICT;
CREATE INDEX votes_time ON votes (given_at);

INSERT OR REPLACE INTO votes
SELECT r.platform, r.delivery_id, f.author_id, f.vote, f.comment, COALESCE(q.question, ''), '', COALESCE(q.cited_ids, '[]'),
       f.given_at
FROM feedback f JOIN replies r ON r.post_id = f.reply_id LEFT JOIN query_log q ON q.delivery_id = r.delivery_id;

DROP TABLE feedback;
ALTER TABLE votes RENAME TO feedback;

CREATE TABLE platform_state (
    platform    TEXT NOT NULL,
    key         TEXT NOT NULL,
    value       TEXT NOT NULL,
    changed_at  TEXT NOT NULL,
    PRIMARY KEY (platform, key)
) STRICT;
