-- litevault: public
-- litevault: relations
-- litevault: record user
-- litevault: record post
-- litevault: record thread
-- litevault: record reaction
-- litevault: record attachment as Attachment without Hashable
-- litevault: record read_state
CREATE TABLE user(id TEXT PRIMARY KEY NOT NULL, handle TEXT NOT NULL UNIQUE, "displayName" TEXT, role TEXT NOT NULL DEFAULT 'member' CHECK(role IN('member','admin')),
    settings TEXT NOT NULL DEFAULT '{"theme":"dark"}', last_seen REAL, joined INTEGER NOT NULL DEFAULT (unixepoch()));
CREATE TABLE thread(id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id TEXT NOT NULL REFERENCES user(id), pinned INTEGER NOT NULL DEFAULT 0, closed_at DATETIME);
CREATE TABLE post(
    id INTEGER PRIMARY KEY,
    thread_id INTEGER NOT NULL REFERENCES thread(id) ON DELETE CASCADE,
    author_id TEXT REFERENCES user(id) ON DELETE SET NULL,
    editor_id TEXT REFERENCES user(id),
    parent_id INTEGER REFERENCES post(id),
    body TEXT NOT NULL,
    posted_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    edited_at DATETIME,
    score INTEGER NOT NULL DEFAULT 0,
    word_count INTEGER AS (length(body) - length(replace(body, ' ', '')) + 1)
);
CREATE INDEX post_thread ON post(thread_id, posted_at);
CREATE TABLE reaction(post_id INTEGER NOT NULL REFERENCES post(id), user_id TEXT NOT NULL REFERENCES user(id), emoji TEXT NOT NULL, at DATETIME, PRIMARY KEY(post_id, user_id, emoji)) WITHOUT ROWID;
CREATE TABLE attachment(id BLOB PRIMARY KEY NOT NULL, post_id INTEGER NOT NULL REFERENCES post(id), name TEXT NOT NULL, bytes BLOB, mime TEXT, CHECK(length(id) = 16));
CREATE TABLE read_state(user_id TEXT NOT NULL, thread_id INTEGER NOT NULL, last_post INTEGER, PRIMARY KEY(user_id, thread_id), FOREIGN KEY(user_id) REFERENCES user(id), FOREIGN KEY(thread_id) REFERENCES thread(id));
CREATE VIRTUAL TABLE post_search USING fts5(body, content='post', content_rowid='id', tokenize = "unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE user_search USING fts5(handle, displayName, prefix='2 3');
CREATE VIRTUAL TABLE place USING rtree(id, min_x, max_x, min_y, max_y);
CREATE TRIGGER post_ai AFTER INSERT ON post BEGIN INSERT INTO post_search(rowid, body) VALUES (new.id, new.body); END;
CREATE TRIGGER post_ad AFTER DELETE ON post BEGIN INSERT INTO post_search(post_search, rowid, body) VALUES('delete', old.id, old.body); END;
CREATE TRIGGER post_au AFTER UPDATE OF body ON post BEGIN
    INSERT INTO post_search(post_search, rowid, body) VALUES('delete', old.id, old.body);
    INSERT INTO post_search(rowid, body) VALUES (new.id, new.body);
END;
CREATE VIEW thread_overview AS
SELECT t.id, t.title, u.handle AS author, count(p.id) AS posts, max(p.posted_at) AS last_post, t.pinned <> 0 AS is_pinned
FROM thread t JOIN user u ON u.id = t.author_id LEFT JOIN post p ON p.thread_id = t.id GROUP BY t.id;
