-- Statements about folders, and one with more parameters than a call takes.

-- name: insertFolder(name:parent:) :rowid
INSERT INTO folder (name, parent_id) VALUES (:name, :parent);

-- name: paths(below root:) :many
WITH RECURSIVE tree(id, path) AS (
    SELECT id, name FROM folder WHERE id = :root
    UNION ALL
    SELECT folder.id, tree.path || '/' || folder.name FROM folder JOIN tree ON folder.parent_id = tree.id
)
SELECT path FROM tree ORDER BY path;

-- name: insertWide(a:b:c:d:e:f:g:h:i:j:k:l:m:n:) :exec
INSERT INTO wide VALUES (:a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, :m, :n);

-- name: wide :one
SELECT a, k, l, m, n FROM wide;

-- name: indexText(id:text:) :exec
INSERT INTO note_text (docid, body) VALUES (:id, :text);

-- name: search(words:) :many
SELECT docid AS id, body FROM note_text WHERE note_text MATCH :words;
