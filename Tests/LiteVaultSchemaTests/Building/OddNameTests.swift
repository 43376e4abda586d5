import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct OddNameTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
    }

    @Test(arguments: oddNames)
    func `every statement of the builder takes the name`(name: String) throws {
        try db.create(table: name) { t in
            t.primaryKey(name, .integer)
            t.column(name + "1", .text).notNull().defaults(to: name).indexed()
            t.column(name + "2", .integer).check { $0 > 0 }.collate(.nocase)
            t.uniqueKey([name + "1", name + "2"])
        }
        try db.create(table: name + " child") { t in
            t.autoIncrementedPrimaryKey(name)
            t.belongsTo(name, onDelete: .cascade).notNull()
            t.column("self").references(name + " child")
        }
        try db.create(index: name + " index", on: name, columns: [name + "2"], condition: Column(name + "2") != nil)
        try db.create(indexOn: name, columns: [name + "1", name])
        try db.create(index: name + " terms", on: name, expressions: [Column(name + "1").desc, Column(name) + 1])
        try db.create(view: name + " view", columns: [name], as: Table(name).select(Column(name)))
        try db.run(Table(name).insert(SQLExpression<Int>(name + "2") <- 7))
        #expect(try db.value("SELECT * FROM \(table: name + " view")", as: Int.self) == 1)
        #expect(try db.schema.columnDefinitions(table: name).map(\.name) == [name, name + "1", name + "2"])
        #expect(try db.schema.columnDefinitions(table: name)[1].defaultValue == .stringLiteral(name))
        #expect(try db.schema.foreignKeys(table: name + " child").map(\.toTable).sorted() == [name, name + " child"])
        try db.drop(view: name + " view")
        try db.drop(indexOn: name, columns: [name + "1", name])
        try db.drop(index: name + " terms")
        try db.rename(table: name, to: name + " new")
        try db.alter(table: name + " new") { t in
            t.add(column: name + "3", .text).unique()
            t.rename(column: name + "2", to: name + "4")
            t.drop(column: name + "3")
            t.add(column: name + "5").references(name + " child")
        }
        #expect(
            try db.schema.columnDefinitions(table: name + " new").map(\.name)
                == [name, name + "1", name + "4", name + "5"])
        #expect(try db.schema.foreignKeys(table: name + " child").contains { $0.toTable == name + " new" })
        try db.recreate(table: name + " new") { t in
            t.primaryKey(name, .integer)
            t.column(name + "4", .text)
            t.column(name + "1", .text).indexed()
        }
        #expect(try db.value(Table(name + " new").select(SQLExpression<String>(name + "1"))) == name)
        try db.drop(table: name + " child")
        try db.drop(table: name + " new")
        #expect(try db.names().isEmpty)
    }

    // The engine itself fails to drop an FTS4 table with a line break in its name (3.46).
    @Test(arguments: oddNames.filter { $0 != "new\nline" })
    func `full-text indexes take the name`(name: String) throws {
        try db.create(table: name) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column(name, .text)
        }
        try db.create(virtualTable: name + " ft", using: FTS4()) { t in
            t.synchronize(withTable: name)
            t.column(name)
        }
        try db.run(Table(name).insert(SQLExpression<String>(name) <- "word"))
        #expect(try db.value(VirtualTable(name + " ft").match("word").count) == 1)
        try db.run(Table(name).update(SQLExpression<String>(name) <- "other"))
        #expect(try db.value(VirtualTable(name + " ft").match("word").count) == 0)
        #expect(try db.value(VirtualTable(name + " ft").match("other").count) == 1)
        try db.drop(table: name + " ft")
        try FTS4.dropSynchronizationTriggers(of: name + " ft", in: db)
        #expect(try db.names() == [name])
    }

    @Test(arguments: oddNames) func `a migration has the name`(name: String) throws {
        var migrator = Migrator(recordedIn: name)
        migrator.registerMigration(name) { db in try db.create(table: "t") { t in t.column("a") } }
        try migrator.migrate(db)
        try migrator.migrate(db)
        #expect(try migrator.completedMigrations(db) == [name])
    }
}
