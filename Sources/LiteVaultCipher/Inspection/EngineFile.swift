internal import LiteVaultEngine

/// Reads the bytes of a database file through a descriptor that SQLite owns.
///
/// A process that opens a database file a second time and closes that descriptor loses the POSIX locks that SQLite
/// holds on it, on every connection of the process: fcntl(2) locks belong to the process and go with the first close.
/// SQLite knows of this and defers its own closes. So the bytes are read through SQLite's file object and never through
/// a descriptor of ours. (Its `-wal` and `-journal` carry no locks and may be opened freely.)
package final class EngineFile {
    private let handle: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let ownsHandle: Bool
    package let path: String

    /// The file behind a schema of an open connection. The connection has to outlive this object.
    package init(connection: OpaquePointer, schema: String = "main", path: String) throws {
        handle = connection
        self.path = path
        ownsHandle = false
        file = try Self.filePointer(connection, schema: schema, path: path)
    }

    /// Opens a file read-only. No lock is taken, nothing is executed, so nothing is created or recovered.
    package init(path: String) throws {
        try Self.requireRegularFile(path)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            path.isURI ? "./" + path : path, &opened,
            SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw VaultError(.io, "The file cannot be opened for reading (SQLite code \(code))", path: path)
        }
        do {
            file = try Self.filePointer(opened, schema: "main", path: path)
        } catch {
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        self.path = path
        ownsHandle = true
    }

    deinit { if ownsHandle { sqlite3_close(handle) } }

    /// The file's size in bytes.
    package func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        guard let method = file.pointee.pMethods?.pointee.xFileSize else { throw notOpen() }
        try check(method(file, &size))
        return size
    }

    /// Reads `count` bytes at `offset`, fewer at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        let available = max(0, min(Int64(count), try size() - offset))
        guard available > 0 else { return [] }
        guard let method = file.pointee.pMethods?.pointee.xRead else { throw notOpen() }
        return try [UInt8](unsafeUninitializedCapacity: Int(available)) { buffer, initialized in
            let code = method(file, buffer.baseAddress, Int32(available), offset)
            // SQLITE_IOERR_SHORT_READ, from a file that shrinks meanwhile: SQLite has filled the rest with zeros.
            if code != SQLITE_IOERR | (2 << 8) { try check(code) }
            initialized = Int(available)
        }
    }

    func write(_ bytes: [UInt8], count: Int32, at offset: Int64) throws {
        guard let method = file.pointee.pMethods?.pointee.xWrite else { throw notOpen() }
        try bytes.withUnsafeBytes { try check(method(file, $0.baseAddress, count, offset)) }
    }

    func sync() throws {
        guard let method = file.pointee.pMethods?.pointee.xSync else { throw notOpen() }
        try check(method(file, SQLITE_SYNC_FULL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw VaultError(.io, "Reading failed (SQLite code \(code))", path: path) }
    }

    private func notOpen() -> VaultError { VaultError(.io, "The file is not open", path: path) }

    private static func filePointer(
        _ handle: OpaquePointer, schema: String, path: String
    ) throws -> UnsafeMutablePointer<sqlite3_file> {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &pointer)
        guard code == SQLITE_OK, let pointer, pointer.pointee.pMethods != nil else {
            throw VaultError(.io, "The engine does not give access to the file", path: path)
        }
        return pointer
    }
}
