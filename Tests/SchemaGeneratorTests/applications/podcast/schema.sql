-- litevault: relations
-- litevault: record podcasts
-- litevault: record episodes
-- litevault: record categories
-- litevault: record podcast_categories
-- litevault: record playback_states
-- litevault: record queue_entries
-- litevault: record chapters
-- litevault: record listening_days
-- litevault: enum DownloadState none=0 queued=1 loading=2 done=3 failed=-1
-- litevault: episodes.download_state as DownloadState
-- litevault: record settings
-- litevault: settings.value as StoredValue?
-- litevault: podcasts.owner json [String: String]
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS podcasts (
    podcast_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    feed_url TEXT NOT NULL UNIQUE ON CONFLICT REPLACE,
    title TEXT NOT NULL COLLATE NOCASE,
    author TEXT,
    image_url VARCHAR(2048),
    owner TEXT,
    subscribed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    etag TEXT,
    refresh_minutes SMALLINT NOT NULL DEFAULT 60,
    is_explicit TINYINT(1) NOT NULL DEFAULT 0,
    playback_speed REAL CHECK (playback_speed BETWEEN 0.5 AND 3.0),
    sort_title TEXT GENERATED ALWAYS AS (CASE WHEN lower(title) LIKE 'the %' THEN substr(title, 5) ELSE title END) VIRTUAL
);
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY,
    podcast_id INTEGER NOT NULL REFERENCES podcasts ON DELETE CASCADE ON UPDATE NO ACTION,
    guid TEXT NOT NULL,
    title TEXT NOT NULL,
    notes TEXT,
    published_at DATETIME,
    duration INTEGER,
    media_url TEXT NOT NULL,
    bytes BIGINT,
    season INT, number INT,
    download_state INTEGER NOT NULL DEFAULT 0,
    local_path TEXT,
    minutes REAL GENERATED ALWAYS AS (duration / 60.0) STORED,
    is_local BOOLEAN GENERATED ALWAYS AS (local_path IS NOT NULL),
    UNIQUE (podcast_id, guid)
);
CREATE TABLE playback_states (
    episode_id INTEGER PRIMARY KEY REFERENCES episodes(id) ON DELETE CASCADE,
    position DOUBLE NOT NULL DEFAULT 0,
    finished_at DATETIME,
    updated_at DATETIME NOT NULL DEFAULT (datetime('now')),
    plays INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE queue_entries (position INTEGER NOT NULL, episode_id INTEGER NOT NULL UNIQUE REFERENCES episodes(id) ON DELETE CASCADE, added_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (position)) WITHOUT ROWID;
CREATE TABLE categories (name TEXT NOT NULL PRIMARY KEY, parent TEXT REFERENCES categories(name)) WITHOUT ROWID;
CREATE TABLE podcast_categories (podcast_id INTEGER NOT NULL REFERENCES podcasts(podcast_id) ON DELETE CASCADE, category TEXT NOT NULL REFERENCES categories(name), PRIMARY KEY (podcast_id, category)) WITHOUT ROWID;
CREATE TABLE chapters (episode_id INTEGER NOT NULL REFERENCES episodes(id), starts REAL NOT NULL, title TEXT, image BLOB, PRIMARY KEY (episode_id, starts)) WITHOUT ROWID;
CREATE TABLE listening_days (day DATE NOT NULL, podcast_id INTEGER NOT NULL REFERENCES podcasts(podcast_id), seconds INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (day, podcast_id));
CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value);
CREATE INDEX episodes_by_date ON episodes (podcast_id, published_at DESC);
CREATE INDEX episodes_local ON episodes (published_at) WHERE local_path IS NOT NULL;
CREATE INDEX podcasts_sorted ON podcasts (sort_title COLLATE NOCASE);
CREATE INDEX podcasts_lower ON podcasts (lower(author), podcast_id);
CREATE VIRTUAL TABLE episodes_fts USING fts5 (title, notes, content='episodes', content_rowid='id', tokenize='porter unicode61', prefix='2,3');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('episodes_fts', 'row');
CREATE TRIGGER episodes_ai AFTER INSERT ON episodes BEGIN
    INSERT INTO episodes_fts (rowid, title, notes) VALUES (new.id, new.title, new.notes);
END;
CREATE TRIGGER episodes_ad AFTER DELETE ON episodes BEGIN
    INSERT INTO episodes_fts (episodes_fts, rowid, title, notes) VALUES ('delete', old.id, old.title, old.notes);
END;
CREATE TRIGGER episodes_au AFTER UPDATE OF title, notes ON episodes FOR EACH ROW WHEN old.title <> new.title OR old.notes IS NOT new.notes BEGIN
    INSERT INTO episodes_fts (episodes_fts, rowid, title, notes) VALUES ('delete', old.id, old.title, old.notes);
    INSERT INTO episodes_fts (rowid, title, notes) VALUES (new.id, new.title, new.notes);
END;
CREATE VIEW unplayed AS
    SELECT e.id, e.podcast_id, e.title, e.published_at, e.duration, p.position, e.duration - p.position AS remaining
    FROM episodes e LEFT JOIN playback_states p ON p.episode_id = e.id WHERE p.finished_at IS NULL;
CREATE VIEW podcast_overview (podcast_id, title, episodes, unplayed, latest, image) AS
    SELECT p.podcast_id, p.title, count(e.id), sum(CASE WHEN s.finished_at IS NULL AND e.id IS NOT NULL THEN 1 ELSE 0 END),
        max(e.published_at), coalesce(p.image_url, 'default.png')
    FROM podcasts p LEFT JOIN episodes e USING (podcast_id) LEFT JOIN playback_states s ON s.episode_id = e.id
    GROUP BY p.podcast_id;
