-- name: searchPosts(query:limit:) :many
SELECT p.id, p.thread_id, snippet(post_search, 0, '<b>', '</b>', '…', 12) AS excerpt, highlight(post_search, 0, '[', ']') AS marked, bm25(post_search) AS score, rank
FROM post_search JOIN post p ON p.id = post_search.rowid WHERE post_search MATCH :query ORDER BY rank LIMIT :limit;

-- name: searchUsers(query:) :many
SELECT rowid, handle, displayName FROM user_search WHERE user_search MATCH :query || '*';

-- name: searchBodies(query:) :many
SELECT rowid AS id FROM post_search(:query);

-- name: searchInBody(query:) :many
SELECT body FROM post_search WHERE body MATCH :query;

-- name: indexUser(handle:name:) :exec
INSERT INTO user_search (handle, displayName) VALUES (:handle, :name);

-- name: rebuild :exec
INSERT INTO post_search(post_search) VALUES('rebuild');

-- name: countMatches(query:) :one
SELECT count(*) FROM post_search WHERE post_search MATCH :query;

-- name: thread(id:) :optional
SELECT * FROM thread_overview WHERE id = :id;

-- name: threads(pinnedOnly:limit:offset:) :many
SELECT id, title, author, posts, last_post, is_pinned FROM thread_overview WHERE :pinnedOnly = 0 OR is_pinned ORDER BY is_pinned DESC, last_post DESC LIMIT :limit OFFSET :offset;

-- name: posts(thread:) :many
SELECT p.*, a.handle AS author, e.handle AS editor FROM post p LEFT JOIN user a ON a.id = p.author_id LEFT JOIN user e ON e.id = p.editor_id
WHERE p.thread_id = :thread ORDER BY p.posted_at;

-- name: tree(thread:) :many
WITH RECURSIVE t(id, parent_id, body, depth, path) AS (
    SELECT id, parent_id, body, 0, printf('%08d', id) FROM post WHERE thread_id = :thread AND parent_id IS NULL
    UNION ALL
    SELECT p.id, p.parent_id, p.body, t.depth + 1, t.path || '/' || printf('%08d', p.id) FROM post p JOIN t ON p.parent_id = t.id
    ORDER BY 4 DESC
)
SELECT id, parent_id, body, depth, path FROM t;

-- name: ancestors(post:) :many
WITH RECURSIVE up AS (SELECT id, parent_id FROM post WHERE id = :post UNION ALL SELECT post.id, post.parent_id FROM post JOIN up ON post.id = up.parent_id)
SELECT id FROM up WHERE id <> :post;

-- name: addPost(thread:author:parent:body:) :one
INSERT INTO post (thread_id, author_id, parent_id, body) VALUES (:thread, :author, :parent, :body) RETURNING id, posted_at, word_count;

-- name: edit(post:body:editor:) :count
UPDATE post SET body = :body, edited_at = CURRENT_TIMESTAMP, editor_id = :editor WHERE id = :post;

-- name: react(post:user:emoji:) :exec
INSERT INTO reaction (post_id, user_id, emoji, at) VALUES (:post, :user, :emoji, datetime('now')) ON CONFLICT(post_id, user_id, emoji) DO UPDATE SET at = excluded.at;

-- name: reactions(posts:) :many
SELECT post_id, emoji, count(*) AS number, group_concat(user_id) AS users, max(at) AS latest FROM reaction WHERE post_id IN (:posts) GROUP BY post_id, emoji;

-- name: toggled(post:user:emoji:) :optional
DELETE FROM reaction WHERE (post_id, user_id, emoji) = (:post, :user, :emoji) RETURNING emoji;

-- name: rescore :count
UPDATE post SET score = (SELECT count(*) FROM reaction r WHERE r.post_id = post.id AND r.emoji = '👍') - (SELECT count(*) FROM reaction r WHERE r.post_id = post.id AND r.emoji = '👎');

-- name: scored :many
UPDATE post SET score = s.n FROM (SELECT post_id, count(*) AS n FROM reaction GROUP BY post_id) AS s WHERE s.post_id = post.id RETURNING id, score;

-- name: unread(user:) :many
SELECT t.id, t.title, count(p.id) AS unread FROM thread t JOIN post p ON p.thread_id = t.id
LEFT JOIN read_state r ON r.thread_id = t.id AND r.user_id = :user
WHERE p.id > coalesce(r.last_post, 0) GROUP BY t.id;

-- name: markRead(user:thread:post:) :exec
INSERT INTO read_state VALUES (:user, :thread, :post) ON CONFLICT DO UPDATE SET last_post = max(coalesce(last_post, 0), excluded.last_post);

-- name: theme(user:) :optional
-- column theme: String?
SELECT json_extract(settings, '$.theme') AS theme FROM user WHERE id = :user;

-- name: themes :many
-- column theme: String?
SELECT settings ->> 'theme' AS theme, count(*) AS users FROM user GROUP BY 1;

-- name: setTheme(user:theme:) :exec
-- param theme: String
UPDATE user SET settings = json_patch(settings, json_object('theme', :theme)) WHERE id = :user;

-- name: admins :many
SELECT id, handle FROM user WHERE role = 'admin';

-- name: seen(user:at:) :exec
UPDATE user SET last_seen = :at WHERE id = :user;

-- name: activeSince(moment:) :many
SELECT handle, last_seen, datetime(last_seen, 'unixepoch') AS at FROM user WHERE last_seen > :moment;

-- name: leaderboard :many
SELECT u.handle, sum(p.score) AS score, dense_rank() OVER (ORDER BY sum(p.score) DESC) AS place, count(*) AS posts,
    cume_dist() OVER (ORDER BY sum(p.score)) AS share
FROM user u JOIN post p ON p.author_id = u.id GROUP BY u.id;

-- name: firstPosts :many
SELECT DISTINCT author_id, first_value(body) OVER (PARTITION BY author_id ORDER BY posted_at) AS body, nth_value(body, 2) OVER (PARTITION BY author_id ORDER BY posted_at) AS second FROM post;

-- name: activity(thread:) :many
SELECT date(posted_at) AS day, count(*) AS posts, sum(count(*)) OVER (ORDER BY date(posted_at)) AS total FROM post WHERE thread_id = :thread GROUP BY 1;

-- name: attachments(post:) :many
SELECT id, name, mime, length(bytes) AS size FROM attachment WHERE post_id = :post;

-- name: attach(id:post:name:bytes:mime:) :exec
INSERT INTO attachment (id, post_id, name, bytes, mime) VALUES (:id, :post, :name, :bytes, :mime);

-- name: bytes(id:) :optional
SELECT bytes FROM attachment WHERE id = :id;

-- name: near(x:y:) :many
SELECT id, min_x, max_y FROM place WHERE min_x <= :x AND max_x >= :x AND min_y <= :y AND max_y >= :y;

-- name: handles(pattern:) :many
SELECT handle FROM user WHERE handle GLOB :pattern ORDER BY handle COLLATE NOCASE;

-- name: close(threads:at:) :count
UPDATE thread SET closed_at = :at WHERE id IN (:threads) AND closed_at IS NULL;

-- name: lonely :many
SELECT u.id FROM user u WHERE NOT EXISTS (SELECT * FROM post p WHERE p.author_id = u.id OR p.editor_id = u.id) INTERSECT SELECT id FROM user;

-- name: pair(a:b:) :one
SELECT (SELECT count(*) FROM post WHERE author_id = :a) AS first, (SELECT count(*) FROM post WHERE author_id = :b) AS second, :a = :b AS same;

-- name: exists(handle:) :one
SELECT EXISTS (SELECT 1 FROM user WHERE handle = :handle) AS isThere;

-- name: newest(thread:) :optional
SELECT id, body FROM post WHERE thread_id = :thread AND posted_at = (SELECT max(posted_at) FROM post WHERE thread_id = :thread);

-- name: longPosts(words:) :many
SELECT id, word_count, body NOT LIKE '%http%' AS isPlain, typeof(score) AS type, abs(score) AS size, NOT closed_at IS NULL AS closed
FROM post NATURAL LEFT JOIN (SELECT id AS thread_id, closed_at FROM thread) WHERE word_count > :words;
