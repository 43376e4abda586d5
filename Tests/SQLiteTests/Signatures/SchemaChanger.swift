import Foundation
import SQLite
import Testing

@Suite struct SchemaChangerSignatures {
    let users: UsersDatabase
    let db: Connection
    let changer: SchemaChanger
    let schema: SchemaReader

    init() throws {
        users = try UsersDatabase()
        db = users.db
        try users.insert("foo", age: 7)
        changer = SchemaChanger(connection: db)
        schema = SchemaReader(connection: db)
    }

    private var columns: [String] { get throws { try schema.columnDefinitions(table: "users").map(\.name) } }

    @Test func `an empty change changes nothing`() throws {
        let before = try (
            schema.columnDefinitions(table: "users"), schema.indexDefinitions(table: "users"), schema.foreignKeys(table: "users")
        )
        try changer.alter(table: "users") { _ in }
        #expect(try schema.columnDefinitions(table: "users") == before.0)
        #expect(try schema.indexDefinitions(table: "users") == before.1)
        #expect(try schema.foreignKeys(table: "users") == before.2)
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 1)
    }

    @Test(arguments: [false, true])
    func `a column is dropped and renamed, also where ALTER TABLE cannot`(legacy: Bool) throws {
        let changer = legacy ? SchemaChanger(connection: db, version: .init(major: 3, minor: 24)) : changer
        try changer.alter(table: "users") { $0.drop(column: "age") }
        #expect(try !columns.contains("age"))
        try changer.alter(table: "users") { $0.rename(column: "salary", to: "wage") }
        #expect(try !columns.contains("salary") && columns.contains("wage"))
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 1)
    }

    @Test func `a column is added as defined, but no primary key`() throws {
        let added = ColumnDefinition(
            name: "new_column", primaryKey: nil, type: .TEXT, nullable: true, unique: false, defaultValue: .stringLiteral("foo"),
            references: nil)
        try changer.alter(table: "users") { $0.add(column: added) }
        #expect(try schema.columnDefinitions(table: "users").last == added)
        do {
            try changer.alter(table: "users") {
                $0.add(
                    column: ColumnDefinition(
                        name: "key", primaryKey: .init(autoIncrement: false, onConflict: nil), type: .TEXT, nullable: true,
                        defaultValue: .NULL, references: nil))
            }
            Issue.record("added")
        } catch SchemaChanger.Error.invalidColumnDefinition(let message) {
            #expect(message == "can not add primary key column")
        }
        let error: any Error = SchemaChanger.Error.invalidColumnDefinition("can not add primary key column")
        #expect(error.localizedDescription == "Invalid column definition: can not add primary key column")
        #expect(SchemaChanger.Error.foreignKeyError([]).errorDescription != nil)
    }

    @Test func `a table is dropped and renamed`() throws {
        try changer.rename(table: "users", to: "users_new")
        #expect(try db.scalar(Table("users_new").count) == 1)
        try changer.drop(table: "users_new")
        try changer.drop(table: "xxx")
        try changer.drop(table: "xxx", ifExists: true)
        do {
            try changer.drop(table: "xxx", ifExists: false)
            Issue.record("dropped")
        } catch Result.error(let message, let code, _) {
            #expect(message == "no such table: xxx" && code == SQLITE_ERROR)
        }
    }

    @Test func `a table is created from definitions and expressions, with indexes`() throws {
        try changer.create(table: "foo") {
            #expect($0.name == "foo")
            $0.add(column: .init(name: "id", primaryKey: .init(autoIncrement: true), type: .INTEGER))
            $0.add(expression: Expression<String>("name"))
            $0.add(expression: Expression<Int>("age"))
            $0.add(expression: Expression<Double?>("salary"))
            $0.add(index: .init(table: "foo", name: "name_index", unique: true, columns: ["name"], where: nil, orders: nil))
        }
        #expect(try db.scalar(Table("foo").count) == 0)
        #expect(
            try schema.columnDefinitions(table: "foo") == [
                ColumnDefinition(
                    name: "id", primaryKey: .init(autoIncrement: true, onConflict: nil), type: .INTEGER, nullable: true,
                    unique: false, defaultValue: .NULL, references: nil),
                ColumnDefinition(name: "name", type: .TEXT, nullable: false),
                ColumnDefinition(name: "age", type: .INTEGER, nullable: false),
                ColumnDefinition(name: "salary", type: .REAL, nullable: true),
            ])
        #expect(
            try schema.indexDefinitions(table: "foo").filter { !$0.isInternal } == [
                IndexDefinition(
                    table: "foo", name: "name_index", unique: true, columns: ["name"], where: nil, orders: nil,
                    origin: .createIndex)
            ])
        try changer.create(table: "foo", ifNotExists: true) { $0.add(column: .init(name: "id", type: .INTEGER)) }
        do {
            try changer.create(table: "foo", ifNotExists: false) { $0.add(column: .init(name: "id", type: .INTEGER)) }
            Issue.record("created twice")
        } catch Result.error(_, let code, _) {
            #expect(code == 1)
        }
    }

    @Test func `indexes are added and dropped`() throws {
        try changer.alter(table: "users") {
            #expect($0.name == "users")
            $0.add(index: .init(table: "users", name: "age_index", unique: false, columns: ["age"], where: nil, orders: nil))
        }
        try changer.alter(table: "users") {
            $0.add(index: .init(table: "users", name: "age_index", columns: ["age"]), ifNotExists: true)
        }
        #expect(try schema.indexDefinitions(table: "users").contains { $0.name == "age_index" })
        try changer.alter(table: "users") { $0.drop(index: "age_index") }
        #expect(try !schema.indexDefinitions(table: "users").contains { $0.name == "age_index" })
        try changer.alter(table: "users") { $0.drop(index: "age_index", ifExists: true) }
        #expect(throws: Result.self) { try changer.alter(table: "users") { $0.drop(index: "age_index", ifExists: false) } }
    }

    @Test func `SQL is run, and the texts are those that a trace of SQLite swift shows`() throws {
        try changer.run("DROP TABLE IF EXISTS users_old")
        let statement: Statement = try changer.run("SELECT ?", 1)
        #expect(statement.description == "SELECT ?")
        #expect(changer.description.hasPrefix("SQLiteSchemaChanger"))
        try changer.alter(table: "users") { $0.drop(index: "nothing", ifExists: true) }
        #expect(users.count("DROP INDEX  IF EXISTS  \"nothing\"") == 1)
        try changer.create(table: "x", ifNotExists: true) { $0.add(column: .init(name: "a", type: .TEXT)) }
        #expect(users.ran.contains { $0.hasPrefix("CREATE TABLE  IF NOT EXISTS  \"x\" (") })
        let operations: [SchemaChanger.Operation] = [
            .addColumn(.init(name: "a", type: .TEXT)), .addIndex(.init(table: "t", name: "i", columns: []), ifNotExists: true),
            .dropColumn("a"), .dropIndex("i", ifExists: true), .renameColumn("a", "b"), .renameTable("t"),
            .createTable(columns: [], ifNotExists: false),
        ]
        #expect(operations.count == 7)
        let alter: SchemaChanger.AlterTableDefinitionBlock = { $0.drop(column: "x") }
        let create: SchemaChanger.CreateTableDefinitionBlock = { $0.add(column: .init(name: "id", type: .INTEGER)) }
        try changer.create(table: "y", block: create)
        #expect(throws: (any Error).self) { try changer.alter(table: "y", block: alter) }
    }
}
