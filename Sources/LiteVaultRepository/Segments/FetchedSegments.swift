internal import LiteVaultSystem
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultFoundation

/// The segments that a restore may need, read from the store several at a time with one request each, and kept in a local
/// directory until they are applied. The directory is removed with this object.
///
/// Memory stays flat: what is kept of a segment is its record. Of a segment that is very large, or does not fit into the
/// directory any more, only the start is read at first.
final class FetchedSegments: Sendable {
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
    private let found: Locked<[String: Result<SegmentChain.Element, VaultError>]> = Locked([:])

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
                if name.isJoined { try await self.compare(segment) }
                return (name.object, Result<SegmentChain.Element, VaultError>.success(segment))
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

    /// Compares the pages of a joined segment with their hash: while it can still be replaced by what was joined.
    private func compare(_ segment: SegmentChain.Element) async throws {
        if let path = segment.path {
            try repository.compare(segment.record, segment.offset, segment.name, in: LocalFile(reading: path))
        } else {
            try await repository.compare(segment.record, segment.offset, segment.name)
        }
    }

    private static func file(_ name: SegmentName) -> String {
        name.object.split(separator: "/").joined(separator: ".")
    }

    /// A segment.
    ///
    /// - Throws: `VaultError` `damaged` or `missing` if it cannot be used.
    func segment(_ name: SegmentName) async throws -> SegmentChain.Element {
        if let known = found.withLock({ $0[name.object] }) { return try known.get() }
        return try await read(name, whole: false)
    }

    private func read(_ name: SegmentName, whole: Bool) async throws -> SegmentChain.Element {
        guard whole, let size = name.size else {
            return try await SegmentChain.Element(name, repository.segment(name, database))
        }
        let path = try directory() + "/" + Self.file(name)
        // Not more than the listing says: the directory is limited.
        try await fetch(name, into: path, upTo: repository.config.isSealed ? Self.limit : size)
        let file = try LocalFile(reading: path)
        let segment = try SegmentChain.Element(name, repository.segment(name, database, in: file), path: path)
        // What a sealed segment takes here is known only now.
        let excess = try file.size() - size
        room.withLock { $0 -= max(0, excess) }
        return segment
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
    func frames(of element: SegmentChain.Element) async throws -> String {
        let name = element.name
        var path = element.path ?? ""
        if element.path == nil {
            path = try directory() + "/" + Self.file(name)
            try await fetch(name, into: path, upTo: ReadLimits.segment)
        }
        try repository.compare(element.record, element.offset, name, in: LocalFile(reading: path))
        return path
    }

    /// Removes the file of a segment that was applied.
    func discard(_ path: String) { unlink(path) }
}
