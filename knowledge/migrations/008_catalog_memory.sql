-- Error memory: analyses of faults that proved valid, apart from everything that indexing rebuilds.
-- (Number 006 was never used: data that had reached 007 would have skipped it.)

CREATE TABLE error_cases (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    service       TEXT NOT NULL,
    error_class   TEXT NOT NULL,             -- '' when the alert names none
    fingerprint   TEXT NOT NULL,
    message       TEXT NOT NULL,             -- masked, as is every text here
    summary       TEXT NOT NULL,
    cause         TEXT NOT NULL,
    fix           TEXT NOT NULL,             -- a unified diff, or ''
    cited         TEXT NOT NULL,             -- JSON: locator, text and hash of each piece of evidence
    sources       TEXT NOT NULL,             -- JSON: every source it was taken from; whoever sees all of them sees the case
    origin        TEXT NOT NULL,             -- what it was learnt from: one case an origin
    url           TEXT,                      -- of the analysis
    is_correction INTEGER NOT NULL DEFAULT 0,
    state         TEXT NOT NULL DEFAULT 'valid' CHECK (state IN ('valid', 'wrong', 'replaced')),
    learnt_at     TEXT NOT NULL,
    changed_at    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX error_cases_origin ON error_cases (origin);
CREATE INDEX error_cases_service ON error_cases (service, state, error_class);

CREATE TABLE error_case_denials (            -- causes that people called wrong for a fault: they are not learnt again
    service      TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    cause_hash   TEXT NOT NULL,
    PRIMARY KEY (service, fingerprint, cause_hash)
) STRICT;
