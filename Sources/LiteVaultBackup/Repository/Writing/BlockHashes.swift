internal import Dispatch

/// The hashes of many blocks, by several threads: hashing is most of what a snapshot costs.
enum BlockHashes {
    /// Blocks for which a thread is worth it.
    private static let share = 32

    /// The hash of each whole block.
    static func of(_ blocks: UnsafeRawBufferPointer) -> [Hash256] {
        let count = blocks.count / blockSize
        let strips = min(4, count / share)
        guard strips > 1 else { return (0..<count).map { hash(blocks, $0) } }
        return [Hash256](unsafeUninitializedCapacity: count) { buffer, initialized in
            // Each strip has places of its own, and all of them are done when concurrentPerform returns.
            nonisolated(unsafe) let results = buffer
            nonisolated(unsafe) let source = blocks
            DispatchQueue.concurrentPerform(iterations: strips) { strip in
                for index in (strip * count / strips)..<((strip + 1) * count / strips) {
                    results.initializeElement(at: index, to: hash(source, index))
                }
            }
            initialized = count
        }
    }

    private static func hash(_ blocks: UnsafeRawBufferPointer, _ index: Int) -> Hash256 {
        Hash256(of: UnsafeRawBufferPointer(rebasing: blocks[(index * blockSize)..<((index + 1) * blockSize)]))
    }
}
