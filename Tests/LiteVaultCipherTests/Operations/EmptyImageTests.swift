import Foundation
import LiteVault
import LiteVaultCipher
import LiteVaultTestSupport
import Testing

/// Files that the engine reads as an empty database, under any key.
@Suite struct EmptyImageTests {
    let scratch: Scratch
    private let key: DatabaseKey
    private let wrong: DatabaseKey
    private let new: DatabaseKey

    init() throws {
        scratch = Scratch()
        (key, wrong, new) = (try Self.key(1), try Self.key(2), try Self.key(3))
    }

    private static func key(_ byte: UInt8) throws -> DatabaseKey { try .raw([UInt8](repeating: byte, count: 32)) }

    private func makeDatabase(_ name: String, key: DatabaseKey?) throws -> String {
        let path = scratch.path(name)
        let db = try key.map { try Connection(path, key: $0) } ?? Connection(path)
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(6000)), (2)")
        try db.close()
        return path
    }

    /// What each operation throws. None may succeed.
    private func refusals(_ path: String, key: DatabaseKey?) -> [String: VaultError.Code?] {
        let file = DatabaseFile(path)
        var operations: [String: () throws -> Void] = [
            "backup": { try file.backup(to: scratch.path("b"), key: key) },
            "vacuum": { try file.vacuum(key: key) },
            "vacuum into": { try file.vacuum(into: scratch.path("v"), key: key) },
            "read": { try file.read(key: key) { _ in } },
        ]
        if let key {
            operations["rekey"] = { try file.rekey(from: key, to: new) }
            operations["decrypt"] = { try file.decrypt(to: scratch.path("d"), key: key) }
            operations["export"] = { try file.export(to: scratch.path("e"), key: key, newKey: new) }
        } else if Engine.encrypts {
            operations["encrypt"] = { try file.encrypt(to: scratch.path("d"), key: new) }
            operations["encrypt in place"] = { try file.encryptInPlace(key: new) }
        }
        return operations.mapValues { operation in
            do {
                try operation()
                return nil
            } catch { return (error as? VaultError)?.code }
        }
    }

    /// A journal that takes the database back to some pages. It has no page of its own.
    private func makeJournal(_ path: String, pages: UInt32) throws {
        var bytes: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        for number in [0, 1, pages, 512, 4096] as [UInt32] { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
        try Data(bytes + [UInt8](repeating: 0, count: 520 - bytes.count)).write(to: URL(fileURLWithPath: path + "-journal"))
    }

    @Test(.enabled(if: Engine.encrypts), arguments: [0, 1, 0xFFFF_FFFF] as [UInt32])
    func `H-OPEN-11 a journal is rolled back under a key that opens what it leaves, and never under another one`(
        pages: UInt32
    ) throws {
        let path = try makeDatabase("x.db", key: key)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try makeJournal(path, pages: pages)
        for (operation, code) in refusals(path, key: wrong) { #expect(code != nil, "\(operation)") }
        // The engine rolls back behind a link, too.
        let link = scratch.path("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for (operation, code) in refusals(link, key: wrong) { #expect(code != nil, "\(operation), by a link") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        guard pages == 0 else { return }
        for (operation, code) in refusals(path, key: key) { #expect(code == .wrongKind, "\(operation)") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(arguments: [false, true], [0, 8192] as [Int64])
    func `H-OPEN-12 a file of more pages than the engine can count is no empty database`(isEncrypted: Bool, more: Int64) throws {
        guard Engine.encrypts || !isEncrypted else { return }
        let path = try makeDatabase("x.db", key: isEncrypted ? key : nil)
        let size = Int64(4096) << 32 + more
        guard truncate(path, off_t(size)) == 0 else { return }  // beyond what this file system can hold
        for key in isEncrypted ? [key, wrong] : [nil] {
            for (operation, code) in refusals(path, key: key) { #expect(code != nil, "\(operation)") }
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && Int64(status.st_size) == size)
    }
}
