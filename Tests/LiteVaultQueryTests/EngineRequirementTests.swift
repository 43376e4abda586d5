import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

// What the typed layer can write and an engine may be too old for: it runs, or the error names the version that has it.
@Suite struct EngineRequirementTests {
    let db: Connection
    let items = Table("items")
    let id = SQLExpression<Int64>("id")
    let name = SQLExpression<String>("name")
    let price = SQLExpression<Int?>("price")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, price INTEGER);
            INSERT INTO items VALUES (1, 'a', 10), (2, 'b', NULL);
            """)
    }

    /// Runs on an engine of this version; on one that is older, asserts that it throws the error that names both versions.
    private func since(
        _ major: Int, _ minor: Int, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let needed = SQLiteVersion(major: major, minor: minor)
        guard EngineInfo.linked.sqliteVersion < needed else {
            #expect(throws: Never.self, sourceLocation: location) { try body() }
            return
        }
        let error =
            #expect(throws: VaultError.self, sourceLocation: location) { try body() }?.cause as? EngineInfo.UnsupportedFeature
        #expect(error?.requiredVersion == needed, sourceLocation: location)
        #expect(error?.description.contains("SQLite \(major).\(minor)") == true, sourceLocation: location)
        #expect(
            error?.description.contains(EngineInfo.linked.sqliteVersion.description) == true, sourceLocation: location)
    }

    @Test func `a strict table is created, or the error names 3.37`() throws {
        since(3, 37) { try db.run("CREATE TABLE \"strict\" (\"id\" INTEGER NOT NULL) STRICT") }
        since(3, 37) {
            try db.run("CREATE TABLE \"both\" (\"id\" INTEGER PRIMARY KEY NOT NULL) WITHOUT ROWID, STRICT")
        }
        since(3, 37) { try db.execute("SELECT 1; CREATE TABLE third (a INTEGER) STRICT") }
    }

    @Test func `columns of the written rows are returned, or the error names 3.35`() throws {
        since(3, 35) { _ = try db.all(items.filter(id == 1).delete().returning(id, name)) }
        since(3, 35) { _ = try db.run("INSERT INTO items (name) VALUES ('c') RETURNING id") }
    }

    @Test func `an upsert runs, or the error names 3.24`() throws {
        since(3, 24) { try db.run(items.upsert(name <- "a", price <- 3, onConflictOf: name)) }
    }

    @Test func `a window function runs, or the error names 3.25`() throws {
        since(3, 25) { _ = try db.first(items.select(rowNumber(id)), as: Row.self) }
        since(3, 25) {
            for _ in try db.all(items.select(price.sum.over("w")).window("w", as: .order(id)), as: Row.self) {}
        }
        since(3, 28) {
            _ = try db.first(items.select(rank().over(.extending("w"))).window("w", as: .order(id)), as: Row.self)
        }
    }

    @Test func `a right and a full join run, or the error names 3.39`() throws {
        let others = items.alias("others")
        for type in [JoinType.rightOuter, .fullOuter] {
            since(3, 39) { _ = try db.first(items.join(type, others, on: items[id] == others[id]), as: Row.self) }
        }
    }

    @Test func `a hint of materialization is taken, or the error names 3.35`() throws {
        let cheap = Table("cheap")
        for hint in [Table.MaterializationHint.materialized, .notMaterialized] {
            since(3, 35) { _ = try db.first(cheap.with(cheap, hint: hint, as: items), as: Row.self) }
        }
    }

    @Test func `FILTER and the place of NULL are understood, or the error names 3.30`() throws {
        since(3, 30) { _ = try db.first(items.select(count(*).filter(price > 1)), as: Row.self) }
        since(3, 30) { _ = try db.first(items.order(price.asc(nulls: .last)), as: Row.self) }
    }

    @Test func `an UPDATE of some rows runs, or the error says what the engine was built without`() throws {
        let body = { _ = try db.run(items.order(id).limit(1).update(price <- 1)) }
        if EngineInfo.linked.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT") { return try body() }
        let error = #expect(throws: VaultError.self) { try body() }?.cause as? EngineInfo.UnsupportedFeature
        #expect(error?.requiredVersion == nil && error?.feature.hasPrefix("UPDATE with ORDER BY or LIMIT") == true)
        #expect { try db.run(items.limit(1).delete()) } throws: { ($0 as? VaultError)?.code == .unsupported }
    }

    @Test func `the application's own SQL that is too new is reported as such, too`() throws {
        since(3, 31) { try db.run("CREATE TABLE g (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1))") }
        since(3, 25) { try db.run("ALTER TABLE items RENAME COLUMN price TO cost") }
        since(3, 35) { try db.run("ALTER TABLE items DROP COLUMN cost") }
    }

    @Test func `a function runs, or the error names the version that brought it`() throws {
        since(3, 32) { _ = try db.value("SELECT iif(1, 'a', 'b')", as: String.self) }
        since(3, 34) { _ = try db.value("SELECT substring('abc', 2)", as: String.self) }
        since(3, 44) { _ = try db.value("SELECT CONCAT('a', 'b')", as: String.self) }
        since(3, 50) { _ = try db.value("SELECT unistr('a')", as: String.self) }
        // One that no engine has may be the application's, and so may a table of the name of a function.
        #expect(throws: DatabaseError.self) { _ = try db.value("SELECT nonesuch(1)", as: String.self) }
        #expect(throws: DatabaseError.self) { _ = try db.value("SELECT 1 FROM concat", as: Int.self) }
    }

    @Test func `a syntax error in every engine stays the engine's own error`() throws {
        for text in ["SELEC 1 RETURNING", "CREATE TABLE u (a) STRICT STRICT", "UPDATE items SET LIMIT"] {
            // The version is named only where it would help.
            do { try db.run(SQL(sql: text)) } catch let error as VaultError {
                let missing = try #require(error.cause as? EngineInfo.UnsupportedFeature)
                #expect(missing.requiredVersion.map { $0 > missing.linkedVersion } ?? true)
            } catch let error as DatabaseError {
                #expect(error.message.contains("syntax error"))
            }
        }
        #expect(throws: DatabaseError.self) { _ = try db.first(Table("none").select(count(*)), as: Row.self) }
    }
}
