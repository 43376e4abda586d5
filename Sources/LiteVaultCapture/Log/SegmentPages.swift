internal import LiteVaultSystem

/// The newest version of each page that some segments of a log have, in place of those of an image.
///
/// The pages are in one temporary file without a name, so that a process that is killed leaves nothing. Memory holds the
/// number and the place of each page.
package struct SegmentPages: Sendable {
    /// The size of a page in bytes.
    package let pageSize: Int
    /// Bytes of the database after the last segment.
    package let byteCount: Int64
    private let file: LocalFile
    private let places: [UInt32: Int64]

    /// Reads what a joiner has written.
    ///
    /// - Parameters:
    ///   - joiner: has all segments; at least one.
    ///   - path: its file, which loses its name.
    /// - Throws: `VaultError` `io`; `internal` if there was no segment.
    package init(_ joiner: SegmentJoiner, at path: String) throws {
        guard let segment = try joiner.finish() else {
            throw VaultError(.internalFailure, "no segment was joined", path: path)
        }
        var places: [UInt32: Int64] = [:]
        _ = try JoinedSegmentFile(path).forEachPlace { number, offset in places[number] = offset }
        self.places = places
        pageSize = segment.pageSize
        byteCount = Int64(segment.databasePages) * Int64(segment.pageSize)
        file = try LocalFile(reading: path)
        unlink(path)
    }

    /// Reads a part of a page.
    ///
    /// - Parameters:
    ///   - number: of the page, from 1.
    ///   - offset: in the page.
    /// - Returns: false if no segment has the page.
    /// - Throws: `VaultError` `io`.
    package func read(_ number: UInt32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Bool {
        guard let place = places[number] else { return false }
        guard try file.read(into: buffer, at: place + Int64(offset)) == buffer.count else {
            throw VaultError(.io, "was truncated while it was read", path: file.path)
        }
        return true
    }
}
