-- litevault: relations
-- litevault: record note
-- litevault: record tag
-- litevault: record note_tag
CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '',
    created DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE note_tag (
    note_id INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tag (id),
    PRIMARY KEY (note_id, tag_id)
);
CREATE INDEX note_tag_by_tag ON note_tag (tag_id);
