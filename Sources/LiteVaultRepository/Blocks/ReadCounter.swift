internal import LiteVaultSystem

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
