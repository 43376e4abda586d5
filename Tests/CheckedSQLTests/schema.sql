-- litevault: note.state as NoteState
CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent_id INTEGER REFERENCES folder(id));
CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    folder_id INTEGER REFERENCES folder(id),
    title TEXT NOT NULL,
    body TEXT,
    written_at DATETIME,
    state INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX note_folder ON note(folder_id);
CREATE TABLE wide (a INT, b INT, c INT, d INT, e INT, f INT, g INT, h INT, i INT, j INT, k INT, l INT, m INT, n TEXT);
CREATE VIRTUAL TABLE note_text USING fts4(body);

-- What becomes records.
-- litevault: relations
-- litevault: enum Mood calm=0 wild=1
-- litevault: author.mood as Mood
-- litevault: author.links json [String]
-- litevault: version author.revision
-- litevault: record author
-- litevault: record book as Library.Volume
-- litevault: record genre
-- litevault: record book_genre
CREATE TABLE author (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, mood INTEGER NOT NULL DEFAULT 1, links TEXT NOT NULL,
    born DATETIME, added DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE book (
    id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author(id), title TEXT NOT NULL, pages INTEGER);
CREATE TABLE genre (name TEXT NOT NULL PRIMARY KEY, remark TEXT);
CREATE TABLE book_genre (
    book_id INTEGER NOT NULL REFERENCES book(id), genre TEXT NOT NULL REFERENCES genre(name), PRIMARY KEY (book_id, genre));
