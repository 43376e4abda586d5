import Foundation
import LiteVault
import LiteVaultSystem

/// What changes the database as a whole, while it is followed or not.
extension SimulatedHost {
    /// Another page size, which a database has only outside of WAL mode. Where a follower holds the log, the mode stays.
    func changePageSize(to size: Int) throws {
        // An encrypted one has that of its settings: another is an error.
        guard keys.isEmpty else { return }
        do { try connection.execute("PRAGMA journal_mode = DELETE") } catch let error as DatabaseError
            where error.resultCode.primary == .busy
        { return log("the page size stays: the log is in use") }
        try connection.execute("PRAGMA page_size = \(size); VACUUM; PRAGMA journal_mode = WAL")
        synced = nil
        log("page size \(size)")
    }

    /// The application puts a copy of the database in its place: another file, with a log of its own.
    func replace() throws {
        let copy = path + ".new"
        try? FileManager.default.removeItem(atPath: copy)
        try connection.execute("VACUUM INTO '\(copy)'")
        try reopen {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            guard rename(copy, path) == 0 else { throw Wrong(what: "the database was not replaced") }
        }
        synced = nil
        log("replaced by a copy")
    }

    /// Another key, by the operation that replaces the file. Nothing else has the file open.
    func changeKey() throws {
        guard let old = keys.last else { return }
        let new = Self.key(keys.count)
        var isBusy = false
        try reopen {
            do {
                try DatabaseFile(path, lockTimeout: .zero).rekey(from: old, to: new)
                keys.append(new)
            } catch let error as VaultError where error.code == .busy { isBusy = true }
        }
        if !isBusy { synced = nil }
        log(isBusy ? "the key stays: the database is in use" : "another key")
    }

    /// The key of this number.
    static func key(_ number: Int) -> DatabaseKey {
        // 32 bytes are a raw key.
        // swift-format-ignore: NeverUseForceTry
        try! .raw([UInt8](repeating: UInt8(truncatingIfNeeded: number + 1), count: 32))
    }
}
