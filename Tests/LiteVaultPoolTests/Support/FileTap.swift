import Foundation
import LiteVault
import LiteVaultEngine

/// Stands between the engine and the file of one connection, and runs a closure at two points of a checkpoint: before it
/// takes its lock, and after it has read how far the log goes, before it reads how much was copied already. A third one is the
/// connection's close, while it still has its locks.
final class FileTap: @unchecked Sendable {  // used by one thread at a time; the lock guards the table
    private static let lock = NSLock()
    private nonisolated(unsafe) static var taps: [UnsafeMutableRawPointer: FileTap] = [:]

    private let original: sqlite3_io_methods
    private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    var beforeLock: (() -> Void)?
    /// Called only where somebody else has written since the connection looked last.
    var afterHeader: (() -> Void)?
    var beforeClose: (() -> Void)?

    /// Lasts until the process ends: the engine may use the file as long as the connection is there.
    static func on(_ connection: Connection) throws -> FileTap {
        try connection.withHandle { db in
            var found: UnsafeMutablePointer<sqlite3_file>?
            guard sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &found) == SQLITE_OK, let file = found,
                let methods = file.pointee.pMethods
            else { throw Refused() }
            let tap = FileTap(methods.pointee)
            lock.withLock { taps[UnsafeMutableRawPointer(file)] = tap }
            file.pointee.pMethods = UnsafePointer(tap.methods)
            return tap
        }
    }

    private init(_ original: sqlite3_io_methods) {
        self.original = original
        var copy = original
        copy.xUnfetch = { file, offset, page in
            guard let tap = FileTap.of(file) else { return SQLITE_ERROR }
            tap.afterHeader?()
            return tap.original.xUnfetch(file, offset, page)
        }
        copy.xShmLock = { file, offset, count, flags in
            guard let tap = FileTap.of(file) else { return SQLITE_ERROR }
            // The checkpoint's lock is the second one.
            if offset == 1, flags == SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE { tap.beforeLock?() }
            return tap.original.xShmLock(file, offset, count, flags)
        }
        copy.xShmUnmap = { file, deletes in
            guard let tap = FileTap.of(file) else { return SQLITE_ERROR }
            tap.beforeClose?()
            return tap.original.xShmUnmap(file, deletes)
        }
        methods.initialize(to: copy)
    }

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> FileTap? {
        file.flatMap { file in lock.withLock { taps[UnsafeMutableRawPointer(file)] } }
    }
}

/// A value that several threads use.
final class Locked<Value>: @unchecked Sendable {  // `value` only under the lock
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<T>(_ body: (inout Value) -> T) -> T { lock.withLock { body(&value) } }
}
