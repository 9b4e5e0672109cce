-- What was changed in a repository: the words of the messages of its commits, and the files that each of them touched.

CREATE TABLE change_logs (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    source  TEXT NOT NULL,
    prefix  TEXT NOT NULL,   -- of one repository in a source that holds many, '' for a source that is one
    head    TEXT NOT NULL,   -- the commit up to which it was read
    version TEXT NOT NULL,   -- of what made the words: another one reads all again
    UNIQUE (source, prefix)
);

-- change = number of the log * 2^32 + n, later commits higher. A file goes by the name that it has at the head.
CREATE TABLE change_files (
    change INTEGER NOT NULL,
    uri    TEXT NOT NULL,
    PRIMARY KEY (change, uri)
) WITHOUT ROWID;
CREATE INDEX change_files_uri ON change_files (uri);

CREATE VIRTUAL TABLE change_words USING fts5 (tokens, tokenize = 'unicode61 remove_diacritics 0');  -- rowid = change
CREATE VIRTUAL TABLE change_terms USING fts5vocab (change_words, row);
