"""Names that become the same in Swift, and the directives that rename one."""
from support import case, generate, parses


def declares(name, sql, *lines, said=()):
    status, output, source, _ = generate(("schema.sql", sql))
    declared = [line.strip() for line in (source or "").splitlines()]
    missing = [line for line in lines if line not in declared]
    wrong = parses(source) if source else "no source"
    same = len(output) == len(said) and all(part in line for part, line in zip(said, output))
    case(name, status == 0 and same and not missing and not wrong, f"{status} {output} lacks {missing}, {wrong} in {source}")


def refuses(name, sql, *diagnostics):
    status, said, source, _ = generate(("schema.sql", sql))
    same = len(said) == len(diagnostics) and all(part in line for part, line in zip(diagnostics, said))
    case(name, status == 1 and same and source is None, f"{status} {said}")


# What collides, the directive that the error names, and what is declared with it.
COLLISIONS = [
    ("columns", 'CREATE TABLE a (first_name TEXT, "first name" TEXT)', "name a.\"first name\" ",
     'static let otherName = SQLExpression<String?>("first name")'),
    ("columns that differ in their marks", 'CREATE TABLE a ("caf\u00e9" TEXT, "cafe\u0301" TEXT)', "name a.cafe\u0301 ",
     'static let otherName = SQLExpression<String?>("cafe\u0301")'),
    ("columns of a table with a dot", 'CREATE TABLE "a.b" (x_y TEXT, xY INT)', 'name "a.b".xY ', 'static let otherName = SQLExpression<Int64?>("xY")'),
    ("columns with quotation marks", 'CREATE TABLE a ("say ""x""" TEXT, say_x INT)', "name a.say_x ", 'static let otherName = SQLExpression<Int64?>("say_x")'),
    ("columns of a view", 'CREATE TABLE t (x INT); CREATE VIEW v AS SELECT x AS "a b", x AS a_b FROM t', "name v.a_b ",
     'static let otherName = SQLExpression<Int64?>("a_b")'),
    ("tables", 'CREATE TABLE a_b (x INT);\nCREATE TABLE "a b" (x INT)', 'name "a b" ', "enum otherName {"),
    ("a table and a view", 'CREATE TABLE log_entry (x INT);\nCREATE VIEW LogEntry AS SELECT x FROM log_entry', "name LogEntry ", "enum otherName {"),
]
for what, sql, directive, line in COLLISIONS:
    status, said, _, _ = generate(("schema.sql", sql))
    written = f"'-- litevault: {directive}otherName'"
    case(f"the error of {what} that collide names the directive that renames one", status == 1 and len(said) == 1 and written in said[0], said)
    declares(f"and with it, {what} have two names", f"-- litevault: {directive}otherName\n{sql}", line)

declares("a record has the names of its table and columns, wherever the directives are",
         "-- litevault: record user_account\n-- litevault: record \"user account\"\n"
         'CREATE TABLE user_account (id INTEGER PRIMARY KEY, first_name TEXT, "first name" TEXT NOT NULL, "class" TEXT);\n'
         'CREATE TABLE "user account" (id INTEGER PRIMARY KEY);\n'
         '-- litevault: name user_account Member\n-- litevault: name user_account."first name" given_name\n'
         "-- litevault: name USER_ACCOUNT.CLASS class",
         "enum Member {", "struct Member: Hashable, Codable, Sendable {", "var given_name: String", "enum UserAccount {",
         'static let given_name = SQLExpression<String>("first name")', "extension Member: Record, Identifiable {",
         "var `class`: String?", "row.bind(given_name)")
NAMED = ('-- litevault: name t."a b" other\n-- litevault: name t.a_b class\n'
         'CREATE TABLE t (id INTEGER PRIMARY KEY, "a b" TEXT NOT NULL, a_b TEXT NOT NULL, aB TEXT NOT NULL);\n')
QUERIES = [("q.sql", '-- name: all :many\nSELECT * FROM t;\n-- name: few :many\nSELECT t."a b", u.A_B FROM t JOIN t AS u;\n'
                     '-- name: renamed :many\nSELECT "a b" AS b, aB AS a_b, id AS other FROM t;\n-- name: deep :many\nSELECT "a b", 1 AS one FROM (SELECT "a b" FROM t);')]
for what, schema in [("structs", NAMED), ("records", "-- litevault: record t\n" + NAMED)]:
    status, said, _, source = generate(("schema.sql", schema), queries=QUERIES)
    wrong = parses(source) if source else "no source"
    rows = [line.strip() for line in (source or "").splitlines() if line.strip().startswith(("var ", "func ")) and "sql" not in line]
    expected = ["var other: String", "var `class`: String", "var b: String", "var aB: String", "var other: Int64", "var one: Int64"]
    case(f"columns in results have the names of directives unless AS gives another one, as {what}",
         status == 0 and not wrong and all(line in rows for line in expected) and ("func all() throws -> [T] {" in rows) == (what == "records"),
         f"{said} {wrong} {rows}")
refuses_queries = generate(("schema.sql", NAMED), queries=[("q.sql", "-- name: f :many\nSELECT \"a b\", 1 AS other FROM t")])
case("a name of a directive collides with one that AS gives", refuses_queries[0] == 1 and "two columns would be called other" in refuses_queries[1][0],
     refuses_queries)
declares("a record's own name comes before that of its table",
         "-- litevault: name note Entry\n-- litevault: record note as Item\nCREATE TABLE note (id INTEGER PRIMARY KEY)", "enum Entry {",
         "struct Item: Hashable, Codable, Sendable {")
refuses("two records of one name are refused", "-- litevault: record a_b as X\n-- litevault: record c as X\nCREATE TABLE a_b (x INT);\nCREATE TABLE c (x INT)",
        "schema.sql:2:1: error: the records of a_b and c would both be called X in Swift; write '-- litevault: record c as OtherName'")
refuses("a name is refused that another column has", "-- litevault: name a.x y\nCREATE TABLE a (x INT, y INT)", "columns of a x and y would both be called y")

BOOKS = ("CREATE TABLE person (id INTEGER PRIMARY KEY, {columns});\n"
         "CREATE TABLE book (id INTEGER PRIMARY KEY, author INT NOT NULL REFERENCES person, authorRecord TEXT, editor_id INT REFERENCES person);\n"
         "-- litevault: relations\n-- litevault: record person\n-- litevault: record book\n")
declares("a relation whose names are taken is left out with a warning, which names the directive", BOOKS.format(columns="booksByEditor INT"),
         "static let editor: Relation<Book, Person?> = .belongsTo(Book.editorId)",
         said=["warning: Book has another author and authorRecord, so the relation of book.author has no name there; "
               "write '-- litevault: relation book.author name'",
               "warning: Person has another booksByEditor, so the relation of book.editor_id has no name there; "
               "write '-- litevault: relation book.editor_id name nameInTheOtherDirection'"])
declares("a directive names a relation in both directions",
         BOOKS.format(columns="booksByEditor INT") + "-- litevault: relation book.author writer writings\n-- litevault: relation book.editor_id editor edited_books",
         "static let writer: Relation<Book, Person> = .belongsTo(Book.author)", "static let writings: Relation<Person, [Book]> = .hasMany(Book.author)",
         "static let edited_books: Relation<Person, [Book]> = .hasMany(Book.editorId)")
declares("without a second name, the other direction follows the first one",
         BOOKS.format(columns="name TEXT") + "-- litevault: relation book.author writer",
         "static let booksByWriter: Relation<Person, [Book]> = .hasMany(Book.author)")
JOINED = ("-- litevault: relations\n-- litevault: record note\n-- litevault: record tag\n-- litevault: record note_tag\n"
          "CREATE TABLE note (id INTEGER PRIMARY KEY); CREATE TABLE tag (id INTEGER PRIMARY KEY);\n"
          "CREATE TABLE note_tag (note_id INT NOT NULL REFERENCES note, tag_id INT NOT NULL REFERENCES tag, PRIMARY KEY (note_id, tag_id));\n")
declares("relations through a table follow the names of directives", JOINED + "-- litevault: relation note_tag.note_id of_note labels",
         "static let of_note: Relation<NoteTag, Note> = .belongsTo(NoteTag.noteId)",
         "static let tags: Relation<Note, [Tag]> = .hasMany(through: Note.labels, NoteTag.tag)",
         "static let notes: Relation<Tag, [Note]> = .hasMany(through: Tag.noteTags, NoteTag.of_note)")

declares("names that declare accessors are names", "-- litevault: record a\nCREATE TABLE a (\"get\" INTEGER PRIMARY KEY, \"set\" INT, willSet TEXT, didSet TEXT)",
         "var primaryKey: Int64? { `get` }", "var `set`: Int64?")
declares("a table that is called like a member of records gets an underscore", "-- litevault: record CodingKeys\n-- litevault: record ID\n"
         "CREATE TABLE CodingKeys (x INT); CREATE TABLE ID (x INT)", "struct CodingKeys_: Hashable, Codable, Sendable {", "struct ID_: Hashable, Codable, Sendable {")
declares("a record whose name is that of a column is found, in scripts without capital letters",
         "-- litevault: relations\n-- litevault: record 顧客\n-- litevault: record 注文\n"
         "CREATE TABLE 顧客 (番号 INTEGER PRIMARY KEY, 注文 INT); CREATE TABLE 注文 (番号 INTEGER PRIMARY KEY, 顧客 INT NOT NULL REFERENCES 顧客)",
         "private typealias _注文Record = 注文", "static let 顧客Record: Relation<注文, 顧客> = .belongsTo(注文.顧客)",
         "static let 注文s: Relation<顧客, [注文]> = .hasMany(_注文Record.顧客)")
for what, sql, is_there in [("where it is needed", "CREATE TABLE a (x INT, d DATE)", True), ("nowhere else", "CREATE TABLE a (x INT, s TEXT, r REAL, b BOOL)", False)]:
    status, _, source, _ = generate(("schema.sql", "-- litevault: public\n" + sql))
    case(f"public names import Foundation {what}", status == 0 and ("public import Foundation" in source) == is_there, source)

for what, directive, why in [
    ("a name of a relation that is taken", "relation book.author authorRecord", "Book has another authorRecord"),
    ("a column without a relation", "relation book.id one", "book.id has no relation to name"),
    ("a column that does not exist", "name book.titel title", "there is no table or column book.titel to name"),
    ("a table that does not exist", "name books Books", "there is no table or column books to name"),
    ("what is not a name", "name book.author a-b", "a-b is not a name in Swift"),
    ("what is not a name, and code", 'name book.author "x = 1; let y"', "x = 1; let y is not a name in Swift"),
    ("a name that begins with a digit", "name book.author 2nd", "2nd is not a name in Swift"),
    ("a name that each table has", "name book.author table", "table is a name that generated code uses"),
    ("a type that generated code uses", "name book Data", "Data is a name that generated code uses"),
    ("a directive without a name", "name book", "unknown directive"),
]:
    refuses(f"{what} is an error at the directive", f"-- litevault: {directive}\n" + BOOKS.format(columns="name TEXT"), f"schema.sql:{'6' if 'taken' in what else '1'}:1: error: {why}")
refuses("relations are named only where there are any", "-- litevault: relation a.x y\nCREATE TABLE a (x INT)", "with '-- litevault: relations'")
