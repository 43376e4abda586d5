internal import LiteVaultCapture
internal import LiteVaultSystem

/// The blocks of a snapshot's image that are in memory. Others are fetched when they are needed, and before that where the image is
/// read from one end to the other.
///
/// It is used by one thread at a time, which it blocks; any thread may cancel it.
final class BlockCache: Sendable {
    /// Blocks that are read one after the other.
    private struct Stream {
        /// The first one that was requested.
        let begin: Int
        /// The first one behind what was requested.
        var end: Int

        /// How many were read before a block.
        func consumed(_ block: Int) -> Int { block - begin }
    }

    private struct State {
        var blocks: RecentValues<Int, [UInt8]>
        var flights: [BlockFlight] = []
        var streams: [Stream] = []
        var isCancelled = false
    }

    /// Blocks of the first window of a sequence, and the most of one.
    private static let (firstWindow, lastWindow) = (8, 256)
    /// How many sequences are followed at the same time.
    private static let streamLimit = 8

    private let nodes: MapNodes
    private let store: any ObjectStore
    private let counter: ReadCounter
    private let count: Int
    /// Blocks of the largest window, and the number of windows that are fetched ahead.
    private let (window, depth): (Int, Int)
    private let state: Locked<State>

    /// - Parameters:
    ///   - count: blocks of the image.
    ///   - memoryLimit: bytes of blocks in memory, among them those that are being fetched; at least 4 MiB are used.
    init(_ nodes: MapNodes, count: Int, store: any ObjectStore, counter: ReadCounter, memoryLimit: Int64) {
        self.nodes = nodes
        self.store = store
        self.counter = counter
        self.count = count
        let limit = Int(clamping: max(memoryLimit, 4 << 20) / Int64(blockSize))
        // A window that arrives is in memory three times for a moment. A quarter is for windows.
        depth = 4
        window = min(Self.lastWindow, limit / 4 / (3 * (depth + 1)))
        state = Locked(State(blocks: RecentValues(limit: limit - limit / 4)))
    }

    /// Copies bytes of one block.
    ///
    /// - Parameter offset: in the block.
    /// - Throws: `VaultError` `damaged` if it is missing or does not match its hash; what the store throws; `CancellationError`.
    func copy(_ block: Int, from offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        if let bytes = found(block) { return Self.copy(bytes, offset, buffer) }
        let flight = try state.withLock { state in
            guard !state.isCancelled else { throw CancellationError() }
            if let flight = state.flights.first(where: { $0.blocks.contains(block) }) { return flight }
            let flight = start(Self.window(block, &state.streams, limit: window, count: count))
            state.flights.append(flight)
            return flight
        }
        ahead(of: block)
        do {
            _ = try flight.wait()
        } catch let error as VaultError where flight.blocks.count > 1 {
            // Another block of the window, or a request for all of them, failed: that must not matter to this one.
            drop(flight)
            guard error.isDamage || error.code == .missing else { throw error }
            return Self.copy(try fetchAlone(block), offset, buffer)
        } catch {
            drop(flight)
            throw error
        }
        guard let bytes = found(block) else { throw CancellationError() }
        Self.copy(bytes, offset, buffer)
    }

    /// Ends what is under way, and fails what is requested until ``resume()``.
    func cancel() {
        let flights = state.withLock { state in
            state.isCancelled = true
            defer { state.flights = [] }
            return state.flights
        }
        flights.forEach { $0.cancel() }
    }

    /// Allows requests again.
    func resume() { state.withLock { $0.isCancelled = false } }

    private static func copy(_ block: [UInt8], _ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) {
        block.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + buffer.count)]))
        }
    }

    /// The block, if it is in memory. What has arrived is taken in before.
    private func found(_ block: Int) -> [UInt8]? {
        let bytes: [UInt8]? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            if !state.flights.isEmpty { takeIn(&state) }
            return state.blocks[block]
        }
        if bytes != nil { ahead(of: block) }
        return bytes
    }

    private func takeIn(_ state: inout State) {
        let held = state.blocks.count + state.flights.reduce(0) { $0 + 2 * $1.blocks.count }
        counter.note(memory: Int64(held) * Int64(blockSize))
        state.flights.removeAll { flight in
            guard let result = flight.result else { return false }
            // What failed is requested again when it is needed.
            guard case .success(let bytes) = result else { return true }
            for (index, block) in flight.blocks.enumerated() {
                state.blocks.insert(Array(bytes[(index * blockSize)..<((index + 1) * blockSize)]), for: block)
            }
            return true
        }
    }

    private func drop(_ flight: BlockFlight) { state.withLock { $0.flights.removeAll { $0 === flight } } }

    private func fetchAlone(_ block: Int) throws -> [UInt8] {
        let flight = start(block..<(block + 1))
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.flights.append(flight) }
            return state.isCancelled
        }
        defer { drop(flight) }
        if isCancelled { flight.cancel() }
        let bytes = try flight.wait()
        state.withLock { $0.blocks.insert(bytes, for: block) }
        return bytes
    }

    private func start(_ blocks: Range<Int>) -> BlockFlight { BlockFlight(blocks, nodes, store, counter) }

    /// The blocks to fetch for one that is needed: as many as were read one after the other before it.
    private static func window(_ block: Int, _ streams: inout [Stream], limit: Int, count: Int) -> Range<Int> {
        let first = min(firstWindow, limit)
        let isNext = { (stream: Stream) in
            stream.end <= block && block < stream.end + max(first, stream.end - stream.begin)
        }
        if let index = streams.firstIndex(where: isNext) {
            var stream = streams.remove(at: index)
            let range = block..<min(count, block + min(limit, max(first, stream.consumed(block))))
            stream.end = range.upperBound
            streams.append(stream)
            return range
        }
        let start = block - block % first
        let range = start..<min(count, start + first)
        if streams.count >= streamLimit { streams.removeFirst() }
        streams.append(Stream(begin: start, end: range.upperBound))
        return range
    }

    /// Fetches what follows a block, if several windows before it were read one after the other: not more than was read, so that a
    /// few neighbours do not cost megabytes.
    private func ahead(of block: Int) {
        state.withLock { state in
            guard !state.isCancelled,
                let index = state.streams.firstIndex(where: {
                    $0.consumed(block) >= 4 * Self.firstWindow && block < $0.end && $0.end - block <= depth * window
                })
            else { return }
            let consumed = state.streams[index].consumed(block)
            while state.flights.count < depth {
                let first = state.streams[index].end
                guard first < count, first - block <= min(consumed / 2, (depth - 1) * window) else { return }
                let range = first..<min(count, first + min(window, consumed))
                state.streams[index].end = range.upperBound
                // They were read before.
                guard !state.blocks.contains(first), !state.flights.contains(where: { $0.blocks.contains(first) })
                else { continue }
                state.flights.append(start(range))
            }
        }
    }
}

/// Consecutive blocks of an image that are being fetched. A thread that is not one of Swift's pool can wait for them; the pool
/// fetches them meanwhile.
final class BlockFlight: @unchecked Sendable {  // what changes is guarded by `condition`
    /// Numbers of blocks of the image.
    let blocks: Range<Int>
    private let condition = Condition()
    private var outcome: Result<[UInt8], any Error>?
    private var task: Task<Void, Never>?

    /// Starts to fetch.
    ///
    /// - Parameter counter: counts the requests.
    init(_ blocks: Range<Int>, _ nodes: MapNodes, _ store: any ObjectStore, _ counter: ReadCounter) {
        self.blocks = blocks
        // It keeps this object until it ends.
        let task = Task.detached { [self] in
            do {
                let entries = try await nodes.entries(blocks)
                finish(.success(try await Self.fetch(entries, BlockReader(store: store, counter: counter))))
            } catch {
                finish(.failure(error))
            }
        }
        condition.withLock { self.task = task }
    }

    private static func fetch(_ entries: [TreeEntry], _ reader: BlockReader) async throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: entries.count * blockSize)
        try await reader.read(entries) { place, found in
            bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[(place * blockSize)...]).copyMemory(from: found)
            }
        }
        return bytes
    }

    private func finish(_ result: Result<[UInt8], any Error>) {
        condition.withLock {
            if outcome == nil { outcome = result }
            condition.signal()
        }
    }

    /// What was fetched, or why that failed; nil if it is still under way.
    var result: Result<[UInt8], any Error>? { condition.withLock { outcome } }

    /// Blocks the calling thread until the blocks are there.
    ///
    /// - Throws: `VaultError` `damaged` if one is missing or does not match its hash; what the store throws; `CancellationError`.
    func wait() throws -> [UInt8] {
        try condition.withLock {
            while true {
                if let outcome { return try outcome.get() }
                // It returns early, which does no harm.
                _ = condition.wait(seconds: 60)
            }
        }
    }

    /// Ends the wait, and the requests as soon as the store notices.
    func cancel() {
        finish(.failure(CancellationError()))
        condition.withLock { task }?.cancel()
    }
}
