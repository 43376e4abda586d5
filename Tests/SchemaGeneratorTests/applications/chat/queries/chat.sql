-- name: rooms :many
SELECT id, kind, title, last_body, last_at, last_sender, unread, muted FROM room_list ORDER BY pin_order IS NULL, pin_order, last_at DESC;
-- name: unreadTotal :one
SELECT sum(unread) AS total, count(*) FILTER (WHERE unread > 0 AND NOT muted) AS rooms FROM room_list;
-- name: messages(in room:before:limit:) :many
SELECT m.*, u.name AS senderName, r.body AS quoted FROM message AS m JOIN user AS u ON u.id = m.sender_id LEFT JOIN message r ON r.id = m.reply_to AND r.deleted_at IS NULL
WHERE m.room_id = :room AND m.deleted_at IS NULL AND (:before IS NULL OR m.id < :before) ORDER BY m.id DESC LIMIT :limit;
-- name: message(uuid:) :optional :indexed
SELECT * FROM message WHERE uuid = :uuid;
-- name: messageByHex(hex:) :optional :indexed
SELECT id, body FROM message WHERE hex(uuid) = upper(:hex);
-- name: send(uuid:room:sender:body:replyTo:attachments:at:) :one
INSERT INTO message (uuid, room_id, sender_id, body, reply_to, thread_id, attachments, sent_at)
VALUES (:uuid, :room, :sender, :body, :replyTo, (SELECT coalesce(thread_id, id) FROM message WHERE id = :replyTo), :attachments, :at) RETURNING id, thread_id;
-- name: edit(id:body:at:) :count
UPDATE message SET body = :body, edited_at = :at WHERE id = :id AND deleted_at IS NULL AND body IS NOT :body;
-- name: erase(ids:at:) :many
UPDATE message SET body = NULL, attachments = '[]', deleted_at = :at WHERE id IN (:ids) RETURNING id, room_id, deleted_at;
-- name: react(id:emoji:user:) :exec
-- param user: String
UPDATE message SET reactions = json_set(coalesce(reactions, '{}'), '$.' || :emoji, json_insert(coalesce(json_extract(reactions, '$.' || :emoji), '[]'), '$[#]', :user)) WHERE id = :id;
-- name: reactions(id:) :many
-- column emoji: String
SELECT r.key AS emoji, json_array_length(r.value) AS users FROM message m, json_each(m.reactions) AS r WHERE m.id = :id AND m.reactions IS NOT NULL ORDER BY 2 DESC;
-- name: attachmentsIn(room:) :many
-- column path: String
-- column place: Int
SELECT m.id, a.value AS path, a.key AS place FROM message m JOIN json_each(m.attachments) a WHERE m.room_id = :room AND a.type = 'text';
-- name: thread(root:) :many
WITH RECURSIVE t AS (
  SELECT id, reply_to, body, sent_at, 0 AS depth, printf('%08d', id) AS path FROM message WHERE id = :root
  UNION ALL SELECT m.id, m.reply_to, m.body, m.sent_at, t.depth + 1, t.path || '/' || printf('%08d', m.id) FROM t JOIN message m ON m.reply_to = t.id WHERE t.depth < 50)
SELECT id, reply_to, coalesce(body, '(deleted)') AS body, sent_at, depth FROM t ORDER BY path;
-- name: ancestors(of id:) :many
WITH RECURSIVE up(id, parent) AS (SELECT id, reply_to FROM message WHERE id = :id UNION SELECT m.id, m.reply_to FROM message m, up WHERE m.id = up.parent)
SELECT up.id, m.body FROM up LEFT OUTER JOIN message m USING (id) WHERE up.id <> :id;
-- name: searchMessages(query:room:) :many
SELECT m.id, m.room_id, m.sent_at, -bm25(message_search) AS score FROM message_search s JOIN message m ON m.id = s.rowid WHERE message_search MATCH :query AND (:room IS NULL OR m.room_id = :room) ORDER BY rank;
-- name: index(id:body:sender:) :exec
-- param sender: String
INSERT INTO message_search (rowid, body, sender) VALUES (:id, :body, :sender);
-- name: members(room:roles:) :many
SELECT u.id, coalesce(u.nickname, u.name) AS display, ms.role, ms.joined_at, ms.left_at IS NULL AS active FROM membership ms JOIN user u ON u.id = ms.user_id WHERE ms.room_id = :room AND ms.role IN (:roles) ORDER BY CASE ms.role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, display COLLATE NOCASE;
-- name: commonRooms(a:b:) :many
SELECT room_id FROM membership WHERE user_id = :a AND left_at IS NULL INTERSECT SELECT room_id FROM membership WHERE user_id = :b AND left_at IS NULL;
-- name: directRoom(with user:) :optional
SELECT r.* FROM room r WHERE r.kind = 'direct' AND EXISTS (SELECT * FROM membership WHERE room_id = r.id AND user_id = :user) AND (SELECT count(*) FROM membership WHERE room_id = r.id) = 2;
-- name: join(room:user:role:at:) :exec
INSERT INTO membership (room_id, user_id, role, joined_at) VALUES (:room, :user, :role, :at) ON CONFLICT (room_id, user_id) DO UPDATE SET left_at = NULL, role = excluded.role WHERE left_at IS NOT NULL;
-- name: leave(room:user:at:) :count
UPDATE membership SET left_at = :at WHERE (room_id, user_id) = (:room, :user) AND left_at IS NULL;
-- name: markRead(room:message:) :exec
UPDATE membership SET last_read = max(coalesce(last_read, 0), :message) WHERE room_id = :room AND user_id = 'me';
-- name: receipts(message:) :many
SELECT user_id, max(state) AS state, max(at) AS at FROM receipt WHERE message_id = :message GROUP BY user_id;
-- name: receiptSummary(messages:) :many
SELECT message_id, min(state) AS lowest, count(DISTINCT user_id) AS users, count(*) FILTER (WHERE state >= 2) AS delivered, sum(state = 3) AS read FROM receipt WHERE message_id IN (:messages) GROUP BY message_id;
-- name: receive(message:user:device:state:at:) :exec
INSERT INTO receipt VALUES (:message, :user, :device, :state, :at) ON CONFLICT (message_id, user_id, device) DO UPDATE SET state = max(state, excluded.state), at = excluded.at;
-- name: states(pairs:) :many
SELECT message_id, user_id, device, state FROM receipt WHERE (message_id, user_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:pairs));
-- name: pending(now:limit:) :many
SELECT o.id, o.attempts, o.next_attempt, o.error, m.uuid, m.room_id, m.body FROM outbox o JOIN message m ON m.id = o.message_id WHERE o.next_attempt IS NULL OR o.next_attempt <= :now ORDER BY o.id LIMIT :limit;
-- name: failed(id:error:now:) :exec
UPDATE outbox SET attempts = attempts + 1, error = :error, next_attempt = :now + (1 << min(attempts, 10)) WHERE id = :id;
-- name: sent(ids:) :many
DELETE FROM outbox WHERE message_id IN (:ids) RETURNING message_id, attempts;
-- name: expired(now:) :many
DELETE FROM message WHERE expires_at IS NOT NULL AND expires_at <= :now RETURNING id, room_id, expires_at;
-- name: activity(room:days:) :many
SELECT date(sent_at, 'unixepoch') AS day, count(*) AS messages, count(DISTINCT sender_id) AS senders, sum(length(body)) AS characters, avg(json_array_length(attachments)) AS files
FROM message WHERE room_id = :room AND sent_at > unixepoch('now', '-' || :days || ' days') GROUP BY 1 ORDER BY 1;
-- name: responseTimes(room:) :many
SELECT sender_id, avg(gap) AS seconds, min(gap) AS fastest FROM (SELECT sender_id, sent_at - lag(sent_at) OVER (ORDER BY sent_at) AS gap, lag(sender_id) OVER (ORDER BY sent_at) AS previous FROM message WHERE room_id = :room) WHERE previous <> sender_id GROUP BY sender_id;
-- name: lastMessages :many
SELECT room_id, id, body, sender_id = 'me' AS mine FROM message m WHERE sent_at = (SELECT max(sent_at) FROM message WHERE room_id = m.room_id);
-- name: contacts(like pattern:) :many
SELECT id, name, nickname FROM user WHERE name LIKE :pattern ESCAPE '\' OR nickname LIKE :pattern ESCAPE '\' ORDER BY coalesce(nickname, name) COLLATE NOCASE;
-- name: blocked :many
SELECT id FROM user WHERE is_blocked;
-- name: block(id:blocked:) :exec
UPDATE user SET is_blocked = :blocked WHERE id = :id;
-- name: online(since:) :many
SELECT u.id, u.name, u.seen_at, datetime(u.seen_at, 'unixepoch') AS seen, (julianday('now') - 2440587.5) * 86400 - u.seen_at AS ago FROM user u WHERE u.seen_at >= :since;
-- name: devices(users:) :many
SELECT user_id, number, name, session FROM device WHERE user_id IN (:users) AND session NOTNULL;
-- name: fanOut(message:room:) :count
INSERT OR IGNORE INTO receipt (message_id, user_id, device) SELECT :message, d.user_id, d.number FROM membership ms NATURAL JOIN device d WHERE ms.room_id = :room AND ms.left_at ISNULL AND d.user_id != 'me';
-- name: storage :many
SELECT r.id, r.title, sum(length(m.body)) AS text, sum(json_array_length(m.attachments)) AS files, count(m.id) AS messages, max(m.sent_at) AS latest FROM room r LEFT JOIN message m ON m.room_id = r.id GROUP BY r.id HAVING messages > 0 ORDER BY text DESC;
-- name: draft(room:) :one
SELECT draft, "default", version FROM room WHERE id = :room;
-- name: saveDraft(room:text:version:) :count
UPDATE room SET draft = nullif(trim(:text), ''), version = version + 1 WHERE id = :room AND version = :version;
-- name: payload(id:) :one
-- column payload: Data?
SELECT payload, typeof(payload) AS kind FROM outbox WHERE id = :id;
