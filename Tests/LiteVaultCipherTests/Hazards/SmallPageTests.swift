import LiteVault
import LiteVaultTestSupport
import Testing

/// SQLCipher takes a page size of 512 together with reserved bytes for which SQLite silently makes 1024 of it, and what
/// both write then is opened by nothing.
@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct SmallPageTests {
    let scratch = Scratch()

    @Test func `H-SET-02 a page too small for its authentication is refused before a file exists`() throws {
        for settings in [CipherSettings(pageSize: 512), .init(pageSize: 512, compatibility: 3)] {
            let error = vaultError {
                _ = try Connection(scratch.path("new.db"), key: .passphrase("x"), settings: settings)
            }
            #expect(error?.code == .usage)
        }
        #expect(try scratch.names() == [])
    }

    @Test(arguments: [nil, 1, 2, 3, 4] as [Int?])
    func `H-SET-02 a database of the smallest pages, without HMAC, opens again under any compatibility`(format: Int?)
        throws
    {
        if format == 4, !Engine.format4 { return }
        let path = scratch.path("small.db")
        let key = try DatabaseKey.passphrase("x")
        let settings = CipherSettings(pageSize: 512, kdfIterations: 100, usesHMAC: false, compatibility: format)
        let db = try Connection(path, key: key, settings: settings)
        try db.execute("CREATE TABLE t (a)")
        for number in 0..<100 { try db.run("INSERT INTO t VALUES (zeroblob(?))", with: number * 10) }
        try db.close()
        let again = try Connection(path, key: key, settings: settings)
        #expect(try again.value("SELECT sum(length(a)) FROM t", as: Int.self) == 49500)
        #expect(try again.value("PRAGMA integrity_check", as: String.self) == "ok")
        #expect(try again.cipherSettings().pageSize == 512)
    }
}
