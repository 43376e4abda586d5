import SQLite
import Testing

@Suite struct AttachingSeeds {
    let folder: Folder
    init() throws { folder = try Folder() }

    // seeds 000:2357 001:1418 002:602
    @Test func `a database is attached, read by its name, and detached`() throws {
        let external = try Connection(folder("external.sqlite"))
        try external.execute("CREATE TABLE \"table\" (a); INSERT INTO \"table\" VALUES (1)")
        try external.close()
        let db = try Connection(folder("db.sqlite"))
        final class Seen: @unchecked Sendable { var ran: [String] = [] }
        let seen = Seen()
        db.trace { seen.ran.append($0) }

        try db.attach(.uri(folder("external.sqlite"), parameters: [.mode(.readOnly)]), as: "external")
        expectSQL(
            seen.ran.first { $0.hasPrefix("ATTACH") } ?? "", "ATTACH DATABASE 'file:external.sqlite?mode=ro' AS 'external'",
            really: "ATTACH DATABASE ? AS 'external'")

        let table = Table("table", database: "external")
        let count = try db.scalar(table.count)
        expectSQL(
            table.count, "SELECT count(*) FROM 'external.table'",
            really: #"SELECT count(*) FROM "external"."table""#)
        #expect(count == 1)
        #expect(throws: Result.self) { try db.run(table.insert(Expression<Int>("a") <- 1)) }

        try db.detach("external")
        expectSQL(seen.ran.last ?? "", "DETACH DATABASE 'external'")
    }

    // seeds 000:2373 001:1442 002:616
    @Test func `an encrypted database is attached with its key, which is in no statement`() throws {
        let db = try Connection(folder("db.sqlite"))
        final class Seen: @unchecked Sendable { var ran: [String] = [] }
        let seen = Seen()
        db.trace { seen.ran.append($0) }
        guard EngineInfo.linked.sqlcipherMajorVersion != nil else {
            #expect(throws: VaultError.self) {
                try db.attach(.uri(folder("encrypted.sqlite")), as: "encrypted", key: "secret")
            }
            return
        }
        try db.attach(.uri(folder("encrypted.sqlite")), as: "encrypted", key: "secret")
        try db.run("CREATE TABLE encrypted.t (a)")
        #expect(!seen.ran.contains { $0.contains("secret") })
        let alone = try Connection(folder("encrypted.sqlite"))
        try alone.key("secret")
        #expect(try alone.scalar("SELECT count(*) FROM t") as? Int64 == 0)
    }
}
