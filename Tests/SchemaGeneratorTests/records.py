"""Records: the structs that tables become, their conformance, and their relations."""
from support import case, generate


def writes(name, sql, *lines, queries=(), without=()):
    """Each line is in the source."""
    status, said, source, functions = generate(("schema.sql", sql), queries=queries)
    declared = [line.strip() for line in ((source or "") + (functions or "")).splitlines()]
    missing = [line for line in lines if line not in declared]
    extra = [line for line in without if line in declared]
    case(name, status == 0 and not missing and not extra, f"{status} {said} lacks {missing} has {extra} in {source}")


def refuses(name, sql, diagnostic):
    status, said, source, _ = generate(("schema.sql", sql))
    case(name, status == 1 and len(said) == 1 and said[0].startswith(diagnostic) and source is None, f"{status} {said}")


writes("a table becomes a struct with defaults, an initializer and a conformance",
       "-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, "
       "pinned BOOLEAN NOT NULL DEFAULT 0, colour TEXT NOT NULL DEFAULT 'it''s red', weight REAL NOT NULL DEFAULT 1.5, "
       "created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)",
       "struct Note: Hashable, Codable, Sendable {", "var id: Int64?", "var title: String", "var createdAt: Date?",
       "var body: String?", "var pinned: Bool = false", 'var colour: String = "it\'s red"', "var weight: Double = 1.5",
       "extension Note: Record, Identifiable {", 'static let createdAt = SQLExpression<Date>("created_at")',
       "static let table = RecordTable<Note>(", '.rowID("id", \\.id),', '"title",', '.defaulted("created_at"),',
       "var primaryKey: Int64? { id }", "self.init(", "title: try row.next(),", "createdAt: try row.next())", "mutating func setRowID(_ rowID: Int64) { id = rowID }", "row.bind(createdAt)",
       "func write(to row: inout RecordWriter) {")
writes("a public record has an initializer with the same defaults",
       "-- litevault: public\n-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, "
       "pinned BOOLEAN NOT NULL DEFAULT 0)",
       "public var pinned: Bool", "public init(", "id: Int64? = nil,", "title: String,", "body: String? = nil,", "pinned: Bool = false",
       "self.pinned = pinned", "title = try row.next()", without=["self.init("])
writes("keywords are labels without quotes where Swift wants none",
       '-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, class TEXT, "var" TEXT)',
       "var `class`: String?", "class: try row.next(),", "var: try row.next())")
writes("a column of any type holds stored values, and its record is not Codable",
       "-- litevault: record setting\n-- litevault: setting.value as StoredValue?\nCREATE TABLE setting (key TEXT NOT NULL PRIMARY KEY, value)",
       "struct Setting: Hashable, Sendable {", "var value: StoredValue?")
writes("names of the protocol and words of Swift become properties",
       '-- litevault: record item\nCREATE TABLE item (id INTEGER PRIMARY KEY, primary_key TEXT, "await" TEXT, at TIMESTAMP WITH TIME ZONE, price NUMBER(8, 2))',
       "var primaryKey_: String?", "row.bind(`await`)", "await: try row.next(),", "var at: Date?", "var price: Double?", "var primaryKey: Int64? { id }")
writes("a column whose default Swift cannot write has to be given",
       "-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, day DATE DEFAULT '2026-01-01')",
       "init(", "id: Int64? = nil,", "day: Date?", without=["var day: Date? = nil", "self.init("])
writes("a text key is given, and is what identifies the record",
       "-- litevault: record tag\nCREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY, colour TEXT)", '.key("name"),',
       "var primaryKey: String? { name }", "var id: PrimaryKey? { primaryKey }")
writes("a composite key is a struct in the order of the columns",
       "-- litevault: record membership\nCREATE TABLE membership (since DATE, player INT NOT NULL, team INT NOT NULL, "
       "PRIMARY KEY (team, player))",
       "struct PrimaryKey: CompositeKey {", "init(player: Int64, team: Int64) {",
       "var primaryKey: PrimaryKey? { PrimaryKey(player: player, team: team) }", '.key("player"),')
key = ("-- litevault: record crs\n{}CREATE TABLE crs (auth_name TEXT, code TEXT NOT NULL, name TEXT, PRIMARY KEY (auth_name, code))")
warning = "schema.sql:1:1: warning: column auth_name of crs is in the primary key without NOT NULL"
for directive, warnings, lines in [
        ("", [warning], ["var authName: String", "var primaryKey: PrimaryKey? { PrimaryKey(authName: authName, code: code) }"]),
        ("-- litevault: crs.auth_name as String\n", [], ["var authName: String"]),
        ("-- litevault: crs.auth_name as String?\n", [],
         ["var authName: String?", "guard let authName else { return nil }", "init(authName: String, code: String) {"])]:
    status, said, source, _ = generate(("schema.sql", key.format(directive)))
    declared = [line.strip() for line in (source or "").splitlines()]
    case(f"a key that may be NULL is a warning, which a directive settles: {directive.strip()}",
         status == 0 and [line[:len(warning)] for line in said] == warnings and all(line in declared for line in lines),
         f"{status} {said} {source}")
writes("a key of one column may be optional",
       "-- litevault: record tag\n-- litevault: tag.name as String?\nCREATE TABLE tag (name TEXT PRIMARY KEY)",
       "var name: String?", "typealias PrimaryKey = String", "var primaryKey: String? { name }")
writes("a table without a key has none", "-- litevault: record log\nCREATE TABLE log (line TEXT NOT NULL)",
       "extension Log: Record {", without=["extension Log: Record, Identifiable {"])
writes("enumerations, JSON and versions by directive",
       "-- litevault: record note\n-- litevault: enum State open=0 done=1\n-- litevault: note.state as State\n"
       "-- litevault: note.tags json [String]\n-- litevault: version note.revision\n"
       "CREATE TABLE note (id INTEGER PRIMARY KEY, state INT NOT NULL DEFAULT 1, tags TEXT NOT NULL, revision INT NOT NULL)",
       "enum State: Int64, Value, Codable, CaseIterable, Sendable {", "case done = 1", "var state: State = .done",
       "var tags: [String]", "tags: try row.nextJSON(),", "try row.bindJSON(tags)", 'static let tags = SQLExpression<String>("tags")',
       '.version("revision", \\.revision),', "var revision: Int64 = 0", "func write(to row: inout RecordWriter) throws {")
writes("a record is public, nested or an extension, and without protocols that are not wanted",
       "-- litevault: public\n-- litevault: record a as Models.First without Codable, Hashable\n-- litevault: record b extends Second\n"
       "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY)",
       "extension Models {", "public struct First: Sendable {", "extension Models.First: Record, Identifiable {",
       "extension Second: Record {", "public init(row: inout RecordReader) throws {", without=["public struct Second: Hashable, Codable, Sendable {"])
writes("foreign keys become relations, in both directions and through tables that join",
       "-- litevault: relations\n-- litevault: record shelf\n-- litevault: record note\n-- litevault: record tag\n-- litevault: record note_tag\n"
       "-- litevault: record cover\n"
       "CREATE TABLE shelf (id INTEGER PRIMARY KEY, parent_id INT REFERENCES shelf(id));\n"
       "CREATE TABLE note (id INTEGER PRIMARY KEY, shelf_id INT NOT NULL REFERENCES shelf(id));\n"
       "CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY);\n"
       "CREATE TABLE note_tag (note_id INT NOT NULL REFERENCES note(id), tag TEXT NOT NULL REFERENCES tag, PRIMARY KEY (note_id, tag));\n"
       "CREATE TABLE cover (note_id INTEGER PRIMARY KEY REFERENCES note(id))",
       "static let parent: Relation<Shelf, Shelf?> = .belongsTo(Shelf.parentId)",
       "static let shelvesByParent: Relation<Shelf, [Shelf]> = .hasMany(Shelf.parentId)",
       "static let shelf: Relation<Note, Shelf> = .belongsTo(Note.shelfId)",
       "static let notes: Relation<Shelf, [Note]> = .hasMany(Note.shelfId)",
       "static let note: Relation<NoteTag, Note> = .belongsTo(NoteTag.noteId)",
       "static let tagRecord: Relation<NoteTag, Tag> = .belongsTo(NoteTag.tag)",
       "static let noteTags: Relation<Note, [NoteTag]> = .hasMany(NoteTag.noteId)",
       "static let tags: Relation<Note, [Tag]> = .hasMany(through: Note.noteTags, NoteTag.tagRecord)",
       "static let cover: Relation<Note, Cover?> = .hasOne(Cover.noteId)")
writes("several keys between the same tables have names of their own, and composite ones are lists",
       "-- litevault: relations\n-- litevault: record person\n-- litevault: record book\n-- litevault: record chapter\nCREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT UNIQUE);\n"
       "CREATE TABLE book (shelf INT NOT NULL, place INT NOT NULL, author_id INT NOT NULL REFERENCES person, mail TEXT REFERENCES person(mail), "
       "PRIMARY KEY (shelf, place));\n"
       "CREATE TABLE chapter (id INTEGER PRIMARY KEY, shelf INT NOT NULL, place INT NOT NULL, FOREIGN KEY (shelf, place) REFERENCES book(shelf, place))",
       "static let author: Relation<Book, Person> = .belongsTo(Book.authorId)",
       "static let mailRecord: Relation<Book, Person?> = .belongsTo(Book.mail, references: Person.mail)",
       "static let booksByAuthor: Relation<Person, [Book]> = .hasMany(Book.authorId)",
       "static let book: Relation<Chapter, Book> = .belongsTo([Chapter.shelf, Chapter.place])",
       "static let chapters: Relation<Book, [Chapter]> = .hasMany([Chapter.shelf, Chapter.place])")
writes("one row is called in the singular and several in the plural, whichever the table is, and several keys by their columns",
       "-- litevault: relations\n-- litevault: record categories\n-- litevault: record people\n-- litevault: record statuses\n"
       "-- litevault: record houses\n-- litevault: record stays\n-- litevault: record data\n"
       "CREATE TABLE categories (name TEXT PRIMARY KEY NOT NULL);\nCREATE TABLE statuses (id INTEGER PRIMARY KEY);\n"
       "CREATE TABLE people (id INTEGER PRIMARY KEY, mother INT REFERENCES people, father INT REFERENCES people, category TEXT REFERENCES categories, "
       "status_id INT UNIQUE REFERENCES statuses);\nCREATE TABLE houses (id INTEGER PRIMARY KEY);\n"
       "CREATE TABLE stays (person_id INT NOT NULL REFERENCES people, house_id INT NOT NULL REFERENCES houses, guest_of INT REFERENCES categories(name), "
       "PRIMARY KEY (person_id, house_id));\nCREATE TABLE data (id INTEGER PRIMARY KEY, house_id INT NOT NULL REFERENCES houses)",
       "static let categoryRecord: Relation<People, Categories?> = .belongsTo(People.category)",
       "static let motherRecord: Relation<People, People?> = .belongsTo(People.mother)",
       "static let fatherRecord: Relation<People, People?> = .belongsTo(People.father)",
       "static let peopleByMother: Relation<People, [People]> = .hasMany(People.mother)",
       "static let peopleByFather: Relation<People, [People]> = .hasMany(People.father)",
       "static let people: Relation<Categories, [People]> = .hasMany(People.category)",
       "static let person: Relation<Statuses, People?> = .hasOne(People.statusId)",
       "static let status: Relation<People, Statuses?> = .belongsTo(People.statusId)",
       "static let houses: Relation<People, [Houses]> = .hasMany(through: People.stays, Stays.house)",
       "static let people: Relation<Houses, [People]> = .hasMany(through: Houses.stays, Stays.person)",
       "static let data: Relation<Houses, [Data_]> = .hasMany(Data_.houseId)")
writes("a statement whose columns are those of a record returns records",
       "-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT)",
       "func titled(title: String) throws -> [Note] {", "return try Note.all(self, sql: sql, with: title)",
       "func note(id: Int64) throws -> Note {", "func heads() throws -> [Schema.HeadsRow] {",
       queries=[("q.sql", "-- name: titled(title:) :many\nSELECT * FROM note WHERE title = :title;\n-- name: note(id:) :one\n"
                          "SELECT n.* FROM note n WHERE n.id = :id;\n-- name: heads :many\nSELECT id, title FROM note")])
status, said, source, _ = generate(
    ("1.sql", "-- litevault: record note\nCREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)"),
    ("2.sql", "ALTER TABLE note ADD COLUMN body TEXT"))
case("a migration that changes a table changes the struct", status == 0 and "var body: String?" in source, (said, source))

refuses("a record needs a table", "-- litevault: record nothing\nCREATE TABLE note (id INTEGER PRIMARY KEY)",
        "schema.sql:1:1: error: there is no table nothing to make a record of")
refuses("a record needs the types of all columns", "CREATE TABLE note (id INTEGER PRIMARY KEY, x);\n-- litevault: record note",
        "schema.sql:2:1: error: column x of note has no type, which a record needs")

writes("names of columns do not hide what generated code names",
       '-- litevault: record data\n-- litevault: record "day plan" as Plan\n-- litevault: "day plan"."row" as Row\n'
       'CREATE TABLE data (id INTEGER PRIMARY KEY, "row" TEXT, "rowID" INTEGER);\nCREATE TABLE "day plan" ("row" INT NOT NULL)',
       "struct Data_: Hashable, Codable, Sendable {", "init(row row_: inout RecordReader) throws {", "row: try row_.next(),",
       "func write(to row_: inout RecordWriter) {", "row_.bind(row)", "mutating func setRowID(_ rowID_: Int64) { id = rowID_ }",
       "struct Plan: Hashable, Codable, Sendable {", "var row: Row", "enum Data_ {")
