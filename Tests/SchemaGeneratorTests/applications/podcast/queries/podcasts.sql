-- name: library :many
SELECT * FROM podcast_overview ORDER BY title COLLATE NOCASE;

-- name: sorted :many
SELECT podcast_id, sort_title, is_explicit, refresh_minutes, playback_speed FROM podcasts ORDER BY sort_title COLLATE NOCASE;

-- name: podcast(feed:) :optional :indexed
SELECT * FROM podcasts WHERE feed_url = :feed;

-- name: subscribe(feed:title:author:image:owner:) :one
INSERT INTO podcasts (feed_url, title, author, image_url, owner) VALUES (:feed, :title, :author, :image, :owner)
ON CONFLICT (feed_url) DO UPDATE SET title = excluded.title, author = coalesce(excluded.author, author) RETURNING podcast_id;

-- name: unsubscribe(id:) :exec
DELETE FROM podcasts WHERE podcast_id = :id;

-- name: setSpeed(id:speed:) :count
UPDATE podcasts SET playback_speed = :speed WHERE podcast_id = :id;

-- name: due(now:) :many
SELECT podcast_id, feed_url, etag FROM podcasts WHERE datetime(subscribed_at, '+' || refresh_minutes || ' minutes') <= :now;

-- name: authors :many
SELECT DISTINCT lower(trim(author)) AS author, count(*) OVER (PARTITION BY lower(trim(author))) AS shows FROM podcasts WHERE author IS NOT NULL;

-- name: categories(of podcast:) :many
WITH RECURSIVE up(name, parent, level) AS (
  SELECT c.name, c.parent, 0 FROM categories c JOIN podcast_categories pc ON pc.category = c.name WHERE pc.podcast_id = :podcast
  UNION ALL
  SELECT c.name, c.parent, up.level + 1 FROM categories c JOIN up ON up.parent = c.name
) SELECT name, min(level) AS level FROM up GROUP BY name;

-- name: inCategories(categories:minimum:) :many
SELECT p.podcast_id, p.title FROM podcasts p WHERE (SELECT count(*) FROM podcast_categories pc WHERE pc.podcast_id = p.podcast_id AND pc.category IN (:categories)) >= :minimum;

-- name: ownerMail(id:) :one
-- column mail: String?
SELECT owner ->> '$.email' AS mail FROM podcasts WHERE podcast_id = :id;

-- name: owners :many
-- column field: String
-- column value: String
SELECT p.title, o.key AS field, o.value AS value FROM podcasts p, json_each(p.owner) o WHERE o.type = 'text';

-- name: setting(key:) :optional
SELECT value FROM settings WHERE key = :key;

-- name: set(key:value:) :exec
REPLACE INTO settings VALUES (:key, :value);
