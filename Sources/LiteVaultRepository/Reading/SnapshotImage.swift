internal import LiteVaultCapture
package import LiteVaultCipher
internal import LiteVaultCore
package import LiteVaultSystem

/// Options for reading a database in a repository.
public struct ReadingOptions: Sendable {
    /// The most bytes of the database to keep in memory: what was read before, and what is fetched ahead. 64 MiB by default; at
    /// least 4 MiB are used. The engine's own page cache comes on top of that.
    public var memoryLimit: Int64 = 64 << 20

    /// Creates the default options.
    public init() {}
}

/// The bytes of a database as it was at some time, which are fetched from a repository where they are read.
///
/// It blocks the thread that reads. That must not be one of Swift's pool: the pool has as many threads as the machine has
/// processors, and the bytes arrive on them.
package final class SnapshotImage: DatabaseBytes, Sendable {
    /// The snapshot whose blocks are read.
    package let snapshot: Snapshot
    /// The time that segments of a followed log reach beyond it; nil if none is read.
    package let segmentsUntil: Date?
    package let byteCount: Int64
    private let store: any ObjectStore
    private let blocks: BlockCache
    private let pages: SegmentPages?
    private let counter = ReadCounter()
    private let failed = Locked<(any Error)?>(nil)

    /// Nothing is fetched yet.
    ///
    /// - Parameter pages: what segments have in place of the snapshot's pages, and the time of the last one; nil for the snapshot
    ///   itself.
    /// - Throws: `VaultError` `damaged` for a manifest without a valid root.
    init(
        _ snapshot: Snapshot, _ pages: (content: SegmentPages, until: Date)?, in repository: Repository,
        _ options: ReadingOptions
    ) throws {
        self.snapshot = snapshot
        self.pages = pages?.content
        segmentsUntil = pages?.until
        byteCount = pages?.content.byteCount ?? snapshot.manifest.size
        store = repository.store
        let manifest = snapshot.manifest
        let nodes = MapNodes(
            root: try manifest.rootEntry(snapshot.object), blocks: manifest.blocks, store: store, counter: counter)
        blocks = BlockCache(
            nodes, count: manifest.blocks, store: store, counter: counter, memoryLimit: options.memoryLimit)
    }

    /// What was fetched so far.
    package var statistics: ReadingStatistics { counter.statistics }

    /// What the database is called in errors.
    package var name: String { "\(store.location): \(snapshot.database), snapshot \(snapshot.id)" }

    /// Classifies the database by its bytes, on the calling thread, which must not be one of Swift's pool.
    ///
    /// - Throws: `VaultError` `damaged` and others, if blocks cannot be read.
    package func kind() throws -> FileKind {
        try FileKind.classify(size: byteCount) { offset, count in
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                guard let read = read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) else {
                    throw cause(of: VaultError(.io, "Reading failed", path: name))
                }
                done = read
            }
        }
    }

    /// Ends what is under way, and fails further reading until ``resume()``.
    func cancel() { blocks.cancel() }

    /// Allows reading again, and forgets what failed before.
    func resume() {
        failed.withLock { $0 = nil }
        blocks.resume()
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        guard offset >= 0 else { return nil }
        let count = Int(max(0, min(Int64(buffer.count), byteCount - min(offset, byteCount))))
        guard count > 0 else { return 0 }
        do {
            var done = 0
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<count])
                done += try readPage(into: rest, at: offset + Int64(done))
            }
            return count
        } catch {
            failed.withLock { $0 = error }
            return nil
        }
    }

    /// Reads up to the end of a page of the segments.
    private func readPage(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard let pages else { return try readBlock(into: buffer, at: offset) }
        let (number, within) = offset.quotientAndRemainder(dividingBy: Int64(pages.pageSize))
        let count = min(buffer.count, pages.pageSize - Int(within))
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        if let page = UInt32(exactly: number + 1), try pages.read(page, at: Int(within), into: part) { return count }
        return try readBlock(into: part, at: offset)
    }

    /// Reads up to the end of a block of the snapshot.
    private func readBlock(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let size = snapshot.manifest.size
        guard offset < size else {
            // Pages between the snapshot's last one and those that segments have appended.
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            return buffer.count
        }
        let block = Int(offset / Int64(blockSize))
        let within = Int(offset % Int64(blockSize))
        let count = Int(min(Int64(min(buffer.count, blockSize - within)), size - offset))
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try blocks.copy(block, from: within, into: part)
        if offset == 0, count >= 16 { _ = try snapshot.content(of: UnsafeRawBufferPointer(part), from: 0) }
        return count
    }

    /// Whether reading has failed since the last ``resume()``.
    var hasFailed: Bool { failed.value != nil }

    /// The error to throw for one of the engine, which knows only that reading has failed.
    func cause(of error: any Error) -> any Error { failed.value ?? error }

    /// As ``cause(of:)``; it also says if an object is missing because the snapshot was removed meanwhile.
    package func explanation(of error: any Error) async -> any Error {
        let cause = cause(of: error)
        guard let damage = cause as? VaultError, damage.isDamage || damage.code == .missing else { return cause }
        guard let present = try? await store.list(snapshot.object) else { return cause }
        guard !present.contains(where: { $0.name == snapshot.object }) else { return cause }
        return VaultError(
            .missing, "the snapshot was removed from the repository while it was read", path: name,
            advice: .text("Choose another snapshot, and open that one. Pruning deletes what only this one needs."),
            cause: cause)
    }
}
