-- The content has a table of its own, so that reading the record of an attachment does not read its content.
-- litevault: record attachment
CREATE TABLE attachment (
    id INTEGER PRIMARY KEY,
    note_id INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    size INTEGER NOT NULL
);
CREATE INDEX attachment_by_note ON attachment (note_id);
CREATE TABLE attachment_content (
    id INTEGER PRIMARY KEY REFERENCES attachment (id) ON DELETE CASCADE,
    content BLOB NOT NULL
);
