"""Statements of real applications: their inferred types are those that are written above each, and hold for data that has NULL
wherever it can.

Each statement runs on a database without rows, and on one where every column is NULL in some rows and a value in others. A
column whose type is not optional must never be NULL, an optional one must be NULL at least once."""
import itertools
import pathlib
import random
import re
import sqlite3

from support import case, generate

place = pathlib.Path(__file__).with_name("application")
schema = (place / "schema.sql").read_text()
classes = {"Int64": int, "Int": int, "Bool": int, "Double": (int, float), "String": str, "Date": str, "Data": bytes}


def split(text):
    """{name: the whole statement with its comments}"""
    return {re.match(r"-- name: (\w+)", part).group(1): part for part in re.split(r"(?m)^(?=-- name:)", text) if part.strip()}


def pairs(text):
    return [tuple(part.strip().split(": ")) for part in text.split(",") if part.strip()]


def signature(source):
    """(parameters, columns) of the only function in a generated file."""
    row = re.search(r"struct \w+: .*\{\n((?: +var .*\n)+)", source)
    columns = re.findall(r"var `?(\w+)`?: (.*)", row.group(1)) if row else None
    function = re.search(r"extension Connection \{.*?func \w+\((.*?)\) throws(?: -> (.*?))? \{", source, re.S)
    parameters = pairs(function.group(1).replace(" = nil", ""))
    if columns is None and "get(0, as:" in source:
        columns = [("value", re.search(r"get\(0, as: (.*?)\.self", source).group(1))]
    return parameters, columns or []


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def value(declared, random):
    """A value as the applications store them: zeros and invalid dates are among them."""
    number = random.randint(0, 5)
    if declared in ("INTEGER", "BOOLEAN"):
        return number % 2 if declared == "BOOLEAN" else number
    if declared == "REAL":
        return number * 1.5
    if declared in ("DATE", "DATETIME"):
        return f"2026-0{number}-01T00:00:00.000"
    if declared == "JSON":
        return '{"author": "alpha", "tags": ["alpha", "beta"]}' if number % 2 else '{"tags": []}'
    return b"bytes" if declared == "BLOB" else ["alpha", "beta", "gamma", "delta", "", "a"][number]


def database(seed):
    """A database whose columns are NULL in every third row, if they can be, and some tables empty; all for seed 0."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(schema)
    chance = random.Random(seed)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    for table in tables if seed else []:
        if chance.random() < 0.15:
            continue
        info = database.execute(f"PRAGMA table_info({table})").fetchall()
        for row in range(9):
            values = []
            for _, _, declared, required, _, key in info:
                alias = key and declared == "INTEGER" and sum(1 for other in info if other[5]) == 1
                isNull = not required and not alias and chance.random() < 0.35
                values.append(row if alias else None if isNull else value(declared, chance))
            marks = ", ".join("?" * len(values))
            database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values)
    return database


samples = {"Int64": [0, 1, 2, 4], "Int": [0, 3, 20], "Double": [2.0], "String": ["alpha", "beta", "a", '["alpha", "beta"]'], "Bool": [0, 1],
           "Date": ["2025-01-01T00:00:00.000", "2026-02-01T00:00:00.000"]}


def arguments(parameters):
    """Every combination of values for the parameters."""
    choices = []
    for name, type in parameters:
        if type.startswith("["):
            choices.append([(name, members) for members in ([], samples[type[1:-1]])])
        else:
            choices.append([(name, value) for value in samples[type.rstrip("?")] + ([None] if type.endswith("?") else [])])
    return itertools.islice(itertools.product(*choices), 60)


def rows(database, sql, values):
    """The result of a statement, which is undone."""
    names = dict(values)
    for name, members in values:
        if isinstance(members, list):
            sql = re.sub(rf":{name}\b", ", ".join(map(repr, members)), sql)
            del names[name]
    database.execute("SAVEPOINT statement")
    try:
        return database.execute(sql, names).fetchall()
    except sqlite3.OperationalError as error:
        # Not every text is JSON.
        if "malformed JSON" not in str(error):
            raise
        return []
    finally:
        database.execute("ROLLBACK TO statement")


databases = [database(seed) for seed in range(9)]
for name, text in split((place / "statements.sql").read_text()).items():
    status, said, _, source = generate(("schema.sql", schema), queries=[("statements.sql", text)])
    expected, result = re.search(r"-- expects: (.*?) ?->(.*)", text).groups()
    if status:
        older = len(said) == 1 and re.search(r"needs SQLite (\d+)\.(\d+), and the engine of this build is (\d+)\.(\d+)", said[0])
        numbers = [int(number) for number in older.groups()] if older else [0, 0, 0, 0]
        lacks = len(said) == 1 and re.search(r"no such (function|table): json_", said[0])
        case(f"{name} needs a newer engine, which is named", bool(lacks) or numbers[:2] > numbers[2:], said)
        continue
    parameters, columns = signature(source)
    wanted = [(camel(name), type) for name, type in pairs(result)]
    if len(wanted) == 1:
        wanted = [("value", wanted[0][1])]
    case(f"types of {name}", parameters == pairs(expected) and columns == wanted,
         f"{said} {parameters} {columns} not {wanted}")

    sql = text[text.index("\n", text.rindex("\n-- ") + 1):].strip().rstrip(";")
    nulls, wrong = set(), []
    for values in arguments(parameters):
        for one in databases:
            for row in rows(one, sql, values):
                for (column, type), value_ in zip(columns, row):
                    if value_ is None:
                        nulls.add(column)
                        if not type.endswith("?"):
                            wrong.append(f"{column} is NULL for {values}")
                    elif not isinstance(value_, classes[type.rstrip("?")]):
                        wrong.append(f"{column} is {value_!r}, not {type}")
    wrong += [f"{column} is never NULL" for column, type in columns if type.endswith("?") and column not in nulls]
    case(f"values of {name}", not wrong, sorted(set(wrong))[:5])
