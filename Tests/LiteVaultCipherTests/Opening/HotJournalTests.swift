import Foundation
import LiteVault
import LiteVaultCipher
import LiteVaultTestSupport
import Testing

/// The journal of a transaction that a crash has ended, with the bytes of a page as they were before.
@Suite(.enabled(if: Engine.encrypts)) struct HotJournalTests {
    let scratch = Scratch()
    private let key: DatabaseKey
    private let wrong: DatabaseKey
    private let pageSize = Engine.format4 ? 4096 : 1024

    init() throws {
        key = try .raw([UInt8](repeating: 1, count: 32))
        wrong = try .raw([UInt8](repeating: 2, count: 32))
    }

    /// Half of the second page is overwritten, and the journal has all of it.
    ///
    /// - Returns: the path of the database, and its bytes before the transaction.
    private func makeCrashed() throws -> (path: String, before: [UInt8]) {
        let path = scratch.path("x.db")
        let db = try Connection(path, key: key)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(6000)), (2)")
        try db.close()
        let before = try scratch.bytes("x.db")
        let page = Array(before[pageSize..<(2 * pageSize)])
        var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func append(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { journal += $0 } }
        // One record, its nonce, and the sizes of the database, of a sector and of a page.
        for number in [1, 7, before.count / pageSize, 512, pageSize] { append(UInt32(number)) }
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        append(2)
        journal += page
        append(stride(from: pageSize - 200, to: 0, by: -200).reduce(7) { $0 + UInt32(page[$1]) })
        try scratch.write(journal, to: "x.db-journal")
        var after = before
        for index in (pageSize + pageSize / 2)..<(2 * pageSize) { after[index] = 0x55 }
        try scratch.write(after, to: "x.db")
        return (path, before)
    }

    @Test(arguments: [false, true])
    func `H-OPEN-13 a wrong key leaves a database and its hot journal unchanged, also beside an empty log`(hasLog: Bool) throws {
        let (path, _) = try makeCrashed()
        if hasLog { try scratch.write([UInt8](), to: "x.db-wal") }
        let link = scratch.path("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let (file, journal) = (try scratch.bytes("x.db"), try scratch.bytes("x.db-journal"))
        let attempts: [(name: String, body: (String) throws -> Void)] = [
            ("probe", { _ = try DatabaseFile($0).probe(key: wrong) }),
            ("migrate", { _ = try DatabaseFile($0).migrate(key: wrong) }),
            ("a connection", { _ = try Connection($0, key: wrong) }),
            ("a connection by a URI", { _ = try Connection("file:" + $0 + "?mode=rw", key: wrong) }),
        ]
        for (name, body) in attempts {
            for place in [path, link] {
                #expect(vaultError { try body(place) }?.code == .keyRejected, "\(name)")
                #expect(try scratch.bytes("x.db") == file, "\(name)")
                let kept = try? scratch.bytes("x.db-journal")
                #expect(kept == journal, "\(name)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a hot journal is rolled back with the key that opens what it leaves`(probes: Bool) throws {
        let (path, before) = try makeCrashed()
        if probes {
            #expect(try DatabaseFile(path).probe(key: key) == CipherSettings())
        } else {
            let db = try Connection(path, key: key)
            #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 2)
        }
        #expect(try scratch.bytes("x.db") == before)
        #expect(try scratch.names() == ["x.db"])
    }

    @Test func `a hot journal of the first transaction leaves an empty database, which can be used`() throws {
        let (path, _) = try makeCrashed()
        var journal = try scratch.bytes("x.db-journal")
        journal.replaceSubrange(16..<20, with: [0, 0, 0, 0])
        try scratch.write(journal, to: "x.db-journal")
        let db = try Connection(path, key: wrong)
        try db.execute("CREATE TABLE t (a)")
        #expect(try db.value("SELECT count(*) FROM t", as: Int.self) == 0)
    }
}
