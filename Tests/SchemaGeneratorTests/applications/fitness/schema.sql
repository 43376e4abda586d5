-- litevault: engine 3.35
-- litevault: public
-- litevault: relations
-- litevault: record workouts as Workout
-- litevault: record sets as ExerciseSet
-- litevault: record exercises as Exercise
-- litevault: record users
-- litevault: record goals
-- litevault: enum Unit kg=kg lb=lb
-- litevault: users.unit as Unit
-- litevault: workouts.mood as Mood?
-- litevault: enum Mood bad=-1 ok=0 good=1
-- litevault: version goals.revision
CREATE TABLE users (id BLOB PRIMARY KEY NOT NULL, email TEXT NOT NULL COLLATE NOCASE UNIQUE, unit TEXT NOT NULL DEFAULT 'kg', born DATE, height_cm REAL, premium_until DATETIME, settings TEXT NOT NULL DEFAULT '{}');
CREATE TABLE exercises (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, muscles TEXT NOT NULL DEFAULT '[]', is_custom BOOLEAN NOT NULL DEFAULT 0, user_id BLOB REFERENCES users(id) ON DELETE CASCADE, replaced_by INTEGER REFERENCES exercises(id));
CREATE TABLE workouts (id INTEGER PRIMARY KEY, user_id BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE, started_at DATETIME NOT NULL, ended_at DATETIME, title TEXT, mood INTEGER CHECK (mood BETWEEN -1 AND 1), gps BLOB, calories INT);
CREATE TABLE sets (workout_id INTEGER NOT NULL REFERENCES workouts(id) ON DELETE CASCADE, position INTEGER NOT NULL, exercise_id INTEGER NOT NULL REFERENCES exercises(id), weight REAL, reps INTEGER, seconds INTEGER, rpe DECIMAL(3,1), is_warmup BOOLEAN NOT NULL DEFAULT FALSE, PRIMARY KEY (workout_id, position)) WITHOUT ROWID;
CREATE TABLE goals (user_id BLOB NOT NULL REFERENCES users, exercise_id INTEGER NOT NULL REFERENCES exercises, target REAL NOT NULL, due DATE, reached_at DATETIME, revision INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (user_id, exercise_id));
CREATE VIRTUAL TABLE exercise_search USING fts4(name, muscles, tokenize=unicode61);
CREATE VIRTUAL TABLE places USING rtree(id, minx, maxx, miny, maxy, +label TEXT);
CREATE INDEX workouts_user ON workouts(user_id, started_at);
CREATE INDEX sets_exercise ON sets(exercise_id, weight DESC);
CREATE VIEW records AS SELECT w.user_id, s.exercise_id, max(s.weight) AS weight, s.reps, w.started_at FROM sets s JOIN workouts w ON w.id = s.workout_id WHERE NOT s.is_warmup AND s.weight IS NOT NULL GROUP BY w.user_id, s.exercise_id;
CREATE VIEW volume(user_id, day, volume, sets) AS SELECT w.user_id, date(w.started_at), sum(s.weight * s.reps), count(*) FROM workouts w JOIN sets s ON s.workout_id = w.id GROUP BY 1, 2;
