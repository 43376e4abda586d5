internal import CEngineSupport
package import LiteVaultCore
internal import LiteVaultSystem

/// Bytes that the engine reads as a database file, wherever they come from.
package protocol DatabaseBytes: AnyObject {
    /// How many there are.
    var byteCount: Int64 { get }

    /// Reads bytes, on the thread that uses the connection.
    ///
    /// - Parameter buffer: takes the bytes.
    /// - Returns: how many were read, fewer than the buffer takes only at the end; nil if reading failed.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?
}

/// A connection to a database whose bytes an object gives. The engine gets a file system in which there is this one database, and in
/// which nothing can be written: neither a log nor a journal nor a temporary file.
package final class SourcedDatabase: @unchecked Sendable {  // set once; the engine locks what it refers to
    /// What the engine's callback gets.
    private final class Context {
        let bytes: any DatabaseBytes

        init(_ bytes: any DatabaseBytes) { self.bytes = bytes }
    }

    /// The connection. It cannot write, attach other databases or use temporary files.
    package let connection: Connection
    private let files: OpaquePointer
    private let context: Context

    /// Opens the database, and reads its schema. It is read-only unless the engine is to take it for writable.
    ///
    /// - Parameters:
    ///   - path: the database's name in errors.
    ///   - name: the name that the engine has for it. There need not be such a file.
    ///   - unlocker: nil for a plaintext database.
    init(
        _ bytes: any DatabaseBytes, path: String, name: String, _ unlocker: KeyUnlocker?, writable: Bool = false
    ) throws {
        context = Context(bytes)
        let source = lv_byte_source(context: Unmanaged.passUnretained(context).toOpaque(), size: bytes.byteCount) {
            context, buffer, count, offset in
            guard let context else { return -1 }
            let bytes = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().bytes
            return bytes.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset)
                .map(Int32.init) ?? -1
        }
        let system = "litevault-" + UUID().uuidString
        guard let files = lv_read_only_files(system, source) else {
            throw VaultError(.internalFailure, "Memory for reading the file cannot be allocated", path: path)
        }
        var opened: Connection?
        do {
            connection = try withErrorContext(path: path) {
                let mode = Connection.Location.QueryParameter.mode(writable ? .readWrite : .readOnly)
                let location = Connection.Location.uri(name.engineFileName, parameters: [mode, .vfs(system)])
                let made =
                    try unlocker.map { try Connection(location, unlocker: $0.unlockingImage(), readonly: !writable) }
                    ?? Connection(location, readonly: !writable)
                opened = made
                try made.prepareForOperation(size: bytes.byteCount)
                return made
            }
        } catch {
            // A connection that could not be closed still uses the file system.
            if (try? opened?.close()) != nil || opened == nil { lv_read_only_files_end(files) }
            if let error = error as? VaultError, error.path == name { throw error.at(path) }
            throw error
        }
        self.files = files
    }

    /// Opens a database that is not in a file, and reads its schema.
    ///
    /// - Parameters:
    ///   - bytes: kept until the connection is closed.
    ///   - path: the database's name in errors.
    /// - Throws: ``VaultError``, as for opening a file.
    package convenience init(
        _ bytes: any DatabaseBytes, path: String, key: DatabaseKey?, settings: CipherSettings = .init()
    ) throws {
        let unlocker = try key.map { try KeyUnlocker(key: $0, settings: settings, path: path) }
        let kind = try FileKind.classify(size: bytes.byteCount) { offset, count in
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                guard let read = bytes.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) else {
                    throw VaultError(.io, "Reading failed", path: path)
                }
                done = read
            }
        }
        try DatabaseFile.requireSuitable(kind, hasKey: key != nil, path: path)
        // The engine wants the name of a file.
        try self.init(bytes, path: path, name: "/litevault-source", unlocker)
    }

    deinit {
        // One that cannot be closed, because somebody has kept a statement, keeps its file system.
        if (try? connection.close()) != nil { lv_read_only_files_end(files) }
    }
}
