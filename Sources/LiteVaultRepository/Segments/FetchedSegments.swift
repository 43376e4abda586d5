internal import Crypto
package import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultSystem

/// The segments that a restore or a standby may need, read from the store several at a time with one request each, and kept in a local
/// directory until they are applied. The directory is removed with this object.
///
/// Memory stays flat: what is kept of a segment is its record. Of a segment that is very large, or does not fit into the
/// directory any more, only the start is read at first.
package final class FetchedSegments: Sendable {
    /// Larger segments take a second request for their frames.
    private static let wholeLimit: Int64 = 8 << 20
    /// Bytes that may be kept at the same time.
    private static let limit: Int64 = 1 << 30

    private let repository: Repository
    private let database: String
    private let parent: String
    /// Created with the first file.
    private let work = Locked<WorkDirectory?>(nil)
    /// Segments, or why they cannot be used.
    private let found: Locked<[String: Result<FetchedSegment, VaultError>]> = Locked([:])

    private let room = Locked(FetchedSegments.limit)

    /// Creates an empty set. ``fetch(_:)`` reads segments.
    init(of database: String, in repository: Repository) throws {
        self.repository = repository
        parent = try repository.workDirectory()
        self.database = database
    }

    private func directory() throws -> String {
        try work.withLock { work in
            if let work { return work.path }
            let created = try withErrorContext(path: parent) { try WorkDirectory(for: "segments", in: parent) }
            work = created
            return created.path
        }
    }

    /// Reads segments whose names are from a listing, and that were not read before.
    ///
    /// - Returns: the joined segments that are damaged, or gone since they were listed: what was joined may exist. Other damage is
    ///   kept for ``segment(_:)``.
    /// - Throws: `VaultError` if the store does not respond.
    func fetch(_ names: [SegmentName]) async throws -> Set<String> {
        let known = found.withLock { Set($0.keys) }
        let names = names.filter { !known.contains($0.object) }
        guard !names.isEmpty else { return [] }
        let chosen = names.map { name in
            let size = name.size ?? .max
            let isWhole = room.withLock { room in
                guard size <= (name.isJoined ? Self.limit : Self.wholeLimit), size <= room else { return false }
                room -= size
                return true
            }
            return (name, isWhole)
        }
        let results = try await concurrently(chosen) { name, isWhole in
            do {
                let segment = try await self.read(name, whole: isWhole)
                // Now, while it can still be replaced by what was joined.
                if name.isJoined {
                    if isWhole {
                        _ = try await self.frames(of: segment)
                    } else {
                        try await self.repository.compare(segment)
                    }
                }
                return (name.object, Result<FetchedSegment, VaultError>.success(segment))
            } catch let error as VaultError where error.isDamage {
                return (name.object, .failure(error))
            }
        }
        found.withLock { found in
            for (name, result) in results { found[name] = result }
        }
        let joined = Set(names.filter(\.isJoined).map(\.object))
        return Set(
            results.compactMap { name, result in
                if case .failure = result, joined.contains(name) { name } else { nil }
            })
    }

    private static func file(_ name: SegmentName) -> String {
        name.object.split(separator: "/").joined(separator: ".")
    }

    /// A segment.
    ///
    /// - Throws: `VaultError` `damaged` or `missing` if it cannot be used.
    func segment(_ name: SegmentName) async throws -> FetchedSegment {
        if let known = found.withLock({ $0[name.object] }) { return try known.get() }
        return try await read(name, whole: false)
    }

    private func read(_ name: SegmentName, whole: Bool) async throws -> FetchedSegment {
        guard whole, let size = name.size else { return try await repository.segment(name, database) }
        let path = try directory() + "/" + Self.file(name)
        return try await readingAgain(forgetting: { unlink(path) }) {
            // Not more than the listing says: the directory is limited.
            try await fetch(name, into: path, upTo: repository.config.isSealed ? Self.limit : size)
            let file = try LocalFile(reading: path)
            let segment = try repository.segment(name, database, in: file)
            // What a sealed segment takes here is known only now.
            let excess = try file.size() - size
            room.withLock { $0 -= max(0, excess) }
            return segment
        }
    }

    private func fetch(_ name: SegmentName, into path: String, upTo limit: Int64) async throws {
        do {
            try await repository.store.fetch(name.object, into: path, upTo: min(limit, ReadLimits.segment))
        } catch let error as VaultError where error.code == .missing {
            throw VaultError(.missing, "is missing", path: name.object)
        }
    }

    /// The file of a segment whose frames match their hash.
    ///
    /// - Throws: `VaultError` `damaged` or `missing`.
    func frames(of element: FetchedSegment) async throws -> String {
        let path = try element.path ?? directory() + "/" + Self.file(element.name)
        var isFetched = element.path != nil
        return try await readingAgain(forgetting: { unlink(path) }) {
            if !isFetched { try await fetch(element.name, into: path, upTo: ReadLimits.segment) }
            isFetched = false
            try repository.compare(element, in: LocalFile(reading: path))
            return path
        }
    }

    /// Adds the pages of a segment, whose frames match their hash, to those of a commit.
    ///
    /// - Throws: `VaultError` `damaged` or `missing` with the object's name as path; what the store throws.
    package func add(
        _ segment: FetchedSegment, to pages: inout NewestPages, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let path = try await frames(of: segment)
        try withErrorContext(path: segment.name.object) { try pages.add(segment.opened(at: path)) }
    }
}

/// A segment whose record was read from the store.
package struct FetchedSegment: Sendable {
    let name: SegmentName
    let record: SegmentRecord
    /// The hash of its document.
    let hash: Hash256
    /// The offset of its frames.
    let offset: Int64
    /// The local copy of all of it; nil if only its start was read.
    let path: String?

    /// The hash that the next segment has as its predecessor.
    var link: String { record.joined?.hash ?? hash.hexadecimal }
    /// What is remembered of it.
    var mark: SegmentMark { SegmentMark(record, hash) }

    /// Its number, or that of the last one that it has.
    package var sequence: Int { record.sequence }
    /// Bytes in a page of the database.
    package var pageSize: Int { record.pageSize }
    /// The label of the state that it leads to.
    package var date: Date { name.date }
    /// Where a copy is that it was applied to.
    package var position: SegmentPosition { SegmentPosition(record, link: link) }

    /// Opens a file that has all of it.
    ///
    /// - Throws: `VaultError` `damaged` if its frames are not a complete segment.
    func opened(at path: String) throws -> any StoredSegment {
        if record.joined != nil { return try JoinedSegmentFile(path, from: offset) }
        return try SegmentFile(path, from: offset)
    }
}

extension Repository {
    /// Reads the record of a segment. One request, if its name is from a listing.
    func segment(_ name: SegmentName, _ database: String) async throws -> FetchedSegment {
        func missing() -> VaultError { VaultError(.missing, "is missing", path: name.object) }
        do {
            guard let size = try await contentSize(name) else { throw missing() }
            return try await readingAgain {
                let bytes = try await store.get(name.object, range: 0..<min(size, RepositoryFormat.segmentHead))
                return try segment(name, database, start: bytes, size: size)
            }
        } catch let error as VaultError where error.code == .missing && error.path != name.object {
            throw missing()
        }
    }

    /// The size of a segment; nil if it does not exist. No request in a repository that is not sealed, if its name is from a listing.
    private func contentSize(_ name: SegmentName) async throws -> Int64? {
        if !config.isSealed, let size = name.size { return size }
        guard let present = try await store.attributes(name.object) else { return nil }
        return try await store.contentSize(present)
    }

    /// Reads the record in the first bytes of a segment of `size` bytes.
    private func segment(
        _ name: SegmentName, _ database: String, start bytes: [UInt8], size: Int64, path: String? = nil
    ) throws -> FetchedSegment {
        let document = try SealedDocument(bytes, name: name.object)
        let record = try document.value(SegmentRecord.self, key: key, name: name.object)
        let length = Int64(bytes.count - document.payload.count)
        guard record.type == (name.isJoined ? "joined" : "segment"), record.repository == config.id,
            record.database == database, (record.joined != nil) == name.isJoined, record.name.object == name.object
        else { throw VaultError.swapped(name.object) }
        guard size == length &+ record.payloadSize, record.payloadSize >= 0 else {
            throw VaultError(.damaged, "does not have the length that it states", path: name.object)
        }
        return FetchedSegment(name: name, record: record, hash: document.hash, offset: length, path: path)
    }

    /// Reads the record of a segment that is a local file.
    func segment(_ name: SegmentName, _ database: String, in file: LocalFile) throws -> FetchedSegment {
        let size = try file.size()
        let start = try file.read(at: 0, count: Int(min(size, RepositoryFormat.segmentHead)))
        return try segment(name, database, start: start, size: size, path: file.path)
    }

    /// Compares the frames of a segment that is a local file with their hash.
    ///
    /// - Throws: `VaultError` `damaged` with the object's name as path.
    func compare(_ segment: FetchedSegment, in file: LocalFile) throws {
        var digest = SHA256()
        try file.forEachPiece { place, bytes in
            let skipped = Int(max(0, min(Int64(bytes.count), segment.offset - place)))
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
        }
        try segment.requireHash(digest.finalize().hexadecimal)
    }

    /// As ``compare(_:in:)``, in the local copy of the segment or, without one, in the store.
    func compare(_ segment: FetchedSegment) async throws {
        if let path = segment.path { return try compare(segment, in: LocalFile(reading: path)) }
        let frames = segment.offset..<(segment.offset + segment.record.payloadSize)
        try await readingAgain { try segment.requireHash(await store.hash(segment.name.object, frames)) }
    }
}

extension FetchedSegment {
    fileprivate func requireHash(_ hash: String) throws {
        guard hash == record.payloadHash else {
            throw VaultError(.damaged, "its frames do not match their hash", path: name.object)
        }
    }
}

extension LocalFile {
    /// The SHA-256 of its content.
    func hash() throws -> String {
        var digest = SHA256()
        try forEachPiece { digest.update(bufferPointer: $1) }
        return digest.finalize().hexadecimal
    }
}

extension ObjectStore {
    /// The SHA-256 of bytes of an object, of which 8 MiB are in memory at a time.
    func hash(_ name: String, _ range: Range<Int64>) async throws -> String {
        var digest = SHA256()
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8 << 20) {
            digest.update(data: try await get(name, range: offset..<min(range.upperBound, offset + 8 << 20)))
        }
        return digest.finalize().hexadecimal
    }
}
