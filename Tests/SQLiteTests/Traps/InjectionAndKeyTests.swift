import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct InjectionTests {
    @Test func `characters of a tokenizer stay inside its argument`() throws {
        let db = try Connection()
        let search = VirtualTable("search")
        let evil: Set<Character> = ["\"", "'", ")"]
        let sql = search.create(.FTS4([string], tokenize: .Unicode61(tokenchars: evil, separators: ["\""])))
        try db.run(sql)
        #expect(try db.schema.objectDefinitions(type: .table).contains { $0.name == "search" })
    }

    @Test func `an invalid action of a foreign key does not become SQL`() throws {
        let evil = ColumnDefinition.ForeignKey(toTable: "t", toColumn: "a", onUpdate: "CASCADE); DROP TABLE t; --", onDelete: nil)
        #expect(!evil.toSQL().contains("ON UPDATE CASCADE)"))
        let db = try Connection()
        try db.run("CREATE TABLE t (a)")
        #expect(throws: (any Error).self) {
            try SchemaChanger(connection: db).create(table: "u") {
                $0.add(column: .init(name: "b", type: .TEXT, references: evil))
            }
        }
        #expect(try db.schema.objectDefinitions(name: "t").count == 1)
    }

    @Test func `the name of a table definition is quoted unless it is a plain name`() {
        let column = ColumnDefinition(name: "a", type: .TEXT)
        #expect(
            TableDefinition(name: "a b\"; --", columns: [column], indexes: []).toSQL()
                == "CREATE TABLE \"a b\"\"; --\" ( \"a\" TEXT )")
        #expect(TableDefinition(name: "order", columns: [column], indexes: []).toSQL() == "CREATE TABLE \"order\" ( \"a\" TEXT )")
    }

    @Test func `the condition of an index is one statement's and no more`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (a)")
        let evil = IndexDefinition(table: "t", name: "i", columns: ["a"], where: "a > 1; DROP TABLE t")
        try? SchemaChanger(connection: db).alter(table: "t") { $0.add(index: evil) }
        #expect(try db.schema.objectDefinitions(name: "t").count == 1)
    }

    @Test func `a licence with a quote does not end its literal`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (a)")
        try? db.applyLicense("x'; DROP TABLE t; --")
        #expect(try db.schema.objectDefinitions(name: "t").count == 1)
    }
}

@Suite struct KeyTrapTests {
    let scratch = Scratch()

    /// An engine without encryption throws before it touches a file.
    private func encrypting(_ body: () throws -> Void) throws {
        guard try Connection().cipherVersion == nil else { return try body() }
        #expect(throws: (any Error).self) { try body() }
    }

    @Test func `a trace shows no key when a database is attached or exported`() throws {
        try encrypting {
            final class Seen: @unchecked Sendable { var text = "" }
            let seen = Seen()
            let db = try Connection()
            try db.key("x")
            db.trace { seen.text += $0 }
            try db.attach(.uri(scratch.path("a.db")), as: "a", key: "top-secret")
            try db.sqlcipher_export(.uri(scratch.path("b.db")), key: "top-secret")
            #expect(!seen.text.contains("top-secret"))
        }
    }

    @Test func `an export that fails leaves nothing attached, and one that works keeps the version of the schema`() throws {
        try encrypting {
            let db = try Connection()
            try db.key("x")
            db.userVersion = 7
            try db.run("CREATE TABLE t (a)")
            #expect(throws: (any Error).self) { try db.sqlcipher_export(.uri(scratch.path("no/where.db")), key: "k") }
            #expect(try db.prepare("PRAGMA database_list").map { $0[1] as? String } == ["main"])
            try db.sqlcipher_export(.uri(scratch.path("b.db")), key: "k")
            let copy = try Connection(scratch.path("b.db"))
            try copy.key("k")
            #expect(copy.userVersion == 7)
        }
    }

    @Test func `an empty key, and a new key for a plain file, are reported as such`() throws {
        try encrypting {
            #expect(throws: VaultError.self) { try Connection(scratch.path("c.db")).key("") }
            let plain = try Connection(scratch.path("plain.db"))
            try plain.run("CREATE TABLE t (a)")
            do {
                try plain.rekey("new")
                Issue.record("rekeyed")
            } catch {
                #expect(!"\(error)".contains("not an error"))
            }
            // An engine without encryption threw above.
            guard try Connection().cipherVersion != nil else { throw QueryError.noSuchTable(name: "encryption") }
        }
    }
}
