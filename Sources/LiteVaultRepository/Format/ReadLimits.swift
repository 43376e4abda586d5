internal import LiteVaultCapture
internal import LiteVaultSystem

/// How much is read of what others have stored: one table for all stores and commands. The page "Repository format" has the same
/// numbers, which a test compares.
///
/// Anyone who can write to a store can put anything there: an object of terabytes that take no space, a listing without an end, a server
/// that answers one byte at a time. What is beyond a limit is damage, or an error of the store, before it is read.
package enum ReadLimits {
    /// The entries of one listing, those included that are not objects of a repository.
    package static let entries = 5_000_000
    /// The levels of directories that a listing enters.
    package static let depth = 16
    /// How long one listing may take.
    package static let listingSeconds = 3600
    /// The bytes per second below which a server counts as silent.
    package static let bytesPerSecond = 1024
    /// The size of an object in a listing.
    package static let objectBytes = RepositoryFormat.imageBytes
    /// The content of a segment, with its document.
    package static let segment = RepositoryFormat.segmentBytes + RepositoryFormat.segmentHead
    /// A document with a list, and its seal.
    package static let list = Int64(RepositoryFormat.listBytes + 256)
    /// A document without a list, and its seal.
    package static let document = Int64(RepositoryFormat.documentBytes + 256)

    /// The maximum size of an object's content, which follows from the start of its name.
    package static func bytes(of name: String) -> Int64 {
        switch name.utf8.prefix(while: { $0 != UInt8(ascii: "/") }) {
        case let kind where kind.elementsEqual("data".utf8):
            RepositoryFormat.dataPackSize(blocks: RepositoryFormat.packBlocks)
        case let kind where kind.elementsEqual("tree".utf8): Int64(RepositoryFormat.wholeTreePack)
        // What was set aside is of any kind, and is larger than a sound object only if it is refused there.
        case let kind where kind.elementsEqual("segments".utf8) || kind.elementsEqual("damaged".utf8): segment
        case let kind where kind.elementsEqual("snapshots".utf8) || kind.elementsEqual("leases".utf8): document
        default: list
        }
    }
}

/// What one listing may still take.
package final class ListingBudget: Sendable {
    private let left: Locked<Int>
    private let deadline = Deadline(in: .seconds(ReadLimits.listingSeconds))
    private let location: String

    /// - Parameters:
    ///   - location: the store's, for messages.
    ///   - entries: the most entries.
    package init(_ location: String, entries: Int = ReadLimits.entries) {
        self.location = location
        left = Locked(entries)
    }

    /// Counts entries of the listing.
    ///
    /// - Parameter depth: how many directories are above them.
    /// - Throws: `VaultError` `io` beyond a limit.
    package func spend(_ count: Int, depth: Int = 0) throws {
        let isWithin = left.withLock { left in
            left -= min(count, left + 1)
            return left >= 0
        }
        guard isWithin, depth <= ReadLimits.depth, !deadline.isOver else {
            throw VaultError(
                .io, "the listing of the store does not end", path: location,
                remedy: "Find out what fills it: a repository has at most \(ReadLimits.entries) objects.")
        }
    }
}
