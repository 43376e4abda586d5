"""The generator of typed tables: what it writes, and where it says that something is wrong."""
import sys

from support import case, counts, generate


def declares(name, sql, *lines):
    """Each line is in the source, and the build passes without a word."""
    status, said, source, _ = generate(("schema.sql", sql))
    declared = [line.strip() for line in (source or "").splitlines()]
    missing = [line for line in lines if line not in declared]
    case(name, status == 0 and not said and not missing, f"{status} {said} lacks {missing} in {source}")


def refuses(name, sql, *diagnostics):
    """The build fails with just these diagnostics, and nothing is written."""
    status, said, source, _ = generate(("schema.sql", sql))
    same = len(said) == len(diagnostics) and all(one.startswith(other) for one, other in zip(said, diagnostics))
    case(name, status == 1 and same and source is None, f"{status} {said}")


def column(name, type, sql=None):
    return f'static let {name} = SQLExpression<{type}>("{sql or name}")'


declares("declared types become Swift types",
         "CREATE TABLE t (a INT NOT NULL, b VARCHAR(10) NOT NULL, c BLOB NOT NULL, d DOUBLE NOT NULL, "
         "e BOOLEAN NOT NULL, f DATETIME NOT NULL, g UUID NOT NULL, h NUMERIC(10, 2) NOT NULL)",
         column("a", "Int64"), column("b", "String"), column("c", "Data"), column("d", "Double"), column("e", "Bool"),
         column("f", "Date"), column("g", "UUID"), column("h", "Double"))
declares("what may be NULL is optional, and the rowid under another name is not",
         "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); CREATE TABLE s (name TEXT PRIMARY KEY); "
         "CREATE TABLE w (k INTEGER PRIMARY KEY DESC)",
         column("id", "Int64"), column("a", "Int64?"), column("name", "String?"), column("k", "Int64?"))
declares("keys of a table without rowid are never NULL",
         "CREATE TABLE t (a TEXT, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID", column("a", "String"), column("b", "Int64"))
declares("names become Swift names, and names that they cannot have get an underscore or backticks",
         'CREATE TABLE "user accounts" ("first-name" TEXT, "default" TEXT, "table" TEXT, "self" TEXT, "2nd" TEXT, '
         '"größe" REAL, "say ""hi""" TEXT)',
         "enum UserAccounts {", 'static let table = Table("user accounts")', column("firstName", "String?", "first-name"),
         column("`default`", "String?", "default"), column("table_", "String?", "table"),
         column("self_", "String?", "self"), column("_2nd", "String?", "2nd"), column("größe", "Double?"),
         column("sayHi", "String?", 'say \\"hi\\"'))
declares("names without letters and digits are those of their characters",
         'CREATE TABLE "#" ("%" REAL, "" TEXT, "+-" INT)', "enum U23 {", column("u25", "Double?", "%"), 'static let empty = SQLExpression<String?>("")',
         column("u2bU2d", "Int64?", "+-"))
status, said, source, _ = generate(("schema.sql", "CREATE TABLE t (v, b BLOB); CREATE VIEW a AS SELECT v, (SELECT v FROM t) AS w, b FROM t;"))
case("columns of views that hold what a column without a type does are left out, whatever the engine declares",
     status == 0 and len(said) == 3 and sum("of a has values of any type, so it was left out" in one for one in said) == 2
     and column("b", "Data?") in source and '"v"' not in source, f"{status} {said} {source}")
declares("views and virtual tables are there, the tables behind them are not",
         "CREATE TABLE t (a INT NOT NULL); CREATE VIEW v AS SELECT a FROM t; CREATE VIRTUAL TABLE f USING fts4(body)",
         'static let table = View("v")', column("a", "Int64?"), 'static let table = VirtualTable("f")',
         column("body", "String?"))
_, _, source, _ = generate(("schema.sql", "CREATE VIRTUAL TABLE f USING fts4(body)"))
case("tables of a full-text index are left out", source.count(" enum ") == 1, source)
declares("columns of views that are expressions have the type of the expression",
         "CREATE TABLE t (a INT NOT NULL, b TEXT); CREATE VIEW v AS SELECT a, count(*) AS n, max(b) AS last, a > 1 AS isBig FROM t GROUP BY a",
         column("n", "Int64?"), column("last", "String?"), column("isBig", "Bool?"))
declares("tables that are called like types of Swift get an underscore",
         "CREATE TABLE data (d BLOB); CREATE TABLE date (d DATE); CREATE TABLE \"table\" (\"view\" TEXT); CREATE TABLE connection (x INT)",
         "enum Data_ {", "enum Date_ {", "enum Table_ {", "enum Connection_ {", column("view", "String?"))
declares("names with blanks are quoted in directives, and those in block comments are not read",
         '-- litevault: "my table"."my column" as State\n/*\n-- litevault: nonsense\n*/\nCREATE TABLE "my table" ("my column" INT)',
         column("myColumn", "State", "my column"))
status, said, _, _ = generate(("schema.sql", 'CREATE TABLE "lay er" (geom, "a ""b""" ANY);'))
case("a column without a type is left out with the directive that includes it, with its names in quotes where they need them",
     status == 0 and any('-- litevault: "lay er".geom as Type' in line for line in said)
     and any('-- litevault: "lay er"."a ""b""" as Type' in line for line in said), said)
declares("which is accepted",
         '-- litevault: "lay er".geom as Data?\n-- litevault: "lay er"."a ""b""" as String?\n'
         'CREATE TABLE "lay er" (geom, "a ""b""" ANY);',
         column("geom", "Data?"), column("aB", "String?", 'a \\"b\\"'))
status, said, _, _ = generate(("schema.sql", "CREATE TABLE t (a INTEGER_OR_TEXT NOT NULL, b POINT, c VARCHAR(20), d UNSIGNED BIG INT, "
                               "e DOUBLE PRECISION, f JSON, g DATE_TEXT, h TIMESTAMP)"))
guessed = [line.split("column ")[1][0] for line in said if "only the affinity is known" in line]
case("a type of which only the affinity is known is a warning with the directive that settles it",
     status == 0 and guessed == ["a", "b", "g"] and len(said) == 3 and "'-- litevault: t.a as Int64'" in said[0]
     and "'-- litevault: t.b as Int64?'" in said[1], said)
status, said, source, _ = generate(("schema.sql", "-- litevault: t.a as StoredValue\nCREATE TABLE t (a INTEGER_OR_TEXT NOT NULL)"))
case("which it does", status == 0 and not said and column("a", "StoredValue") in source, said)
declares("modules of virtual tables that the build cannot load are declared, with their columns or those of each table",
         "-- litevault: module spellfix1 (word TEXT, rank INTEGER, distance INTEGER HIDDEN)\n-- litevault: module own_index\n"
         "CREATE VIRTUAL TABLE words USING spellfix1(edit_cost = 'x');\nINSERT INTO words (word, rank) VALUES ('a', 1);\n"
         "CREATE VIRTUAL TABLE texts USING own_index(title TEXT, body BLOB, tokens='a, b');\nCREATE VIEW v AS SELECT word FROM words WHERE word MATCH 'a';\n"
         "DELETE FROM words WHERE rank = 1;",
         'static let table = VirtualTable("words")', column("word", "String?"), column("rank", "Int64?"),
         'static let table = VirtualTable("texts")', column("title", "String?"))
refuses("a module that is not declared is reported, with the directive that declares it", "CREATE VIRTUAL TABLE t USING spellfix1(x)",
        "schema.sql:1:1: error: no such module: spellfix1; if the application adds it, write '-- litevault: module spellfix1'")
refuses("so is a function", "CREATE TABLE t (x TEXT);\nCREATE VIEW v AS SELECT slug(x) AS s FROM t;",
        "schema.sql:2:1: error: v: no such function: slug; if the application adds it, write '-- litevault: function slug as Type?'")
refuses("so is a collation", "CREATE TABLE t (x TEXT COLLATE localized PRIMARY KEY);",
        "schema.sql:1:1: error: no such collation sequence: localized; if the application adds it, write '-- litevault: collation localized'")
refuses("a module with mistakes in its columns is reported where it is used",
        "-- litevault: module m (a b, (\nCREATE VIRTUAL TABLE t USING m", "schema.sql:1:1: error: unknown directive")
declares("a table that begins with the name of a virtual one is there",
         "CREATE VIRTUAL TABLE f USING fts4(body); CREATE TABLE f_notes (x INT)", "enum FNotes {")
declares("a directive chooses the type", "-- litevault: t.state as State?\nCREATE TABLE t (state INT)",
         column("state", "State?"))
declares("a directive makes all public", "-- litevault: public\nCREATE TABLE t (a INT)", "public enum Schema {",
         "public enum T {", "public " + column("a", "Int64?"))
status, said, source, _ = generate(("1-a.sql", "CREATE TABLE a (x INT); -- \"\"\"# \\#(1)"),
                                ("2-b.sql", "ALTER TABLE a ADD COLUMN y TEXT;\nALTER TABLE a RENAME TO b"))
case("scripts run in order, and each is kept as it is",
     status == 0 and "enum B {" in source and column("y", "String?") in source
     and '("1-a", ##"""\nCREATE TABLE a (x INT); -- """# \\#(1)\n"""##)' in source, (said, source))
status, said, source, _ = generate(("schema.sql", "CREATE TABLE t (a INT, b, c ANY)"))
case("a column without a type is left out with a warning",
     status == 0 and [line.split(" of ")[0] for line in said]
     == ["schema.sql:1:1: warning: column b", "schema.sql:1:1: warning: column c"] and "SQLExpression<Int64?>" in source,
     (said, source))

refuses("a syntax error is reported at its line", "CREATE TABLE a (x INT);\n\n-- next\nCREATE TABEL b (y INT);",
        'schema.sql:4:8: error: near "TABEL": syntax error')
status, said, source, _ = generate(("schema.sql", "CREATE TABLE a (x INT);\nCREATE TABLE b ("))
case("a statement without an end is reported where it begins, or at its last word",  # by older engines
     status == 1 and said in (["schema.sql:2:1: error: incomplete input"], ['schema.sql:2:16: error: near "(": syntax error']),
     said)
refuses("a reference to a table that does not exist is reported at the table",
        "CREATE TABLE b (y INT);\nCREATE TABLE a (\n  x INT REFERENCES nope(id)\n);",
        "schema.sql:2:1: error: table a refers to nope, which does not exist")
refuses("a reference to a column that is not a key is reported at the table",
        "CREATE TABLE b (y INT);\nCREATE TABLE a (x INT REFERENCES b(y));", "schema.sql:2:1: error: foreign key mismatch")
refuses("views and triggers are compiled, and all their errors are reported at once",
        "CREATE TABLE a (x INT);\nCREATE VIEW v AS\nSELECT y FROM a;\n"
        "CREATE TRIGGER t AFTER UPDATE ON a BEGIN DELETE FROM gone; END;",
        "schema.sql:2:1: error: v: no such column: y", "schema.sql:4:1: error: t: no such table: main.gone")
# hazard: H-SEC-12
for name, sql in [
    ("a query", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"),
    ("a table that is filled", "CREATE TABLE t (x);\nINSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
     "SELECT randomblob(100000) FROM c"),
]:
    status, said, source, _ = generate(("schema.sql", sql))
    case(f"{name} without an end ends the build", status == 1 and len(said) == 1 and said[0].startswith("schema.sql:"), f"{status} {said}")
refuses("no other file is touched", "ATTACH '/nonexistent/x.db' AS x", "schema.sql:1:1: error: too many attached databases")
refuses("two columns of one Swift name are refused", "CREATE TABLE a (first_name TEXT, firstName TEXT)",
        "schema.sql:1:1: error: columns of a first_name and firstName would both be called firstName")
refuses("two tables of one Swift name are refused", "CREATE TABLE a_b (x INT);\nCREATE TABLE \"a b\" (x INT)",
        "schema.sql:2:1: error: tables a_b and a b would both be called AB")
refuses("a directive with a mistake is reported at its line", "CREATE TABLE a (x INT);\n-- litevault: a.x is Int",
        "schema.sql:2:1: error: unknown directive")
refuses("what is not UTF-8 is refused", b"CREATE TABLE a (x INT); -- \xff", "schema.sql:1:1: error: the file is not text")
refuses("a table that only the engine makes is refused, with what to do", "CREATE TABLE t (x);\nCREATE TABLE sqlite_sequence(name,seq);",
        "schema.sql:2:1: error: object name reserved for internal use: sqlite_sequence; leave the statement out")
refuses("a NUL byte is refused", b"CREATE TABLE a (x INT);\n-- \x00", "schema.sql:2:4: error: the file contains a NUL byte")

import application  # noqa: E402, F401
import migrations  # noqa: E402, F401
import applications  # noqa: E402, F401
import hostile  # noqa: E402, F401
import names  # noqa: E402, F401
import dumps  # noqa: E402, F401
import records  # noqa: E402, F401
import statements  # noqa: E402, F401

print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
sys.exit(counts["failed"] > 0)
