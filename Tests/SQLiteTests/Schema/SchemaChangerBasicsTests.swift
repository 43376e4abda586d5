import Foundation
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import SQLite
import Testing

@Suite struct `Making, extending and dropping tables` {
    let db: Connection
    let changer: SchemaChanger
    var schema: SchemaReader { db.schema }

    init() throws {
        db = try Connection()
        changer = SchemaChanger(connection: db)
        try changer.create(table: "users") { table in
            table.add(column: .init(name: "id", primaryKey: .init(autoIncrement: true), type: .INTEGER))
            table.add(expression: SQLExpression<String>("name"))
            table.add(expression: SQLExpression<Double?>("salary"))
            table.add(column: .init(name: "boss", type: .INTEGER, references: .init(toTable: "users", toColumn: "id")))
            table.add(index: .init(table: "users", name: "by_name", unique: true, columns: ["name"]))
        }
    }

    @Test func `a table has the columns and indexes it was given`() throws {
        #expect(
            try schema.columnDefinitions(table: "users") == [
                ColumnDefinition(name: "id", primaryKey: .init(autoIncrement: true), type: .INTEGER),
                ColumnDefinition(name: "name", type: .TEXT, nullable: false),
                ColumnDefinition(name: "salary", type: .REAL),
                ColumnDefinition(name: "boss", type: .INTEGER, references: .init(toTable: "users", toColumn: "id")),
            ])
        #expect(try schema.indexDefinitions(table: "users").map(\.name) == ["by_name"])
    }

    @Test func `an existing table is left unchanged with ifNotExists`() throws {
        func make(ifNotExists: Bool) throws {
            try changer.create(table: "users", ifNotExists: ifNotExists) { table in
                table.add(column: .init(name: "other", type: .TEXT))
                table.add(index: .init(table: "users", name: "by_name", columns: ["name"]))
            }
        }
        try make(ifNotExists: true)
        #expect(throws: Result.self) { try make(ifNotExists: false) }
        #expect(try schema.columnDefinitions(table: "users").count == 4)
    }

    @Test func `columns and indexes are added and dropped`() throws {
        let city = ColumnDefinition(name: "city", type: .TEXT, nullable: false, defaultValue: .stringLiteral("Oslo"))
        try changer.alter(table: "users") { table in
            table.add(column: city)
            table.add(index: .init(table: "users", name: "by_city", columns: ["city"]))
            table.drop(index: "by_name")
            table.drop(index: "missing", ifExists: true)
        }
        #expect(try schema.columnDefinitions(table: "users").contains(city))
        #expect(try schema.indexDefinitions(table: "users").map(\.name) == ["by_city"])
    }

    @Test(arguments: [
        (
            ColumnDefinition(name: "x", primaryKey: .init(autoIncrement: false), type: .TEXT),
            "Invalid column definition: can not add primary key column"
        ),
        (
            ColumnDefinition(name: "x", type: .TEXT, unique: true),
            "Invalid column definition: can not add unique column"
        ),
        (
            ColumnDefinition(name: "x", type: .TEXT, defaultValue: .CURRENT_TIME),
            "Invalid column definition: Invalid default value"
        ),
        (
            ColumnDefinition(name: "x", type: .TEXT, nullable: false),
            "Invalid column definition: NOT NULL columns must have a default value other than NULL"
        ),
    ])
    func `columns that cannot be added are refused`(column: ColumnDefinition, message: String) {
        let error = #expect(throws: SchemaChanger.Error.self) {
            try changer.alter(table: "users") { $0.add(column: column) }
        }
        #expect(error?.localizedDescription == message)
    }

    @Test func `tables are renamed and dropped`() throws {
        try changer.rename(table: "users", to: "new \"users\"")
        #expect(try schema.objectDefinitions(name: "new \"users\"", type: .table).count == 1)
        try changer.drop(table: "new \"users\"")
        try changer.drop(table: "users", ifExists: true)
        let error = #expect(throws: Result.self) { try changer.drop(table: "users", ifExists: false) }
        #expect(error?.message == "no such table: users")
        try changer.run("CREATE TABLE raw (x)")
        #expect(try schema.objectDefinitions(type: .table).contains { $0.name == "raw" })
    }
}
