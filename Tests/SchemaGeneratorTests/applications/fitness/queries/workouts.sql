-- name: workouts(of user:from:to:limit:) :many :indexed
SELECT * FROM workouts WHERE user_id = :user AND started_at BETWEEN :from AND :to ORDER BY started_at DESC LIMIT :limit;
-- name: summary(of user:) :many
SELECT w.id, w.started_at, w.ended_at, coalesce(w.title, strftime('%A', w.started_at)) AS title, count(s.position) AS sets, sum(s.weight * s.reps) AS volume, (julianday(w.ended_at) - julianday(w.started_at)) * 1440 AS minutes, w.mood FROM workouts w LEFT JOIN sets s ON s.workout_id = w.id AND s.is_warmup = 0 WHERE w.user_id = :user GROUP BY w.id;
-- name: start(user:at:title:) :rowid
INSERT INTO workouts (user_id, started_at, title) VALUES (:user, :at, :title);
-- name: finish(id:at:mood:calories:) :count
UPDATE workouts SET ended_at = :at, mood = coalesce(:mood, mood), calories = ifnull(:calories, calories) WHERE id = :id AND ended_at IS NULL;
-- name: addSet(workout:exercise:weight:reps:rpe:) :one
INSERT INTO sets (workout_id, position, exercise_id, weight, reps, rpe) SELECT :workout, coalesce((SELECT max(position) FROM sets WHERE workout_id = :workout), 0) + 1, :exercise, :weight, :reps, :rpe RETURNING *;
-- name: swap(workout:a:b:) :exec
UPDATE sets SET position = CASE position WHEN :a THEN -:b WHEN :b THEN -:a END WHERE workout_id = :workout AND position IN (:a, :b);
-- name: best(user:exercise:) :optional
SELECT weight, reps, started_at FROM records WHERE user_id = :user AND exercise_id = :exercise;
-- name: oneRepMax(user:exercise:) :one
SELECT max(weight * (1 + reps / 30.0)) AS estimate FROM sets JOIN workouts ON workouts.id = workout_id WHERE user_id = :user AND exercise_id = :exercise AND reps BETWEEN 1 AND 12;
-- name: progress(user:exercise:) :many
SELECT date(w.started_at) AS day, max(s.weight) AS weight, avg(max(s.weight)) OVER (ORDER BY date(w.started_at) ROWS 4 PRECEDING) AS trend, max(s.weight) - lag(max(s.weight)) OVER (ORDER BY date(w.started_at)) AS gain FROM sets s JOIN workouts w ON w.id = s.workout_id WHERE w.user_id = :user AND s.exercise_id = :exercise GROUP BY day;
-- name: week(user:monday:) :many
WITH RECURSIVE d(n, day) AS (SELECT 0, date(:monday) UNION ALL SELECT n + 1, date(day, '+1 days') FROM d WHERE n < 6) SELECT d.day, v.volume, ifnull(v.sets, 0) AS sets FROM d LEFT JOIN volume v ON v.day = d.day AND v.user_id = :user ORDER BY d.day;
-- name: streaks(user:) :many
WITH days AS (SELECT DISTINCT CAST(julianday(date(started_at)) AS INTEGER) AS d FROM workouts WHERE user_id = :user), groups AS (SELECT d, d - row_number() OVER (ORDER BY d) AS g FROM days) SELECT date(min(d)) AS start, count(*) AS length FROM groups GROUP BY g HAVING length > 1 ORDER BY length DESC;
-- name: findExercises(text:) :many
SELECT e.id, e.name, snippet(exercise_search) AS excerpt, matchinfo(exercise_search) AS info FROM exercise_search JOIN exercises e ON e.id = exercise_search.docid WHERE exercise_search MATCH :text;
-- name: near(x:y:radius:) :many
SELECT id, label, minx, maxy FROM places WHERE minx >= :x - :radius AND maxx <= :x + :radius AND miny >= :y - :radius AND maxy <= :y + :radius;
-- name: addPlace(id:x:y:label:) :exec
INSERT INTO places VALUES (:id, :x, :x, :y, :y, :label);
-- name: muscles :many
-- column muscle: String
SELECT m.value AS muscle, count(*) AS exercises FROM exercises, json_each(exercises.muscles) AS m GROUP BY m.value;
-- name: trains(muscle:) :many
-- param muscle: String
SELECT DISTINCT e.* FROM exercises e, json_each(e.muscles) m WHERE m.value = :muscle AND e.replaced_by IS NULL;
-- name: goals(user:isOpen:) :many
SELECT * FROM goals WHERE user_id = :user AND (reached_at IS NULL) = :isOpen;
-- name: setGoal(user:exercise:target:due:) :one
INSERT INTO goals (user_id, exercise_id, target, due) VALUES (:user, :exercise, :target, :due) ON CONFLICT DO UPDATE SET target = excluded.target, due = excluded.due, reached_at = NULL, revision = revision + 1 RETURNING revision;
-- name: reached(user:at:) :many
UPDATE goals SET reached_at = :at, revision = revision + 1 FROM records r WHERE r.user_id = goals.user_id AND r.exercise_id = goals.exercise_id AND r.weight >= goals.target AND goals.user_id = :user AND goals.reached_at IS NULL RETURNING exercise_id, target;
-- name: users(ids:) :many
SELECT id, email, unit, born, height_cm FROM users WHERE id IN (:ids);
-- name: ages(on:) :many
SELECT id, (strftime('%Y', :on) - strftime('%Y', born)) - (strftime('%m-%d', :on) < strftime('%m-%d', born)) AS age FROM users WHERE born IS NOT NULL;
-- name: premium(now:) :one
SELECT count(*) FILTER (WHERE premium_until > :now) AS premium, count(*) AS total, 100.0 * sum(premium_until > :now) / count(*) AS share FROM users;
-- name: setting(user:path:) :one
-- column value: String?
SELECT json_extract(settings, :path) AS value FROM users WHERE id = :user;
-- name: setSetting(user:path:value:) :exec
UPDATE users SET settings = json_set(settings, :path, json(:value)) WHERE id = :user;
-- name: mostUsed(user:limit:) :many
SELECT e.id, e.name, uses, last FROM exercises e JOIN (SELECT s.exercise_id, count(DISTINCT w.id) AS uses, max(w.started_at) AS last FROM sets s JOIN workouts w ON w.id = s.workout_id WHERE w.user_id = :user GROUP BY s.exercise_id) u ON u.exercise_id = e.id ORDER BY uses DESC, last DESC LIMIT :limit;
-- name: neverDone(user:) :many
SELECT name FROM exercises e WHERE NOT EXISTS (SELECT 1 FROM sets s INNER JOIN workouts w ON s.workout_id = w.id AND w.user_id = :user WHERE s.exercise_id = e.id) AND (e.user_id IS NULL OR e.user_id = :user);
-- name: duplicates :many
SELECT lower(name) AS name, group_concat(id) AS ids, count(*) AS n FROM exercises GROUP BY lower(name) HAVING n > 1;
-- name: merge(from:into:) :count
UPDATE sets SET exercise_id = :into WHERE exercise_id = :from;
-- name: removeEmpty(before:) :many
DELETE FROM workouts WHERE started_at < :before AND id NOT IN (SELECT workout_id FROM sets) RETURNING id, title;
-- name: ranking(exercise:) :many
SELECT u.email, r.weight, dense_rank() OVER w AS place, round(r.weight / nullif(u.height_cm, 0), 2) AS ratio, r.weight >= (SELECT avg(weight) FROM records WHERE exercise_id = :exercise) AS aboveAverage FROM records r JOIN users u ON u.id = r.user_id WHERE r.exercise_id = :exercise WINDOW w AS (ORDER BY r.weight DESC);
-- name: distribution :many
SELECT CASE WHEN reps IS NULL THEN 'timed' WHEN reps <= 5 THEN 'strength' WHEN reps <= 12 THEN 'size' ELSE 'endurance' END AS kind, count(*) AS sets, min(weight) AS lightest, max(rpe) AS hardest, sum(seconds) AS seconds FROM sets GROUP BY 1;
-- name: timeline(user:) :many
SELECT 'workout' AS kind, started_at AS at, title AS text, NULL AS value FROM workouts WHERE user_id = :user UNION ALL SELECT 'goal', reached_at, NULL, target FROM goals WHERE user_id = :user AND reached_at IS NOT NULL ORDER BY at DESC;
-- name: copyWorkout(id:at:) :one
INSERT INTO workouts (user_id, started_at, title) SELECT user_id, :at, title FROM workouts WHERE id = :id RETURNING id;
-- name: lastSets(user:) :many
SELECT * FROM (SELECT s.*, row_number() OVER (PARTITION BY s.exercise_id ORDER BY w.started_at DESC, s.position DESC) AS n FROM sets s JOIN workouts w ON w.id = s.workout_id WHERE w.user_id = :user) WHERE n = 1;
-- name: plates(weight:) :many
-- param weight: Double
WITH RECURSIVE p(size, rest) AS (SELECT 25.0, :weight UNION ALL SELECT CASE WHEN rest >= size THEN size ELSE size / 2 END, CASE WHEN rest >= size THEN rest - size ELSE rest END FROM p WHERE rest > 1.25 AND size > 1) SELECT size, count(*) AS n FROM p GROUP BY size;
-- name: track(id:) :optional
SELECT gps FROM workouts WHERE id = :id AND gps IS NOT NULL;
-- name: hours :many
SELECT CAST(strftime('%H', started_at) AS INTEGER) AS hour, count(*) AS workouts FROM workouts GROUP BY hour;
-- name: unit(user:) :one
SELECT unit FROM users WHERE id = :user;
-- name: heavier(than weight:unit:) :many
SELECT workout_id, position, CASE :unit WHEN 'lb' THEN weight * 2.2046 ELSE weight END AS weight FROM sets WHERE weight > :weight;
-- name: exists(slug:) :one
SELECT count(*) > 0 AS "exists" FROM exercises WHERE slug = :slug;
