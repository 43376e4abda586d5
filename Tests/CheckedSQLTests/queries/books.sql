-- name: volumes(longer pages:) :many
SELECT * FROM book WHERE pages > :pages ORDER BY id;

-- name: author(named name:) :optional
SELECT * FROM author WHERE name = :name;
