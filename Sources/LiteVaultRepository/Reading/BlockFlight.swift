internal import LiteVaultCapture
internal import LiteVaultSystem

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
