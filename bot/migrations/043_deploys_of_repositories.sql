-- Two repositories of one service may be deployed at one moment under one tag.
CREATE TABLE deploys_of_repositories (
    service      TEXT NOT NULL,
    environment  TEXT NOT NULL,
    repository   TEXT NOT NULL,
    deployed_at  TEXT NOT NULL,
    revision     TEXT NOT NULL,
    PRIMARY KEY (service, environment, repository, deployed_at, revision)
) STRICT, WITHOUT ROWID;
INSERT INTO deploys_of_repositories (service, environment, repository, deployed_at, revision)
    SELECT service, environment, repository, deployed_at, revision FROM deploys;
DROP TABLE deploys;
ALTER TABLE deploys_of_repositories RENAME TO deploys;
