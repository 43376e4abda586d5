internal import LiteVaultEngine

/// Writes into a blob in pieces, of which only one is in memory (`sqlite3_blob_open`). Its size cannot change.
///
/// ```swift
/// try db.transaction {
///     let row = try db.run("INSERT INTO attachment (content) VALUES (?)", with: ZeroBlob(size)).insertedRowID
///     let writer = try BlobWriter(db, BlobLocation("attachment", "content", rowid: row))
///     while let chunk = try input.read(upToCount: 1 << 16) { try writer.append(chunk) }
///     try writer.close()
/// }
/// ```
///
/// Close it before its transaction ends: while it is open, `COMMIT` throws `SQLITE_BUSY`. Outside of a transaction, everything written is committed when the writer is closed, and the write lock is held until then. No
/// triggers, update hooks or constraints run; observations of a pool notice the writes. In a pool it is usable until the closure
/// returns that opened it.
public final class BlobWriter: @unchecked Sendable {  // the state only under the connection's lock
    private let db: Connection
    private let location: BlobLocation
    private var rowid: Int64
    private var blob: OpenBlob?
    private var size: Int
    private var end = 0

    /// Opens a blob for writing.
    ///
    /// - Throws: `DatabaseError` when there is no such table, column or row, when the value is NULL or a number, when the
    ///   column is part of an index or a foreign key, and when the database is read-only or locked.
    public init(_ db: Connection, _ location: BlobLocation) throws {
        (self.db, self.location, rowid) = (db, location, location.rowid)
        let opened = try db.openBlob(
            location.schema, location.table, location.column, rowid: location.rowid, forWriting: true)
        blob = opened
        size = Int(sqlite3_blob_bytes(opened.handle))
    }

    deinit {
        if let blob { db.deferring(.blob(blob)) }
    }

    /// The size in bytes (`sqlite3_blob_bytes`).
    public var count: Int { db.reading { _ in size } ?? size }

    /// The offset at which ``append(_:)`` writes next.
    public var position: Int { db.reading { _ in end } ?? end }

    /// Writes bytes after those that were written last.
    ///
    /// - Parameter bytes: bytes, such as `Data` or `[UInt8]`.
    /// - Throws: `VaultError` `blobRange` when the blob ends before them: none of them is written then; `blobExpired` when the
    ///   row was changed, deleted or rolled back since it was opened; `DatabaseError`, such as a full disk.
    public func append(_ bytes: some Sequence<UInt8>) throws { try db.withLock { try write(bytes, at: end) } }

    /// Writes bytes at an offset (`sqlite3_blob_write`); ``append(_:)`` continues after them.
    ///
    /// - Parameters:
    ///   - bytes: bytes, such as `Data` or `[UInt8]`.
    ///   - offset: where the first one is to be, from 0.
    /// - Throws: as ``append(_:)``.
    public func write(_ bytes: some Sequence<UInt8>, at offset: Int) throws {
        let written: Void? = try bytes.withContiguousStorageIfAvailable { try write(buffer: $0, at: offset) }
        guard written == nil else { return }
        try Array(bytes).withUnsafeBufferPointer { try write(buffer: $0, at: offset) }
    }

    private func write(buffer: UnsafeBufferPointer<UInt8>, at offset: Int) throws {
        try db.withBlob(blob) { handle in
            try BlobRange.check(offset, buffer.count, of: size)
            guard let start = buffer.baseAddress, !buffer.isEmpty else { return (SQLITE_OK, ()) }
            let code = sqlite3_blob_write(
                handle, start, Int32(truncatingIfNeeded: buffer.count), Int32(truncatingIfNeeded: offset))
            if code == SQLITE_OK {
                end = offset + buffer.count
                db.noteBlobWrite(schema: location.schema, table: location.table, rowid: rowid)
            }
            return (code, ())
        }
    }

    /// Opens the same column of another row (`sqlite3_blob_reopen`), at its first byte.
    ///
    /// - Throws: `DatabaseError` when there is no such row, or its value is NULL or a number: nothing can be written until
    ///   another row is opened.
    public func reopen(rowid: Int64) throws {
        try db.withBlob(blob) { handle in
            let code = sqlite3_blob_reopen(handle, rowid)
            size = code == SQLITE_OK ? Int(sqlite3_blob_bytes(handle)) : 0
            (self.rowid, end) = (rowid, 0)
            return (code, ())
        }
    }

    /// Closes the blob (`sqlite3_blob_close`), and commits outside of a transaction. Closing it again does nothing; releasing the
    /// writer does the same without reporting an error.
    ///
    /// - Throws: `DatabaseError` when the commit fails, or a write has failed before.
    public func close() throws {
        try db.withLock {
            guard let open = blob.take() else { return }
            try db.check(db.closeBlob(open))
        }
    }
}

/// A blob of zeros to bind (`sqlite3_bind_zeroblob64`): it reserves the bytes that a ``BlobWriter`` fills, and takes no memory.
public struct ZeroBlob: StatementArgument, Hashable {
    /// The number of bytes.
    public let count: Int

    /// Creates a blob of zeros.
    ///
    /// - Parameter count: the number of bytes. Binding more than the engine's limit, 1,000,000,000 by default, throws
    ///   `SQLITE_TOOBIG`, and so does a negative number.
    public init(_ count: Int) { self.count = count }

    /// Binds the zeros to the next parameter. Returns the engine's result code.
    public func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 {
        index &+= 1
        return sqlite3_bind_zeroblob64(statement, index, UInt64(exactly: count) ?? .max)
    }
}
