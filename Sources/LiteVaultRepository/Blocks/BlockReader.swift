internal import LiteVaultCapture
internal import LiteVaultSystem

/// Reads blocks from data packs, and checks each against its hash in the block map.
struct BlockReader {
    let store: any ObjectStore
    /// Counts the requests; nil if nobody wants to know.
    var counter: ReadCounter?

    /// Nearby blocks of one pack.
    private struct Run: Sendable {
        let pack: PackID
        var first: UInt32
        var last: UInt32
        var wanted: [Wanted]
        /// The number of blocks that are read for it.
        var count: UInt32 { last - first + 1 }
    }

    /// The maximum number of blocks read by one request, including unneeded ones that are read to save a request.
    private static let runLimit: UInt32 = 2048
    private static let gapLimit: UInt32 = 16

    /// The maximum number of blocks of all requests under way: 32 MiB.
    private static let flightLimit: UInt32 = 8192

    /// A block to read, and where it belongs: what that means is up to the caller.
    typealias Wanted = (place: Int, entry: TreeEntry)

    /// Reads the blocks of `entries` and passes each to `body`, in no particular order. Memory holds no more than 32 MiB of blocks.
    ///
    /// - Parameter body: called with the position in `entries` of the first of some blocks, and their bytes, which match their hashes.
    /// - Throws: `VaultError` `damaged` if a block is missing or does not match its hash; what `body` throws.
    func read(_ entries: [TreeEntry], _ body: (_ place: Int, UnsafeRawBufferPointer) throws -> Void) async throws {
        var rest: [Wanted]? = Array(entries.enumerated()).map { ($0.offset, $0.element) }
        try await read(
            of: {
                defer { rest = nil }
                return rest
            }, body)
    }

    /// Reads blocks as ``read(_:_:)``, some of which are named while others are being read: requests are under way all the time.
    ///
    /// - Parameters:
    ///   - more: the next blocks; nil if there are no more.
    ///   - body: called with the place of the first of some blocks that follow each other there, and their bytes.
    func read(of more: () throws -> [Wanted]?, _ body: (_ place: Int, UnsafeRawBufferPointer) throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: (Run, [UInt8]).self) { group in
            var waiting: ArraySlice<Run> = []
            var reading: UInt32 = 0
            var isNamed = false
            while true {
                while true {
                    while waiting.isEmpty, !isNamed {
                        if let wanted = try more() { waiting = Self.runs(wanted)[...] } else { isNamed = true }
                    }
                    guard let run = waiting.first, reading == 0 || reading + run.count <= Self.flightLimit else {
                        break
                    }
                    waiting.removeFirst()
                    reading += run.count
                    let (store, counter) = (store, counter)
                    counter?.add(Int64(run.count) * Int64(blockSize))
                    group.addTask { (run, try await Self.fetch(run, store)) }
                }
                guard let (run, bytes) = try await group.next() else { return }
                try Self.pass(run, bytes, to: body)
                reading -= run.count
            }
        }
    }

    private static func fetch(_ run: Run, _ store: any ObjectStore) async throws -> [UInt8] {
        let start = Int64(RepositoryFormat.packHeader) + Int64(run.first) * Int64(blockSize)
        let name = RepositoryFormat.data(run.pack)
        do {
            return try await readingAgain {
                let bytes = try await store.get(name, range: start..<(start + Int64(run.count) * Int64(blockSize)))
                guard bytes.count == Int(run.count) * blockSize else {
                    throw VaultError(.damaged, "is too short", path: name, advice: .lostObject)
                }
                // Here, where several are under way, and not where they are passed on.
                try compare(run, bytes)
                return bytes
            }
        } catch let error as VaultError where error.code == .missing {
            throw VaultError(.damaged, "is missing", path: name, advice: .lostObject, cause: error)
        }
    }

    /// Compares the blocks of a run with their hashes.
    private static func compare(_ run: Run, _ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            for (_, entry) in run.wanted {
                let block = UnsafeRawBufferPointer(rebasing: bytes[range(of: entry, in: run)])
                guard Hash256(of: block) == entry.hash else {
                    throw VaultError(
                        .damaged, "block \(entry.position) does not match its hash",
                        path: RepositoryFormat.data(entry.pack), advice: .lostObject)
                }
            }
        }
    }

    private static func range(of entry: TreeEntry, in run: Run) -> Range<Int> {
        let offset = Int(entry.position - run.first) * blockSize
        return offset..<(offset + blockSize)
    }

    /// Passes on the blocks of a run, those that follow each other at once.
    private static func pass(
        _ run: Run, _ bytes: [UInt8], to body: (_ place: Int, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            var some: (place: Int, bytes: Range<Int>)?
            for (place, entry) in run.wanted {
                let range = range(of: entry, in: run)
                if let known = some {
                    if known.bytes.upperBound == range.lowerBound,
                        known.place + known.bytes.count / blockSize == place
                    {
                        some = (known.place, known.bytes.lowerBound..<range.upperBound)
                        continue
                    }
                    try body(known.place, UnsafeRawBufferPointer(rebasing: bytes[known.bytes]))
                }
                some = (place, range)
            }
            if let some { try body(some.place, UnsafeRawBufferPointer(rebasing: bytes[some.bytes])) }
        }
    }

    private static func runs(_ wanted: [Wanted]) -> [Run] {
        var runs: [Run] = []
        let order = wanted.sorted { ($0.entry.pack, $0.entry.position) < ($1.entry.pack, $1.entry.position) }
        for (place, entry) in order {
            if let last = runs.last, last.pack == entry.pack, entry.position - last.last <= gapLimit,
                entry.position - last.first < runLimit
            {
                runs[runs.count - 1].last = entry.position
                runs[runs.count - 1].wanted.append((place, entry))
            } else {
                runs.append(
                    Run(pack: entry.pack, first: entry.position, last: entry.position, wanted: [(place, entry)]))
            }
        }
        return runs
    }
}

/// What reading from a repository in place has taken so far.
public struct ReadingStatistics: Sendable, Equatable {
    /// Requests for parts of objects: one for each run of nearby blocks, and one for each part of a block map. A sealed
    /// repository makes up to two more for each object that it reads from.
    public internal(set) var requests = 0
    /// Bytes that these requests asked for.
    public internal(set) var bytes: Int64 = 0
    /// The largest number of bytes of blocks that were in memory at one time.
    public internal(set) var memory: Int64 = 0
}

/// Counts requests of several threads.
final class ReadCounter: Sendable {
    private let counts = Locked(ReadingStatistics())

    /// The counts so far.
    var statistics: ReadingStatistics { counts.value }

    /// Counts a request.
    func add(_ bytes: Int64) {
        counts.withLock { counts in
            counts.requests += 1
            counts.bytes += bytes
        }
    }

    /// Notes how much memory is in use.
    func note(memory: Int64) {
        counts.withLock { $0.memory = max($0.memory, memory) }
    }
}

/// Values that were used recently, in two generations. When it is full, the older generation is dropped if the younger one is half of
/// all; otherwise a new value takes the place of one of the older.
struct RecentValues<Key: Hashable, Value> {
    private let limit: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// - Parameter limit: the maximum number of values.
    init(limit: Int) { self.limit = max(2, limit) }

    /// How many there are.
    var count: Int { young.count + old.count }

    /// A value, which counts as used.
    subscript(_ key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
    }

    /// Whether there is a value, which does not count as used by that.
    func contains(_ key: Key) -> Bool { young[key] != nil || old[key] != nil }

    /// Adds a value, or replaces it.
    mutating func insert(_ value: Value, for key: Key) {
        old[key] = nil
        if young[key] == nil {
            // The newest ones are those that were read ahead.
            if young.count >= limit / 2, old.isEmpty || count >= limit { (old, young) = (young, [:]) }
            if count >= limit, !old.isEmpty { old.remove(at: old.startIndex) }
        }
        young[key] = value
    }

    /// Drops a value.
    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}
