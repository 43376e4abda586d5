internal import Dispatch
internal import LiteVaultCapture
internal import LiteVaultCipher

/// What is computed of each block before it is stored.
struct BlockDigest {
    let hash: Hash256
    /// Where in a block that is to be stored bytes stand that cannot be ciphertext.
    let plaintext: Int?
}

/// The digests of many blocks, by several threads: hashing is most of what a snapshot costs.
enum BlockHashes {
    /// Blocks for which a thread is worth it.
    private static let share = 32

    /// The digest of each whole block.
    ///
    /// - Parameters:
    ///   - known: For each block the hash under which it is stored already, as it was when it was examined.
    ///   - clear: How many bytes at the start are known not to be encrypted; nil where no block is to be examined.
    static func of(_ blocks: UnsafeRawBufferPointer, known: [Hash256?], clear: Int?) -> [BlockDigest] {
        let count = blocks.count / blockSize
        func digest(_ index: Int) -> BlockDigest {
            let block = UnsafeRawBufferPointer(rebasing: blocks[(index * blockSize)..<((index + 1) * blockSize)])
            return Self.digest(block, known: known[index], clear: clear.map { $0 - index * blockSize })
        }
        let strips = min(4, count / share)
        guard strips > 1 else { return (0..<count).map(digest) }
        return [BlockDigest](unsafeUninitializedCapacity: count) { buffer, initialized in
            // Each strip has places of its own, and all of them are done when concurrentPerform returns.
            nonisolated(unsafe) let results = buffer
            nonisolated(unsafe) let work = digest
            DispatchQueue.concurrentPerform(iterations: strips) { strip in
                for index in (strip * count / strips)..<((strip + 1) * count / strips) {
                    results.initializeElement(at: index, to: work(index))
                }
            }
            initialized = count
        }
    }

    /// The digest of one block; with `clear` as above, and negative behind the first block.
    static func digest(_ block: UnsafeRawBufferPointer, known: Hash256?, clear: Int?) -> BlockDigest {
        let hash = Hash256(of: block)
        guard let clear, hash != known else { return BlockDigest(hash: hash, plaintext: nil) }
        return BlockDigest(hash: hash, plaintext: CiphertextTest.plaintext(in: block, after: max(0, clear)))
    }
}
