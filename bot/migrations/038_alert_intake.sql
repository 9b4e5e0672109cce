-- Alerts that came by HTTP: saved before they are acknowledged, in the order in which they came, until the inbox has them.

CREATE TABLE alert_bodies (
    id           TEXT PRIMARY KEY,      -- what the sender is told
    identity     TEXT NOT NULL,         -- the same for every delivery of the same body
    received_at  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_bodies_lately ON alert_bodies (identity, received_at);

CREATE TABLE incoming_alerts (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_key  TEXT NOT NULL UNIQUE,
    alert         TEXT NOT NULL,        -- JSON, masked; empty once nobody needs it
    platform      TEXT NOT NULL,        -- where it is to be posted; both empty when no channel is configured for it
    channel_id    TEXT NOT NULL,
    root_id       TEXT,                 -- of its post, once that stands there
    tried_at      TEXT,                 -- when posting was first tried: a killed run may have got through
    crashes       INTEGER NOT NULL DEFAULT 0,  -- how often the process ended in the middle of it
    state         TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'placed', 'done', 'failed')),
    outcome       TEXT,
    received_at   TEXT NOT NULL,
    done_at       TEXT
) STRICT;
CREATE INDEX incoming_alerts_waiting ON incoming_alerts (number) WHERE state = 'waiting';
CREATE INDEX incoming_alerts_done ON incoming_alerts (done_at) WHERE done_at IS NOT NULL;

CREATE TABLE alert_digests (            -- posts under which faults beyond the limits are gathered, one an hour
    platform      TEXT NOT NULL,
    channel_id    TEXT NOT NULL,
    hour          TEXT NOT NULL,
    root_id       TEXT NOT NULL,
    is_changed    INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (platform, channel_id, hour)
) STRICT, WITHOUT ROWID;
