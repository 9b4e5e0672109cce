-- What the files of a folder were like when they were hashed: what provably has not changed is not read again.
CREATE TABLE file_looks (
    source       TEXT NOT NULL,
    uri          TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    size_bytes   INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    ctime_ns     INTEGER NOT NULL,
    inode        TEXT NOT NULL,   -- unsigned 64 bits on some file systems
    is_settled   INTEGER NOT NULL,
    PRIMARY KEY (source, uri)
) WITHOUT ROWID;
