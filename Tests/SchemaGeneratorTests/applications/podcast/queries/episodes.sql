-- name: search(text:limit:) :many
SELECT e.id, e.title, snippet(episodes_fts, 1, '<b>', '</b>', '…', 12) AS excerpt, bm25(episodes_fts, 10.0, 1.0) AS score
FROM episodes_fts JOIN episodes e ON e.id = episodes_fts.rowid WHERE episodes_fts MATCH :text ORDER BY rank LIMIT :limit;

-- name: searchInTitles(text:) :many
SELECT rowid, highlight(episodes_fts, 0, '[', ']') AS title, rank FROM episodes_fts(:text) WHERE title MATCH 'a*' OR 1 ORDER BY rank;

-- name: words(prefix:) :many
SELECT term, doc, cnt FROM vocabulary WHERE term GLOB :prefix || '*' ORDER BY cnt DESC LIMIT 10;

-- name: optimizeIndex :exec
INSERT INTO episodes_fts(episodes_fts) VALUES('optimize');

-- name: episodes(podcast:state:season:) :many
SELECT * FROM episodes WHERE podcast_id = :podcast AND (:state IS NULL OR download_state = :state) AND (season = :season OR :season IS NULL) ORDER BY published_at DESC NULLS LAST;

-- name: page(podcast:before:beforeID:limit:) :many
SELECT id, title, published_at FROM episodes WHERE podcast_id = :podcast AND (published_at, id) < (:before, :beforeID) ORDER BY published_at DESC, id DESC LIMIT :limit;

-- name: unplayed(podcast:) :many
SELECT id, title, remaining, position, duration FROM unplayed WHERE podcast_id = :podcast;

-- name: continueListening :many
SELECT e.id, e.title, p.title AS podcast, s.position, round(100.0 * s.position / e.duration, 1) AS percent, e.duration - s.position AS "left"
FROM playback_states s JOIN episodes e ON e.id = s.episode_id JOIN podcasts p ON p.podcast_id = e.podcast_id
WHERE s.finished_at IS NULL AND s.position > 0 ORDER BY s.updated_at DESC;

-- name: savePosition(episode:position:) :exec
INSERT INTO playback_states (episode_id, position) VALUES (:episode, :position)
ON CONFLICT (episode_id) DO UPDATE SET position = excluded.position, updated_at = datetime('now'), plays = plays + (excluded.position < position);

-- name: finish(episodes:at:) :count
UPDATE playback_states SET finished_at = :at, plays = plays + 1 WHERE episode_id IN (:episodes) AND finished_at IS NULL;

-- name: enqueue(episode:) :one
INSERT INTO queue_entries (position, episode_id) SELECT coalesce(max(position), 0) + 1, :episode FROM queue_entries RETURNING position, added_at;

-- name: enqueueNext(episode:) :exec
INSERT INTO queue_entries (position, episode_id) VALUES ((SELECT min(position) - 1 FROM queue_entries), :episode);

-- name: queue :many
SELECT row_number() OVER (ORDER BY q.position) AS place, e.id, e.title, sum(e.duration) OVER (ORDER BY q.position) AS until, e.is_local, e.minutes
FROM queue_entries q INNER JOIN episodes e ON q.episode_id = e.id;

-- name: popQueue :optional
DELETE FROM queue_entries WHERE position = (SELECT min(position) FROM queue_entries) RETURNING episode_id;

-- name: moveInQueue(from:to:) :exec
UPDATE queue_entries SET position = CASE WHEN position = :from THEN :to ELSE position + 1 END WHERE position = :from OR position >= :to;

-- name: downloads :many
SELECT download_state, count(*) AS episodes, total(bytes) / 1048576 AS megabytes, max(bytes) AS largest FROM episodes GROUP BY download_state HAVING count(*) > 0;

-- name: deletable(keep:before:) :many
SELECT id, local_path FROM (
  SELECT id, local_path, published_at, row_number() OVER (PARTITION BY podcast_id ORDER BY published_at DESC) AS n FROM episodes WHERE is_local
) WHERE n > :keep AND (published_at < :before OR published_at IS NULL);

-- name: setState(id:state:path:) :exec
UPDATE episodes SET (download_state, local_path) = (:state, :path) WHERE id = :id;

-- name: chapters(of episode:) :many
SELECT starts, title, lead(starts) OVER (ORDER BY starts) AS ends, length(image) AS imageBytes FROM chapters WHERE episode_id = :episode;

-- name: chapter(episode:at:) :optional
SELECT title, image FROM chapters WHERE episode_id = :episode AND starts <= :at ORDER BY starts DESC LIMIT 1;

-- name: listened(day:podcast:seconds:) :exec
INSERT INTO listening_days AS d (day, podcast_id, seconds) VALUES (:day, :podcast, :seconds)
ON CONFLICT DO UPDATE SET seconds = d.seconds + excluded.seconds WHERE excluded.seconds > 0;

-- name: week(from:to:) :many
WITH RECURSIVE days(day) AS (VALUES (:from) UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < :to)
SELECT days.day, coalesce(sum(l.seconds), 0) AS seconds, count(l.podcast_id) AS shows FROM days LEFT JOIN listening_days l ON l.day = days.day GROUP BY days.day;

-- name: streak :one
WITH g AS (SELECT day, julianday(day) - row_number() OVER (ORDER BY day) AS grp FROM (SELECT DISTINCT day FROM listening_days))
SELECT count(*) AS days, min(day) AS first, max(day) AS last FROM g GROUP BY grp ORDER BY days DESC LIMIT 1;

-- name: topShows(since:) :many
SELECT p.podcast_id, p.title, sum(l.seconds) AS seconds, sum(l.seconds) * 100.0 / (SELECT sum(seconds) FROM listening_days WHERE day >= :since) AS share,
  rank() OVER (ORDER BY sum(l.seconds) DESC) AS place, dense_rank() OVER (ORDER BY count(*) DESC) AS daysPlace
FROM listening_days l JOIN podcasts p USING (podcast_id) WHERE l.day >= :since GROUP BY p.podcast_id;

-- name: import(json:podcast:) :count
INSERT OR IGNORE INTO episodes (podcast_id, guid, title, media_url, published_at, duration)
SELECT :podcast, value ->> 'guid', coalesce(value ->> 'title', 'Untitled'), value ->> 'url', value ->> 'date', CAST(value ->> 'duration' AS INTEGER) FROM json_each(:json);

-- name: hasEpisode(guid:podcast:) :one
SELECT EXISTS (SELECT 1 FROM episodes WHERE guid = :guid AND podcast_id = :podcast) AS found;

-- name: newest :many
SELECT podcast_id, id, title, max(published_at) AS published FROM episodes GROUP BY podcast_id;

-- name: neighbours(id:) :one
SELECT (SELECT max(id) FROM episodes WHERE id < :id) AS previous, (SELECT min(id) FROM episodes WHERE id > :id) AS next;
