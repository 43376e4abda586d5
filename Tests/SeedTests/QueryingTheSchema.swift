import SQLite
import Testing

@Suite struct QueryingTheSchemaSeeds {
    let db: Connection
    init() throws {
        db = try Sample().db
        try db.execute(
            """
            CREATE INDEX users_by_name ON users (name, age);
            CREATE TRIGGER after_users AFTER INSERT ON users BEGIN SELECT 1; END;
            """)
    }

    // seeds 000:1511 001:876 002:1233 000:1517 001:880
    @Test func `objects of the schema are listed by type`() throws {
        let schema = db.schema
        let indexes = try schema.objectDefinitions(type: .index)
        let tables = try schema.objectDefinitions(type: .table)
        let triggers = try schema.objectDefinitions(type: .trigger)
        #expect(indexes.map(\.name).contains("users_by_name"))
        #expect(Set(tables.map(\.name)) == ["users", "posts"])
        #expect(triggers.map(\.name) == ["after_users"])
    }

    // seeds 000:1529 001:888 002:885
    @Test func `indexes and columns of a table`() throws {
        let schema = db.schema
        let indexes = try schema.indexDefinitions("users")
        let columns = try schema.columnDefinitions("users")
        var printed: [String] = []
        for index in indexes {
            printed.append("\(index.name) columns:\(index.columns))")
        }
        for column in columns {
            printed.append("\(column.name) pk:\(column.primaryKey != nil) nullable: \(column.nullable)")
        }
        #expect(printed.contains(#"users_by_name columns:["name", "age"])"#))
        #expect(printed.contains("id pk:true nullable: false"))
        #expect(printed.contains("name pk:false nullable: true"))
    }
}
