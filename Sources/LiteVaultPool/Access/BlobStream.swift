public import LiteVaultCore

extension DatabaseAccess {
    /// The bytes of a blob in chunks, from a pool or queue: one chunk is in memory at a time, and no access waits for the consumer.
    ///
    /// ```swift
    /// for try await chunk in pool.chunks(of: BlobLocation("attachment", "content", rowid: 1)) { try output.write(contentsOf: chunk) }
    /// ```
    ///
    /// A pool reads on a connection of its own, so that the content is that of one moment while others write; until the iteration ends,
    /// the log is not emptied and `rekey` throws `busy`. A queue has one connection: each chunk is a read of its own, and if anything was
    /// written to the database since the one before, the iteration throws `VaultError` `blobExpired`.
    public struct BlobStream: AsyncSequence, Sendable {
        let access: DatabaseAccess
        let location: BlobLocation
        let size: Int

        /// Creates an iterator, which opens the blob with the first call of `next`.
        public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

        /// The iterator of the chunks.
        public struct Iterator: AsyncIteratorProtocol {
            private enum Source {
                /// A reader on a connection of its own, which a suspension closes.
                case own(BlobReader, suspensions: Int)
                /// The database at the last chunk.
                case shared(DatabaseStamp)
            }

            private let stream: BlobStream
            private var source: Source?
            private var offset = 0
            private var isOver = false

            init(stream: BlobStream) { self.stream = stream }

            /// The next chunk; nil after the last one.
            ///
            /// - Throws: `DatabaseError` when there is no such row, or its value is NULL or a number; `VaultError` `blobExpired`
            ///   when a queue's database was changed; `CancellationError`. Nothing follows an error.
            public mutating func next() async throws -> [UInt8]? {
                guard !isOver else { return nil }
                do {
                    let (chunk, source) = try await read()
                    offset += chunk.count
                    isOver = chunk.isEmpty
                    self.source = isOver ? nil : source
                    return isOver ? nil : chunk
                } catch {
                    (isOver, source) = (true, nil)
                    throw error
                }
            }

            private func read() async throws -> ([UInt8], Source) {
                let (access, location, size, offset) = (stream.access, stream.location, stream.size, offset)
                switch source {
                case .own(let reader, let suspensions):
                    let chunk = try await access.chunk(of: reader, at: offset, size: size, suspensions: suspensions)
                    return (chunk, .own(reader, suspensions: suspensions))
                case .shared(let stamp):
                    let (chunk, now) = try await access.chunk(of: location, at: offset, size: size, since: stamp)
                    return (chunk, .shared(now))
                case nil:
                    let suspensions = access.coordinator.suspension.round
                    let reader = try await access.onOwnReader(suspensions: suspensions) {
                        try access.coordinator.openOwnReader().map { try BlobReader($0, location) }
                    }
                    if let reader {
                        let chunk = try await access.chunk(of: reader, at: 0, size: size, suspensions: suspensions)
                        return (chunk, .own(reader, suspensions: suspensions))
                    }
                    let (chunk, now) = try await access.chunk(of: location, at: 0, size: size, since: nil)
                    return (chunk, .shared(now))
                }
            }
        }
    }
}

extension DatabaseAccess {
    /// Returns the bytes of a blob or text in chunks. Nothing is read before the iteration.
    ///
    /// - Parameters:
    ///   - location: the table, column and row.
    ///   - size: the bytes of a chunk, except for the last one, which may have fewer; 64 KiB by default.
    public func chunks(of location: BlobLocation, size: Int = 1 << 16) -> BlobStream {
        BlobStream(access: self, location: location, size: max(size, 1))
    }

    /// - Throws: `VaultError` `blobExpired` if the database was suspended since.
    fileprivate func onOwnReader<T: Sendable>(
        suspensions: Int, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await coordinator.onThread { [coordinator] _ in
            try coordinator.suspension.running(whenIdle: { _ = coordinator.closeIfSuspended() }) { _ in
                guard coordinator.suspension.round == suspensions else { throw VaultError.blobExpired(nil) }
                return try body()
            }
        }
    }

    fileprivate func chunk(
        of reader: BlobReader, at offset: Int, size: Int, suspensions: Int
    ) async throws -> [UInt8] {
        try await onOwnReader(suspensions: suspensions) {
            try reader.read(at: offset, count: min(size, max(reader.count - offset, 0)))
        }
    }

    fileprivate func chunk(
        of location: BlobLocation, at offset: Int, size: Int, since stamp: DatabaseStamp?
    ) async throws -> ([UInt8], DatabaseStamp) {
        try await read { db in
            let now = try DatabaseStamp(db, ofWriter: self.coordinator.connections.openedWriters)
            guard stamp == nil || stamp == now else { throw VaultError.blobExpired(nil) }
            let reader = try BlobReader(db, location)
            defer { reader.close() }
            return (try reader.read(at: offset, count: min(size, max(reader.count - offset, 0))), now)
        }
    }
}

/// The state of a queue's database: equal stamps of its connection mean that no row was changed in between.
private struct DatabaseStamp: Equatable, Sendable {
    private let writer: Int
    private let foreignChanges: Int64
    private let ownChanges: Int
    private let blobWrites: UInt64
    private let schema: Int64

    init(_ db: Connection, ofWriter writer: Int) throws {
        self.writer = writer
        foreignChanges = try db.integer("data_version")
        ownChanges = db.totalChangedRowCount
        blobWrites = db.blobWrites
        // A dropped table's rows are not counted.
        schema = try db.integer("schema_version")
    }
}
