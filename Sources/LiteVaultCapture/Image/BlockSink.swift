/// Takes the blocks of a consistent image of a database, in order, while a lock or a read mark is held: quick work only
/// (hash, compare, spool to a local file), and nothing that waits for a network.
package protocol BlockSink {
    /// A copy begins, from block 0; what came before it is to be forgotten (a copy that turned out not to count is repeated).
    ///
    /// - Parameter byteCount: how long the image will be.
    mutating func begin(byteCount: Int64) throws

    /// The next blocks: whole ones of ``blockSize`` bytes, but for the image's last, which may be shorter.
    mutating func append(_ blocks: UnsafeRawBufferPointer) throws
}

/// Bytes in a block. A database's page size may be unknown without its key; 4096 is the default page size of both engines.
package let blockSize = 4096
