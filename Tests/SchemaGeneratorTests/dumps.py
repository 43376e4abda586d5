"""The SQL text of databases as schema: what the tool and other programs print of real shapes, virtual tables included."""
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from support import case, generate

tool = os.environ["LITEVAULT_TOOL"]
SHAPES = {
    "no virtual table": "CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL); INSERT INTO note (title) VALUES ('a'); ANALYZE;"
                        "CREATE VIEW v AS SELECT title FROM note; CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM note WHERE title = ''; END;",
    "an index of FTS4": "CREATE VIRTUAL TABLE note USING fts4(title, body, tokenize=porter); INSERT INTO note VALUES ('a', 'b');",
    "an index of FTS4 of a table that comes later": "CREATE TABLE z (a TEXT, b TEXT); INSERT INTO z VALUES ('a', 'b');"
                                                    "CREATE VIRTUAL TABLE found USING fts4(content=z); INSERT INTO found(found) VALUES ('rebuild');",
    "an index whose content is called as a shadow table": "CREATE TABLE f_content (docid INTEGER PRIMARY KEY, a TEXT); CREATE VIRTUAL TABLE f USING fts4(content=\"f_content\", a);",
    "an index of FTS5 with triggers": "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT); CREATE VIRTUAL TABLE note_index USING fts5(body, content=note, content_rowid=id);"
                                      "CREATE TRIGGER ai AFTER INSERT ON note BEGIN INSERT INTO note_index(rowid, body) VALUES (new.id, new.body); END;"
                                      "INSERT INTO note (body) VALUES ('words'); CREATE VIRTUAL TABLE terms USING fts5vocab(note_index, row);"
                                      "CREATE VIEW found AS SELECT body FROM note_index;",
    "an index of FTS5 without content": "CREATE VIRTUAL TABLE f USING fts5(a, b, content=''); INSERT INTO f(rowid, a, b) VALUES (1, 'x', 'y');",
    "an R*Tree": "CREATE VIRTUAL TABLE place USING rtree(id, x0, x1, +label TEXT); INSERT INTO place VALUES (1, 0, 1, 'here'); CREATE TABLE place_notes (x);",
    "names that need quotes": "CREATE VIRTUAL TABLE \"it's a\"\"b\" USING fts5(\"the title\"); INSERT INTO \"it's a\"\"b\" VALUES ('x');",
}


def run(*arguments):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"-- {done.stderr}"


def rows(path):
    """What the schema declares, without the engine's own tables."""
    with sqlite3.connect(path) as database:
        return sorted(database.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'").fetchall(), key=str)


for shape, sql in SHAPES.items():
    with tempfile.TemporaryDirectory() as directory:
        path, copy = (pathlib.Path(directory, name) for name in ("a.db", "b.db"))
        database = sqlite3.connect(path)
        database.executescript(sql)
        database.commit()
        database.close()
        others = subprocess.run(["sqlite3", path, ".dump"], capture_output=True, text=True, check=True).stdout
        wanted = [generate(("schema.sql", sql))[index] for index in (0, 2)]
        texts = {
            "litevault dump --schema-only": run("dump", path, "--schema-only"), "litevault dump": run("dump", path),
            "sqlite3 .dump": others,
        }
        for what, text in texts.items():
            status, said, source, _ = generate(("schema.sql", text))
            errors = [line for line in said if "error" in line]
            enums = [sorted(line for line in (one or "").splitlines() if line.startswith("    enum") or "SQLExpression" in line)
                     for one in (wanted[1], source)]
            case(f"{shape}: what '{what}' prints is a schema with the same tables", status == 0 and not errors and enums[0] == enums[1],
                 f"{said} {enums} of {text}")
        schema = texts["litevault dump --schema-only"]
        with sqlite3.connect(copy) as made:
            # As a migration runs it: inside a transaction.
            made.executescript("BEGIN;" + schema + "COMMIT;")
            virtual = [name for name, in made.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' AND sql NOT LIKE '%vocab%'")]
            for name in virtual:
                made.execute('SELECT * FROM "{}"'.format(name.replace('"', '""'))).fetchall()
            check = made.execute("PRAGMA integrity_check").fetchone()[0]
        case(f"{shape}: run in a transaction, the schema makes the same objects, which work", rows(copy) == rows(path) and check == "ok",
             f"{rows(copy)} {rows(path)} {check}")
