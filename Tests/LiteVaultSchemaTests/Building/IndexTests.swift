import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct IndexBuildingTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.create(table: "player") { t in
            t.column("email", .text).unique()
            t.column("score", .integer)
            t.column("name", .text)
        }
    }

    @Test func `terms have directions and collations`() throws {
        try db.create(
            index: "best", on: "player",
            expressions: [
                Column("score").desc, Column("name").collating(.nocase).asc, SQLExpression<String>("email").desc,
                SQL("length(name) DESC"),
            ], options: .unique, condition: SQL("score > \(5)"))
        #expect(
            try db.sql("best") == """
                CREATE UNIQUE INDEX "best" ON "player"("score" DESC, ("name" COLLATE NOCASE) ASC, "email" DESC, \
                length(name) DESC) WHERE score > 5
                """)
        let directions = try db.all("PRAGMA index_xinfo(best)") { try $0.get(3, as: Bool.self) }
        #expect(directions.prefix(4) == [true, false, true, true])
        let collations = try db.all("PRAGMA index_xinfo(best)") { try $0.get(4, as: String.self) }
        #expect(collations.prefix(2) == ["BINARY", "NOCASE"])
    }

    @Test func `an index on constants or nothing is refused`() throws {
        expectError(.invalidIndex(name: "i")) {
            try db.create(index: "i", on: "player", expressions: ["email"])
        }
        expectError(.invalidIndex(name: "i")) {
            try db.create(index: "i", on: "player", columns: [])
        }
    }

    @Test func `the one index on columns is dropped, whatever its name`() throws {
        try db.create(index: "weird", on: "player", columns: ["Score", "NAME"])
        try db.create(index: "other", on: "player", columns: ["name", "score"])
        try db.create(index: "longer", on: "player", expressions: [Column("score"), Column("name"), SQL("score + 1")])
        try db.drop(indexOn: "PLAYER", columns: ["score", "name"])
        #expect(try db.names() == ["longer", "other", "player"])
    }

    @Test func `several indexes on columns, or none, are an error`() throws {
        try db.create(index: "a", on: "player", columns: ["score"])
        try db.create(index: "b", on: "player", columns: ["score"])
        expectError(.ambiguousIndex(table: "player", columns: ["score"], names: ["a", "b"])) {
            try db.drop(indexOn: "player", columns: ["score"])
        }
        expectError(.noSuchIndex(table: "player", columns: ["name"])) {
            try db.drop(indexOn: "player", columns: ["name"])
        }
        expectError(.noSuchIndex(table: "player", columns: ["email"])) {
            try db.drop(indexOn: "player", columns: ["email"])
        }
        try db.drop(indexOn: "player", columns: ["name"], ifExists: true)
        #expect(try db.names() == ["a", "b", "player"])
    }

    @Test func `a collation's indexes are rebuilt`() throws {
        try db.createCollation("back") { $0 > $1 ? .orderedAscending : $0 < $1 ? .orderedDescending : .orderedSame }
        try db.create(index: "i", on: "player", expressions: [Column("name").collating(.custom("back"))])
        try db.reindex(collation: .custom("back"))
        #expect(try db.schema.integrityCheck().isEmpty)
    }
}
