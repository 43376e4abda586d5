-- name: insertNote(title:body:folder:writtenAt:) :rowid
INSERT INTO note (title, body, folder_id, written_at) VALUES (:title, :body, :folder, :writtenAt);

-- name: note(_ id:) :one
-- The note with an identifier.
SELECT id, title, state FROM note WHERE id = :id;

-- name: noteIfAny(id:) :optional
SELECT id, title, state FROM note WHERE id = :id;

-- name: notes(containing text:folder:) :many
SELECT id, title, state FROM note
WHERE title LIKE '%' || :text || '%' AND (:folder IS NULL OR folder_id = :folder)
ORDER BY id;

-- name: titles(ids:except excluded:) :many
SELECT title FROM note WHERE id IN (:ids) AND title <> :excluded AND id IN (:ids) ORDER BY id;

-- name: setState(state:ids:) :count
UPDATE note SET state = :state WHERE id IN (:ids);

-- name: deleteNote(id:) :exec
DELETE FROM note WHERE id = :id;

-- name: latest :optional
SELECT max(written_at) FROM note;

-- name: body(id:) :one
SELECT body FROM note WHERE id = :id;

-- name: folderOfNotes(folder:) :many :indexed
-- result: NoteInFolder
SELECT note.id, folder.name AS folder, note.written_at FROM note LEFT JOIN folder ON folder.id = note.folder_id
WHERE note.folder_id = :folder;
