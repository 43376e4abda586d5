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
