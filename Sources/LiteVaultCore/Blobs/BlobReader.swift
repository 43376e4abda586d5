internal import LiteVaultEngine

/// A blob or text in a row: what ``BlobReader`` and ``BlobWriter`` open.
public struct BlobLocation: Sendable, Hashable {
    /// The table, which has rowids.
    public let table: String
    /// The column.
    public let column: String
    /// The rowid of the row.
    public let rowid: Int64
    /// The name of an attached database, or "main".
    public let schema: String

    /// Creates a location. Nothing is opened.
    ///
    /// - Parameters:
    ///   - table: a table with rowids; no view or virtual table.
    ///   - column: the column that holds the blob.
    ///   - rowid: the rowid, which an `INTEGER PRIMARY KEY` names.
    ///   - schema: the name of an attached database; "main" by default.
    public init(_ table: String, _ column: String, rowid: Int64, schema: String = "main") {
        (self.table, self.column, self.rowid, self.schema) = (table, column, rowid, schema)
    }
}

/// Reads a blob or text in pieces, of which only one is in memory (`sqlite3_blob_open`).
///
/// ```swift
/// let reader = try BlobReader(db, BlobLocation("attachment", "content", rowid: 1))
/// try reader.forEachChunk { chunk in try output.write(contentsOf: chunk) }
/// for try await chunk in reader.chunks() { … }
/// ```
///
/// While it is open, so is a read transaction, and the content stays that of the beginning, whatever other connections write.
/// If the same connection changes or deletes the row, reading throws `VaultError` `blobExpired`. In a pool it is usable until the
/// closure returns that opened it.
public final class BlobReader: @unchecked Sendable {  // the state only under the connection's lock
    private let db: Connection
    private var blob: OpenBlob?
    private var size: Int

    /// Opens a blob.
    ///
    /// - Throws: `DatabaseError` when there is no such table, column or row, or the value is NULL or a number.
    public init(_ db: Connection, _ location: BlobLocation) throws {
        self.db = db
        let opened = try db.openBlob(
            location.schema, location.table, location.column, rowid: location.rowid, forWriting: false)
        blob = opened
        size = Int(sqlite3_blob_bytes(opened.handle))
    }

    deinit {
        if let blob { db.deferring(.blob(blob)) }
    }

    /// The size in bytes (`sqlite3_blob_bytes`).
    public var count: Int { db.reading { _ in size } ?? size }

    /// Reads some of the bytes (`sqlite3_blob_read`).
    ///
    /// - Parameters:
    ///   - offset: the first byte, from 0.
    ///   - count: the number of bytes.
    /// - Throws: `VaultError` `blobRange` when they are not all within the blob; `blobExpired` when the row was changed.
    public func read(at offset: Int, count: Int) throws -> [UInt8] {
        try db.withBlob(blob) { handle in
            try BlobRange.check(offset, count, of: size)
            var code = SQLITE_OK
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                code = sqlite3_blob_read(
                    handle, buffer.baseAddress, Int32(truncatingIfNeeded: count), Int32(truncatingIfNeeded: offset))
                initialized = code == SQLITE_OK ? count : 0
            }
            return (code, bytes)
        }
    }

    /// Calls a closure with all bytes, one chunk after the other.
    ///
    /// - Parameters:
    ///   - size: the bytes of a chunk, except for the last one, which may have fewer; 64 KiB by default.
    ///   - body: called with each chunk, in order.
    /// - Throws: as ``read(at:count:)``, and what the closure throws.
    public func forEachChunk(ofSize size: Int = 1 << 16, _ body: ([UInt8]) throws -> Void) throws {
        var chunks = chunks(ofSize: size).makeAsyncIterator()
        while let chunk = try chunks.next() { try body(chunk) }
    }

    /// All bytes in chunks, for `for try await`, or one by one by the iterator's ``BlobReader/Chunks/Iterator/next()``, which does not wait.
    ///
    /// - Parameter size: the bytes of a chunk, except for the last one, which may have fewer; 64 KiB by default.
    public func chunks(ofSize size: Int = 1 << 16) -> Chunks { Chunks(reader: self, size: max(size, 1)) }

    /// Opens the same column of another row (`sqlite3_blob_reopen`), which is faster than a new reader.
    ///
    /// - Throws: `DatabaseError` when there is no such row, or its value is NULL or a number: nothing can be read until
    ///   another row is opened.
    public func reopen(rowid: Int64) throws {
        try db.withBlob(blob) { handle in
            let code = sqlite3_blob_reopen(handle, rowid)
            size = code == SQLITE_OK ? Int(sqlite3_blob_bytes(handle)) : 0
            return (code, ())
        }
    }

    /// Closes the blob, and with it the read transaction (`sqlite3_blob_close`). Reading throws afterwards. Releasing the reader
    /// does the same.
    public func close() {
        _ = db.reading { _ in
            if let open = blob.take() { db.closeBlob(open) }
        }
    }
}

extension BlobReader {
    /// The bytes of a blob in chunks: see ``BlobReader/chunks(ofSize:)``.
    public struct Chunks: AsyncSequence, Sendable {
        let reader: BlobReader
        let size: Int

        /// Creates an iterator, which begins with the first byte.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, size: size) }

        /// The iterator of the chunks.
        public struct Iterator: AsyncIteratorProtocol {
            let reader: BlobReader
            let size: Int
            private var offset = 0

            init(reader: BlobReader, size: Int) { (self.reader, self.size) = (reader, size) }

            /// The next chunk; nil after the last one. It does not wait.
            ///
            /// - Throws: as ``BlobReader/read(at:count:)``.
            public mutating func next() throws -> [UInt8]? {
                let count = Swift.min(size, reader.count - offset)
                guard count > 0 else { return nil }
                let chunk = try reader.read(at: offset, count: count)
                offset += count
                return chunk
            }
        }
    }
}

/// The range of bytes of a blob that a call is about.
enum BlobRange {
    static func check(_ offset: Int, _ count: Int, of size: Int) throws {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw VaultError(
                .blobRange, "\(count) bytes at \(offset) are not within the blob, which has \(size) bytes",
                remedy: "A blob keeps its size: insert a ZeroBlob of the size that it is to have.")
        }
    }
}
