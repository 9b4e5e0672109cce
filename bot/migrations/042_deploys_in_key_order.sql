-- SQLite 3.40 takes values for NULL when it checks a table WITHOUT ROWID whose key is in another order than its columns.
CREATE TABLE deploys_in_key_order (
    service      TEXT NOT NULL,
    environment  TEXT NOT NULL,
    deployed_at  TEXT NOT NULL,
    revision     TEXT NOT NULL,
    repository   TEXT NOT NULL,
    PRIMARY KEY (service, environment, deployed_at, revision)
) STRICT, WITHOUT ROWID;
INSERT INTO deploys_in_key_order (service, environment, deployed_at, revision, repository)
    SELECT service, environment, deployed_at, revision, repository FROM deploys;
DROP TABLE deploys;
ALTER TABLE deploys_in_key_order RENAME TO deploys;
