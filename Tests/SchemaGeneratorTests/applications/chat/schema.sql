-- litevault: relations
-- litevault: record user as Account
-- litevault: record room
-- litevault: record membership
-- litevault: record message
-- litevault: record device
-- litevault: record receipt
-- litevault: record outbox
-- litevault: enum RoomKind direct=direct group=group channel=channel
-- litevault: enum DeliveryState pending=0 sent=1 delivered=2 read=3 failed=9
-- litevault: room.kind as RoomKind
-- litevault: receipt.state as DeliveryState
-- litevault: message.attachments json [String]
-- litevault: version room.version
-- litevault: outbox.payload as StoredValue?
CREATE TABLE user (
  id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, nickname TEXT, avatar BLOB, public_key BLOB NOT NULL CHECK (length(public_key) = 32),
  is_blocked INTEGER NOT NULL DEFAULT 0 CHECK (is_blocked IN (0, 1)), seen_at REAL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE room (
  id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL DEFAULT 'direct', title TEXT, muted_until INTEGER, pin_order INTEGER, last_message_id INTEGER REFERENCES message(id) ON DELETE SET NULL,
  draft TEXT, "default" INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE membership (
  room_id TEXT NOT NULL REFERENCES room(id) ON DELETE CASCADE, user_id TEXT NOT NULL REFERENCES user(id), role TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('owner', 'admin', 'member')),
  joined_at INTEGER NOT NULL, left_at INTEGER, last_read INTEGER REFERENCES message(id), PRIMARY KEY (room_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE message (
  id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, room_id TEXT NOT NULL REFERENCES room(id) ON DELETE CASCADE, sender_id TEXT NOT NULL REFERENCES user(id), reply_to INTEGER REFERENCES message(id) ON DELETE SET NULL,
  thread_id INTEGER REFERENCES message(id), body TEXT, attachments TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(attachments)), reactions TEXT CHECK (reactions IS NULL OR json_valid(reactions)), sent_at INTEGER NOT NULL,
  edited_at INTEGER, deleted_at INTEGER, expires_at INTEGER, CHECK (body IS NOT NULL OR deleted_at IS NOT NULL OR json_array_length(attachments) > 0),
  FOREIGN KEY (room_id, sender_id) REFERENCES membership(room_id, user_id)
) STRICT;
CREATE TABLE receipt (message_id INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE, user_id TEXT NOT NULL, device INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, at REAL,
  PRIMARY KEY (message_id, user_id, device), FOREIGN KEY (user_id, device) REFERENCES device(user_id, number)) STRICT, WITHOUT ROWID;
CREATE TABLE device (user_id TEXT NOT NULL REFERENCES user(id) ON DELETE CASCADE, number INTEGER NOT NULL, name TEXT, session BLOB, PRIMARY KEY (user_id, number)) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (id INTEGER PRIMARY KEY, message_id INTEGER NOT NULL UNIQUE REFERENCES message(id) ON DELETE CASCADE, attempts INTEGER NOT NULL DEFAULT 0, next_attempt INTEGER, error TEXT, payload ANY) STRICT;
CREATE TABLE message_search_docs (docid INTEGER PRIMARY KEY, c0 TEXT);
CREATE VIRTUAL TABLE message_search USING fts5 (body, sender UNINDEXED, content='');
CREATE INDEX message_room ON message (room_id, sent_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX message_thread ON message (thread_id) WHERE thread_id IS NOT NULL;
CREATE UNIQUE INDEX message_by_hex ON message (hex(uuid));
CREATE INDEX user_name ON user (coalesce(nickname, name) COLLATE NOCASE);
CREATE TRIGGER message_last AFTER INSERT ON message BEGIN
  UPDATE room SET last_message_id = new.id WHERE id = new.room_id AND (last_message_id IS NULL OR new.id > last_message_id);
  INSERT INTO outbox (message_id) SELECT new.id WHERE new.sender_id = 'me';
END;
CREATE TRIGGER message_ban BEFORE INSERT ON message WHEN (SELECT is_blocked FROM user WHERE id = new.sender_id) = 1 BEGIN SELECT RAISE(IGNORE); END;
CREATE VIEW room_list AS
SELECT r.id, r.kind, coalesce(r.title, (SELECT group_concat(coalesce(u.nickname, u.name), ', ') FROM membership x JOIN user u ON u.id = x.user_id WHERE x.room_id = r.id AND u.id <> 'me')) AS title,
  m.body AS last_body, m.sent_at AS last_at, s.name AS last_sender,
  (SELECT count(*) FROM message n WHERE n.room_id = r.id AND n.id > coalesce(me.last_read, 0) AND n.deleted_at IS NULL) AS unread,
  r.muted_until IS NOT NULL AND r.muted_until > CAST(strftime('%s', 'now') AS INTEGER) AS muted, r.pin_order
FROM room r LEFT JOIN message m ON m.id = r.last_message_id LEFT JOIN user s ON s.id = m.sender_id
LEFT JOIN membership me ON me.room_id = r.id AND me.user_id = 'me';
