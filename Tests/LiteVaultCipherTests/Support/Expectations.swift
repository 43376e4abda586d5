import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// Settings that derive a key fast: tests make many of them.
let fast = CipherSettings(kdfIterations: 100)

/// The code of the `VaultError` that a body throws.
@discardableResult
func vaultError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> VaultError? {
    #expect(throws: VaultError.self, sourceLocation: sourceLocation, performing: body)
}

/// A text that does not occur by chance: found in a file, it is there in plaintext.
let marker = "plaintext-marker-6f1c"

func containsMarker(_ bytes: [UInt8]) -> Bool { Data(bytes).range(of: Data(marker.utf8)) != nil }

extension Scratch {
    /// An encrypted database with the marker in it, closed. `fast` settings.
    @discardableResult
    func makeEncrypted(_ name: String = "encrypted.db", key: DatabaseKey, wal: Bool = false) throws -> String {
        let db = try Connection(path(name), key: key, settings: fast, journalMode: wal ? .wal : .delete)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES ('\(marker)')")
        try db.close()
        return path(name)
    }

    /// A plain database with the marker in it, closed.
    @discardableResult
    func makePlain(_ name: String = "plain.db", wal: Bool = false) throws -> String {
        let db = try Connection(path(name), journalMode: wal ? .wal : .delete)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES ('\(marker)')")
        try db.close()
        return path(name)
    }

    /// The files in which the marker can be read.
    func namesWithMarker() throws -> [String] { try names().filter { containsMarker(try bytes($0)) } }
}
