"""Checked SQL: what functions come out of named statements, and where it says that something is wrong."""
import resource

from support import case, generate

notes = ("schema.sql", "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, written_at DATETIME, any);\n"
         "CREATE INDEX note_title ON note(title);")


def declares(name, sql, *lines):
    """Each line is in the source."""
    status, said, _, source = generate(notes, queries=[("q.sql", sql)])
    declared = [line.strip() for line in (source or "").splitlines()]
    missing = [line for line in lines if line not in declared]
    case(name, status == 0 and not missing, f"{status} {said} lacks {missing} in {source}")


def refuses(name, sql, *diagnostics, schema=notes):
    """The build fails with just these diagnostics, and nothing is written."""
    status, said, _, source = generate(schema, queries=[("q.sql", sql)])
    same = len(said) == len(diagnostics) and all(one.startswith(other) for one, other in zip(said, diagnostics))
    case(name, status == 1 and same and source is None, f"{status} {said}")


declares("a statement becomes a function of a connection, and two of pools and queues",
         "-- name: titles(text:) :many\nSELECT title FROM note WHERE body = :text",
         "func titles(text: String) throws -> [String] {",
         'return try self.all(sql, with: text, transform: { try $0.get(0, as: String.self) })',
         "return try self.read { try $0.titles(text: text) }", "func titles(text: String) async throws -> [String] {",
         "return try await self.read { try $0.titles(text: text) }")
declares("statements that write are run in a write",
         "-- name: rename(_ id:to title:) :count\nUPDATE note SET title = :title WHERE id = :id;",
         "@discardableResult func rename(_ id: Int64, to title: String) throws -> Int {",
         "return try self.write { try $0.rename(id, to: title) }")
declares("comments become documentation",
         "-- name: all :many\n-- The titles of all notes,\n-- in order.\nSELECT title FROM note ORDER BY title",
         "/// The titles of all notes,", "/// in order.", "/// q.sql, line 1")
declares("equal columns share a struct, which the first function or the author names",
         "-- name: a :many\nSELECT id, title FROM note;\n-- name: b :many\n-- result: Head\nSELECT id, title FROM note WHERE id > 1;",
         "struct Head: Sendable, Hashable {", "func a() throws -> [Schema.Head] {",
         "func b() throws -> [Schema.Head] {")
declares("annotations give types where nothing else does",
         "-- name: values(limit:) :many\n-- param limit: Int64?\n-- column value: Double?\nSELECT any AS value FROM note WHERE any = :limit",
         "func values(limit: Int64?) throws -> [Double?] {")
declares("a parameter can have any name",
         "-- name: f(sql:class:) :many\nSELECT id FROM note WHERE title = :sql OR body = :class",
         "func f(sql: String, `class`: String) throws -> [Int64] {", 'return try self.all(sql_, with: sql, `class`, transform: { try $0.get(0, as: Int64.self) })')
declares("a parameter whose name Swift has for something else keeps it as its label",
         "-- name: f(self:init:table:) :many\nSELECT id FROM note WHERE title IN (:self, :init, :table)",
         "func f(self self_: String, init init_: String, table table_: String) throws -> [Int64] {",
         "return try self.read { try $0.f(self: self_, init: init_, table: table_) }")
declares("a function can be called like a word of Swift", "-- name: init :one\nSELECT count(*) FROM note;\n-- name: repeat :one\nSELECT 1 AS one",
         "func `init`() throws -> Int64 {", "return try self.read { try $0.`init`() }", "func `repeat`() throws -> Int64 {")
declares("literals and functions of dates suggest a type, columns say it",
         "-- name: a(from:to:) :many\nSELECT id FROM note WHERE written_at >= coalesce(:from, '0000') AND coalesce(:to, '9999') > written_at;\n"
         "-- name: b(on:) :many\nSELECT id FROM note WHERE written_at BETWEEN date(:on, '-7 days') AND :on;\n"
         "-- name: c(at:title:) :exec\nINSERT INTO note (written_at, title) VALUES (coalesce(:at, datetime('now')), CASE WHEN length(:title) > 3 THEN :title ELSE 'none' END);\n"
         "-- name: d(day:) :one\nSELECT date(:day) IS NOT NULL AS isDay;\n"
         "-- name: e(at:) :count\nUPDATE note SET written_at = CASE WHEN written_at IS NULL THEN :at ELSE written_at END",
         "func a(from: Date?, to: Date?) throws -> [Int64] {", "func b(on: Date) throws -> [Int64] {",
         "func c(at: Date?, title: String) throws {", "func d(day: String) throws -> Bool {",
         "@discardableResult func e(at: Date?) throws -> Int {")
declares("parts of dates are whole numbers in arithmetic",
         "-- name: ages(on:) :many\nSELECT strftime('%Y', :on) - strftime('%Y', written_at) AS age FROM note",
         "func ages(on: String) throws -> [Int64?] {")
declares("what is known of one parameter says what another is",
         "-- name: days(from:to:) :many\nWITH RECURSIVE days(day) AS (VALUES (:from) UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < :to) "
         "SELECT day FROM days",
         "func days(from: String, to: String) throws -> [String?] {")
declares("functions of one name with other columns have structs that their labels name",
         "-- name: f(id:) :many\nSELECT id, title FROM note WHERE id = :id;\n-- name: f(named title:) :many\nSELECT title, body FROM note WHERE title = :title;",
         "func f(id: Int64) throws -> [Schema.FRow] {", "func f(named title: String) throws -> [Schema.FNamedRow] {")
declares("a parameter can be called like a method", "-- name: f(first:all:run:read:) :many\nSELECT id FROM note WHERE id IN (:first, :all, :run, :read)",
         "func f(first: Int64, all: Int64, run: Int64, read: Int64) throws -> [Int64] {",
         "return try self.all(sql, with: first, all, run, read, transform: { try $0.get(0, as: Int64.self) })")
declares("a parameter that is a column of a compound has the type of the others",
         "-- name: below(id:) :many\nWITH RECURSIVE below(id, depth) AS (VALUES (:id, 0) UNION SELECT note.id, depth + 1 FROM note, below) "
         "SELECT id, depth FROM below;\n-- name: either(text:) :many\nSELECT title FROM note UNION SELECT :text;",
         "func below(id: Int64) throws -> [Schema.BelowRow] {", "func either(text: String) throws -> [String] {")
declares("a name in a block comment or a text names nothing",
         "/* Old:\n-- name: g :many\nSELECT 2; */\n-- name: f :many\nSELECT id FROM note WHERE title = 'it''s\n-- name: h :many\n';",
         "func f() throws -> [Int64] {")
search = ("-- name: search(query:limit:) :many\nSELECT note.id, snippet(found, 0, '[', ']', '…', 8) AS excerpt, bm25(found) AS score, rank "
          "FROM found JOIN note ON note.id = found.rowid WHERE found MATCH :query ORDER BY rank LIMIT :limit;\n"
          "-- name: inColumn(query:) :many\nSELECT rowid AS id, title FROM found WHERE title MATCH :query;\n"
          "-- name: called(query:) :many\nSELECT rowid AS id FROM found(:query);\n"
          "-- name: rebuild :exec\nINSERT INTO found (found) VALUES ('rebuild');\n-- name: history :many\nSELECT query FROM found_history")
status, said, schema, source = generate(
    (notes[0], notes[1] + "\nCREATE VIRTUAL TABLE found USING fts5(title, body, content='note', content_rowid='id');\n"
     "CREATE TABLE found_history (query TEXT NOT NULL);"), queries=[("q.sql", search)])
wanted = ["func search(query: String, limit: Int) throws -> [Schema.SearchRow] {", "func inColumn(query: String) throws -> [Schema.InColumnRow] {",
          "func called(query: String) throws -> [Int64] {", "func rebuild() throws {", "func history() throws -> [String] {"]
declared = [line.strip() for line in (source or "").splitlines()]
missing = [line for line in wanted if line not in declared]
case("FTS5 finds by MATCH, with excerpts and ranks, and its own tables are left out", not missing and "FoundData" not in schema
     or "no such module: fts5" in said[0], (missing, said))
status, said, _, source = generate(
    (notes[0], notes[1] + "\nCREATE VIRTUAL TABLE found USING fts5(title);\nCREATE VIRTUAL TABLE word USING fts5vocab('found', 'row');"),
    queries=[("q.sql", "-- name: words(prefix:) :many\nSELECT term, doc, cnt FROM word WHERE term GLOB :prefix || '*'")])
case("the words of a full-text index are counted", "no such module: fts5" in "".join(said)
     or all(line in source for line in ("var term: String\n", "var doc: Int64\n", "var cnt: Int64\n")), (said, source))
status, said, schema, source = generate(
    (notes[0], notes[1] + "\nCREATE VIRTUAL TABLE place USING rtree(id, west, east, +label TEXT, +kind INTEGER);"),
    queries=[("q.sql", "-- name: near(x:radius:) :many\nSELECT id, west, label, kind FROM place WHERE west >= :x - :radius AND east <= :radius + :x")])
case("coordinates of an R*Tree are numbers, and what it only stores is what is declared", "no such module: rtree" in "".join(said)
     or 'near "+": syntax error' in "".join(said) or 'unrecognized token: "+"' in "".join(said) or "Wrong number of columns" in "".join(said)
     or all(line in (source or "") for line in ("var id: Int64\n", "var west: Double\n", "var label: String?\n", "var kind: Int64?\n",
                                        "func near(x: Double, radius: Double)")), (said, source))
status, said, schema, source = generate(
    (notes[0], notes[1] + "\nCREATE TEMP VIEW recent AS SELECT * FROM note WHERE written_at > date('now', '-1 day');"),
    queries=[("q.sql", "-- name: titles :many\nSELECT title FROM recent")])
case("statements read temporary views", status == 0 and 'View("recent")' in schema and "func titles() throws -> [String] {" in source, (said, source))
declares("what is in quotes and comments is not a parameter",
         "-- name: f :many\nSELECT ':no' || \"title\" /* :no */ -- :no\n  || '--' AS [a b] FROM note; -- end",
         "func f() throws -> [String] {")
declares("a function can have any name", "-- name: default(in:) :optional\nSELECT title FROM note WHERE id = :in",
         "func `default`(`in`: Int64) throws -> String? {", "return try self.read { try $0.`default`(in: `in`) }")
declares("functions of one name with other labels are others",
         "-- name: f(id:) :one\nSELECT title FROM note WHERE id = :id;\n-- name: f(title:) :one\nSELECT id FROM note WHERE title = :title;",
         "func f(id: Int64) throws -> String {", "func f(title: String) throws -> Int64 {")
declares("functions and collations of the application are declared",
         "-- litevault: function slug as String?\n-- litevault: collation localized\n"
         "-- name: f(text:) :many\nSELECT slug(title) AS slug FROM note WHERE title = :text COLLATE localized",
         "func f(text: String) throws -> [String?] {")
declares("what finds its rows by an index is :indexed",
         "-- name: f(title:) :many :indexed\nWITH found AS (SELECT id FROM note WHERE title = :title) SELECT n.id FROM found JOIN note n ON n.id = found.id",
         "func f(title: String) throws -> [Int64] {")
declares("a common table is :indexed under an alias, too",
         "-- name: f(title:) :many :indexed\nWITH found AS (SELECT id FROM note WHERE title = :title LIMIT 9) SELECT f.id FROM found AS f WHERE f.id > 0",
         "func f(title: String) throws -> [Int64] {")

declares("expressions may be as long as the engine takes them",
         "-- name: f :many\nSELECT " + " || ".join(["title"] * 990) + " AS x FROM note;\n-- name: g :many\nSELECT id FROM note WHERE "
         + " OR ".join(["id = 1"] * 990) + ";\n-- name: h :many\nSELECT id FROM note WHERE " + "(" * 30 + "NOT " * 30 + "id" + ")" * 30,
         "func f() throws -> [String] {", "func g() throws -> [Int64] {")
refuses("an error of SQL is reported at its word", "-- name: f :many\nSELECT title\nFROM notes;", "q.sql:3:6: error: no such table: notes")
refuses("a column that is not there is reported at its word", "-- name: f :many\nSELECT\n  titel FROM note;", "q.sql:3:3: error: no such column: titel")
refuses("a syntax error is reported at its word", "-- name: f :many\nSELECT title FORM note;", 'q.sql:2:19: error: near "note": syntax error')
refuses("the errors of all statements are reported at once",
        "-- name: f :many\nSELECT x FROM note;\n-- name: g :many\nSELECT y FROM note;", "q.sql:2:8: error: no such column: x",
        "q.sql:4:8: error: no such column: y")
refuses("a column without a type is reported", "-- name: f :many\nSELECT id, any FROM note",
        "q.sql:2:12: error: the type of any cannot be known: note.any has no declared type; write '-- column any: Type?' above")
refuses("a value of JSON has no type", "-- name: f :many\nSELECT coalesce(any, 1) AS x FROM note",
        "q.sql:2:8: error: the type of x cannot be known: note.any has no declared type; write '-- column x: Type'")
refuses("branches of different types are reported", "-- name: f :many\nSELECT CASE id WHEN 1 THEN 'a' ELSE 2 END AS x FROM note",
        "q.sql:2:8: error: the type of x cannot be known: it is String or Int64")
refuses("a parameter without a type is reported", "-- name: f(a:) :many\nSELECT id FROM note WHERE :a = any",
        "q.sql:2:27: error: the type of :a cannot be known: nothing says what type it has; write '-- param a: Type'")
refuses("a parameter of two types is reported", "-- name: f(a:) :many\nSELECT id FROM note WHERE id = :a OR title = :a",
        "q.sql:2:32: error: the type of :a cannot be known: it is Int64 in one place and String in another")
refuses("a parameter needs a name", "-- name: f :many\nSELECT id FROM note WHERE id = ?", "q.sql:2:32: error: a parameter needs a name")
refuses("the name lists all parameters", "-- name: f(a:) :many\nSELECT id FROM note WHERE id = :a AND title = :b",
        "q.sql:1:1: error: the name does not list the parameter :b")
refuses("the name lists no other parameters", "-- name: f(a:c:) :many\nSELECT id FROM note WHERE id = :a",
        "q.sql:1:1: error: the statement has no parameter :c, which its name lists")
refuses("an annotation of nothing is reported", "-- name: f :many\n-- column x: Int64\nSELECT id FROM note", "q.sql:2:1: error: the statement has no column x")
refuses("a list is not a single value", "-- name: f(a:) :many\nSELECT id FROM note WHERE id IN (:a) OR id = :a",
        "q.sql:2:34: error: :a is a list in one place and a single value in another")
declares("a function without AS is called after the function", "-- name: f :one\nSELECT count(*), max(written_at) FROM note",
         "var count: Int64", "var max: Date?")
refuses("columns need names", "-- name: f :many\nSELECT id, id + 1 FROM note", "q.sql:2:12: error: column 2 needs a name: write AS")
refuses("columns need different names", "-- name: f :many\nSELECT a.id, b.id FROM note a JOIN note b", "q.sql:1:1: error: two columns would be called id")
refuses("a statement without rows returns none", "-- name: f :many\nDELETE FROM note", "q.sql:1:1: error: it returns no rows, so it cannot be :many")
refuses("a statement with rows returns them", "-- name: f :exec\nSELECT 1", "q.sql:1:1: error: it returns rows, so it cannot be :exec")
refuses("a name without a kind is not understood", "-- name: f\nSELECT 1 AS x", "q.sql:1:1: error: after the name comes one of :many")
refuses("an unknown kind is not understood", "-- name: f :some\nSELECT 1 AS x", "q.sql:1:1: error: after the name comes one of :many")
refuses("two functions of one name are refused", "-- name: f :many\nSELECT 1 AS x;\n-- name: f :many\nSELECT 2 AS x;",
        "q.sql:3:1: error: f() is the name of another statement, in line 1 of q.sql")
refuses("a statement needs a name", "SELECT 1;\n-- name: f :many\nSELECT 1 AS x", "q.sql:1:1: error: a statement needs a name")
refuses("each statement needs its own name", "-- name: f :many\nSELECT 1 AS x;\nSELECT 2", "q.sql:3:1: error: each statement needs a name of its own")
refuses("a name needs a statement", "-- name: f :many\n-- nothing\n", "q.sql:2:11: error: there is no statement below the name f")
refuses("only statements with rows are checked", "-- name: f :exec\nDROP TABLE note", "q.sql:2:1: error: only SELECT, VALUES, INSERT")
refuses("two structs of one name are refused", "-- name: a :many\n-- result: R\nSELECT id, title FROM note;\n-- name: b :many\n-- result: R\nSELECT title, id FROM note",
        "q.sql:5:1: error: R is what a returns, and its columns are different")
refuses("a scan is not :indexed", "-- name: f(text:) :many :indexed\nSELECT id FROM note WHERE body = :text",
        "q.sql:1:1: error: it does not find its rows by an index: SCAN")
refuses("a statement for a newer engine than the oldest is refused, at what needs it",
        "-- litevault: engine 3.24\n-- name: f(title:) :one\nINSERT INTO note (title) VALUES (:title) RETURNING id",
        "q.sql:3:42: error: RETURNING needs SQLite 3.35, and '-- litevault: engine 3.24' names an older one")
refuses("window functions, filters, operators of JSON and new functions name their engines",
        "-- litevault: engine 3.24\n-- name: a :many\nSELECT row_number() OVER (ORDER BY id) AS x FROM note;\n"
        "-- name: b :one\nSELECT count(*) FILTER (WHERE body IS NULL) FROM note;\n-- name: c :many\nSELECT body -> '$.a' FROM note;\n"
        "-- name: d :one\nSELECT concat('a', 'b');\n-- name: e :many\nSELECT a.id FROM note a FULL JOIN note b ON a.id = b.id;",
        *(f"q.sql:{line}: error: {what}" for line, what in
          [("3:8", "the function row_number() needs SQLite 3.25"), ("5:17", "FILTER of an aggregate needs SQLite 3.30"),
           ("7:13", "the operator -> needs SQLite 3.38"), ("9:8", "the function concat() needs SQLite 3.44"),
           ("11:25", "a FULL JOIN needs SQLite 3.39")]))


def took(count, per_table=2.5):
    """What generate returns for this many tables, and the seconds of the processor that it took."""
    tables = "\n".join(f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent INTEGER, body TEXT, at DATETIME);" for n in range(count))
    many = "\n".join(
        f"-- name: f{n}(text:ids:) :many\nSELECT a.id, a.name, b.body, count(*) AS total, max(b.at) AS last FROM t{n % count} a\n"
        f"LEFT JOIN t{(n + 1) % count} b ON b.parent = a.id WHERE a.name LIKE '%' || :text || '%' AND a.id IN (:ids)\nGROUP BY a.id;\n"
        for n in range(int(count * per_table)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    status, said, _, source = generate(("schema.sql", tables), queries=[("q.sql", many)])
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return status == 0 and source.count("struct F0Row") == 1 and source.count("struct ") == 1, said[:3], seconds


# A ratio, as a busy machine is slow with both: four times as much may take a little more than four times as long, and not sixteen times.
few, many = took(50), took(200)
case("the work for 200 tables and 500 statements grows with their number", few[0] and many[0] and many[2] < 9 * max(few[2], 0.05), (few, many))
