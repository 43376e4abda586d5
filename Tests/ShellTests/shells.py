"""What is typed into three shells, and what each does: the table of the article "Shells", made by running all three."""
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
article = os.path.join(here, "../../Sources/LiteVault/Documentation.docc/Shells.md")
BEGIN, END = "<!-- made by Tests/ShellTests/run -->", "<!-- to here -->"
# The versions that the table is of.
VERSIONS = {"sqlite3": "3.40.1", "sqlcipher": "4.6.1"}
LIMIT = 70

# Heading, and what is typed into `SHELL a.db`: a plaintext database with the table t(n INTEGER, x TEXT) of two rows.
ROWS = [
    ("Rows", [
        "SELECT * FROM t;", "SELECT n, x FROM t WHERE n = 1;", "SELECT NULL;", "SELECT x'00ff';", "SELECT 1.0;", "SELECT 'a' || char(10) || 'b';",
        "SELECT char(27) || '[31mred';", "SELECT count(*) FROM t;", "SELECT * FROM t WHERE 0;", "VALUES (1), (2);",
    ]),
    ("Formats", [
        ".mode json\nSELECT * FROM t;", ".mode csv\nSELECT * FROM t;", ".mode box\nSELECT * FROM t;", ".mode markdown\nSELECT * FROM t;",
        ".mode line\nSELECT * FROM t WHERE n = 1;", ".mode table\nSELECT * FROM t WHERE n = 1;", ".mode jsonl\nSELECT * FROM t;", ".mode insert\nSELECT * FROM t;",
        ".mode list\nSELECT * FROM t;", ".mode tabs\nSELECT * FROM t;", ".mode quote\nSELECT n, x'00ff' FROM t;", ".mode typed-json\nSELECT x'00ff' AS b;",
        ".mode", ".headers on\nSELECT 1 AS a;", ".separator ,\nSELECT * FROM t;", ".mode list\n.separator ; |\nSELECT * FROM t;", ".nullvalue -\nSELECT NULL;", ".width 10\nSELECT 1;",
    ]),
    ("Schema", [
        ".tables", ".tables x%", ".schema", ".schema t", ".schema absent", ".indexes", ".fullschema", ".databases", ".dbinfo", "PRAGMA table_info(t);",
        ".eqp on\nSELECT * FROM t WHERE n = 1;", ".explain SELECT * FROM t", "EXPLAIN QUERY PLAN SELECT * FROM t;",
    ]),
    ("Changes", [
        "INSERT INTO t VALUES (3, 'c'); SELECT changes();", "BEGIN; DELETE FROM t;", "BEGIN; DELETE FROM t;\n.quit", "BEGIN; DELETE FROM t;\n.open b.db", "BEGIN; DELETE FROM t; COMMIT; SELECT count(*) FROM t;",
        ".changes on\nDELETE FROM t WHERE n = 1;", "DROP TABLE t;\n.tables", "VACUUM; SELECT 'done';",
    ]),
    ("Mistakes", [
        "SELECT * FROM absent;\nSELECT 1;", "SELECT 1", "SELECT 'a;\nSELECT 1;", "SELEC 1;", ".nothing", ".tabls", ".quit now", "INSERT INTO t VALUES (1, 'twice');",
        "SELECT * FROM t WHERE x = \"a\";",
    ]),
    ("Files", [
        ".dump", ".dump t", ".dump copy.sql", ".backup copy.db", ".save copy.db", ".clone copy.db", ".read more.sql", ".import rows.csv t", ".import --csv --skip 1 rows.csv t\nSELECT count(*) FROM t;", ".separator ;\n.import --skip 1 semicolons.txt t\nSELECT count(*) FROM t;", ".import --ascii rows.csv t", ".output out.txt\nSELECT 1;",
        ".once out.txt\nSELECT 1;", ".open b.db\n.tables", "ATTACH 'b.db' AS b; SELECT count(*) FROM b.sqlite_master;", ".restore b.db", ".recover",
    ]),
    ("The machine", [
        ".shell echo hi", ".system echo hi", ".cd /", ".load nothing", "SELECT load_extension('nothing');", ".timer on\n.timer off", ".bail on\nSELEC 1;\nSELECT 2;",
        ".print hello", ".echo on\nSELECT 1;", ".parameter set :n 1\nSELECT :n;", ".parameter set :n 1\n.parameter list", "SELECT :n;", ".excel", ".stats on", ".version", ".exit", ".q",
    ]),
    ("Keys", [
        "PRAGMA key = 'secret'; SELECT count(*) FROM t;", "PRAGMA rekey = 'other'; SELECT count(*) FROM t;", "PRAGMA cipher_version;",
        "ATTACH 'c.db' AS c KEY 'secret'; SELECT sqlcipher_export('c');",
    ]),
]
SHELLS = {"sqlite3": ["sqlite3", "-batch"], "sqlcipher": ["sqlcipher", "-batch"], "litevault shell": None}


def missing(tool):
    """Why the table cannot be made here; None if it can."""
    for name, version in VERSIONS.items():
        if not shutil.which(name):
            return f"{name} is not installed"
        said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        if version not in said:
            return f"the table is of {name} {version}, and this one is {said.strip()[:40]}"
    said = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    return None if VERSIONS["sqlcipher"] in said else f"the table is of a litevault with SQLCipher {VERSIONS['sqlcipher']}"


def _run(command, typed):
    """What a shell does: its output and errors, the status, and the files that it leaves."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
        # Some shells start the program that opens a file on a desktop. Which one that is differs between machines.
        with open(programs + "/xdg-open", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho runs xdg-open\n")
        os.chmod(programs + "/xdg-open", 0o755)
        for name in ("a.db", "b.db"):
            with sqlite3.connect(f"{folder}/{name}") as base:
                base.execute("CREATE TABLE t(n INTEGER PRIMARY KEY, x TEXT)")
                base.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")])
            base.close()
        for name, text in {"more.sql": "SELECT 7;\n", "rows.csv": "n,x\n8,h\n", "semicolons.txt": "n;x\n8;h\n"}.items():
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        before = set(os.listdir(folder))
        done = subprocess.run(
            [*command, "a.db"], input=typed + "\n", capture_output=True, text=True, cwd=folder, timeout=120,
            env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8"})
        made = sorted(set(os.listdir(folder)) - before)
        return done.stdout.replace(folder, "."), done.stderr.replace(folder, "."), done.returncode, made


def _cell(output, errors, status, made):
    """A cell of the table, on one line."""
    def line(text):
        shown = "".join(sign if sign.isprintable() else "⏎" if sign == "\n" else f"\\u{{{ord(sign):X}}}" for sign in text.strip("\n"))
        shown = re.sub(r"\s+", " ", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ", "", shown))
        return shown if len(shown) <= LIMIT else shown[:LIMIT - 1] + "…"

    parts = []
    if output.strip():
        parts.append(f"`{line(output).replace('`', chr(39))}`")
    if errors.strip():
        said = [one for one in errors.splitlines() if one.strip() and not re.match(r"\s*(\^|SELE|  )", one)]
        parts.append("*" + line(re.sub(r"^(Parse error|Runtime error|Error|error)( near line \d+| on line \d+)?: ?", "", said[0] if said else "error"))
                     .replace("*", "").replace("`", "'").replace("_", "\\_") + "*")
    if made:
        parts.append("makes " + ", ".join(f"`{name}`" for name in made))
    text = "; ".join(parts) or "nothing"
    return (text + (f" [{status}]" if status else "")).replace("|", "\\|").replace("<", "&lt;")


def table(tool):
    """The table, as Markdown."""
    lines = []
    for heading, rows in ROWS:
        lines += ["", f"### {heading}", "", "| typed | " + " | ".join(f"`{name}`" for name in SHELLS) + " |", "|---|---|---|---|"]
        for typed in rows:
            cells = [_cell(*_run(command or [tool, "shell"], typed)) for command in SHELLS.values()]
            shown = " ⏎ ".join(typed.split("\n")).replace("|", "\\|")
            lines.append(f"| `{shown}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def compare(tool):
    """Writes the table with LITEVAULT_WRITE_TABLES=1, and else compares it: the lines that differ."""
    with open(article, encoding="utf-8") as file:
        text = file.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    made = "\n" + table(tool) + "\n"
    if os.environ.get("LITEVAULT_WRITE_TABLES") == "1":
        with open(article, "w", encoding="utf-8") as file:
            file.write(text[:begin] + made + text[end:])
        return []
    old, new = text[begin:end].splitlines(), made.splitlines()
    return [one for one in new if one not in old] + [f"no longer: {one}" for one in old if one not in new]
