internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// A joined segment that is being made, in a file of the spool.
final class JoinedObject {
    private let repository: Repository
    private let database: String
    private let level: Int
    private let file: ReplacementFile
    private var joiner: SegmentJoiner
    private var records: (first: SegmentRecord, last: SegmentRecord, hash: String)?
    private var logs: [LogRange]? = []
    /// What was appended.
    private(set) var elements: [SegmentName] = []
    /// Whether it can be stored.
    private(set) var isUsable = true

    init(_ repository: Repository, _ database: String, _ level: Int) throws {
        self.repository = repository
        self.database = database
        self.level = level
        file = try PackSpool(directory: try repository.spoolDirectory()).create().file
        joiner = try SegmentJoiner(into: file.path, byteLimit: RepositoryFormat.segmentBytes)
    }

    deinit { file.discard() }

    /// Appends a segment whose file matches its hash.
    ///
    /// - Returns: whether it follows the previous one, and fits. If not, nothing was appended.
    /// - Throws: `VaultError` `damaged`.
    func append(_ element: FetchedSegment, _ path: String) throws -> Bool {
        let record = element.record
        if let (_, last, link) = records {
            guard record.first == last.sequence + 1, record.predecessor == link, record.run == last.run,
                record.firstPlace == last.place + 1, record.pageSize == last.pageSize
            else { return false }
        }
        // What it may add at most: a joiner that fails in the middle cannot be used.
        let pages = record.joined.map { Int($0.pages) } ?? Int(record.frames)
        guard joiner.pageCount + pages <= SegmentJoiner.pageLimit,
            JoinedSegment.byteCount(pages: UInt32(clamping: joiner.pageCount + pages), pageSize: record.pageSize)
                <= RepositoryFormat.segmentBytes
        else { return false }
        do { try joiner.append(element.opened(at: path)) } catch let error as VaultError where error.code == .conflict {
            return false
        } catch let error as VaultError where error.isDamage {
            // Its frames are wrong although its hash is right. What it overwrote is lost to this object.
            isUsable = false
            throw VaultError(.damaged, error.message, path: element.name.object, cause: error)
        }
        records = (records?.first ?? record, record, element.link)
        logs = logs.flatMap { logs in record.logs.flatMap { LogRange.joined(logs, $0) } }
        elements.append(element.name)
        return true
    }

    /// Stores it. The same segments make the same object, so that another compaction may have stored it.
    ///
    /// - Returns: its name and its size.
    /// - Throws: `VaultError` `damaged` if another object has its name.
    func store() async throws -> (SegmentName, Int64) {
        guard let (first, last, hash) = records, let segment = try joiner.finish() else {
            throw VaultError(.internalFailure, "nothing was joined")
        }
        let source = try LocalFile(reading: file.path)
        var record = last
        record.type = "joined"
        record.predecessor = first.predecessor
        (record.end, record.clock) = (nil, nil)
        record.payloadSize = segment.byteCount
        record.payloadHash = try source.hash()
        record.joined = .init(
            first: first.first, firstSnapshot: first.joined?.firstSnapshot ?? first.snapshot, level: level, hash: hash,
            salts: first.joined?.salts ?? first.salts, firstFrame: first.joined?.firstFrame ?? first.firstFrame,
            pages: segment.pageCount, logs: logs)
        let name = record.name
        let (head, _) = try SealedDocument.seal(record, key: repository.key)
        let (object, writer) = try PackSpool(directory: try repository.spoolDirectory()).create()
        defer { object.discard() }
        try writer.write(head, at: 0)
        try source.forEachPiece { offset, bytes in try writer.write(bytes, at: Int64(head.count) + offset) }
        let size = Int64(head.count) + segment.byteCount
        // Joining takes no lease that a change of the key could wait for.
        try await repository.requireCurrentKey()
        do {
            let store = repository.store
            try await store.put(name.object, file: object.path, condition: store.whereAbsent())
        } catch let error as VaultError where error.code == .conflict {
            // Another compaction was first, or the response to the first attempt was lost.
            var stored = try await repository.segment(name, database).record
            // An older version lists no logs.
            stored.joined?.logs = logs
            guard stored == record else {
                throw VaultError(.damaged, "is not what its segments make", path: name.object)
            }
        }
        var stored = name
        stored.size = size
        return (stored, size)
    }
}
