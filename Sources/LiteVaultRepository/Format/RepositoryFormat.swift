internal import LiteVaultCapture
internal import LiteVaultSystem

/// The constants of the repository format. The page "Repository format" of the documentation describes it.
package enum RepositoryFormat {
    /// The newest version that this code reads and writes: that of sealed repositories.
    package static let version = 2
    /// The version of repositories that are not sealed, and of all documents in either.
    static let unsealedVersion = 1
    /// The maximum number of entries in a node of a block map. Nodes are small: a changed block costs one node per
    /// level.
    package static let fanOut = 32
    /// The maximum number of blocks in a data pack: 32 MiB.
    package static let packBlocks = 8192
    /// The size in bytes at which a tree pack is complete.
    package static let treePackBytes: Int64 = 32 << 20
    /// Bytes before the first block of a data pack, and before the first node of a tree pack.
    package static let packHeader = 64
    /// Bytes of a hash.
    package static let hashBytes = 32

    // The maxima that a reader accepts; arithmetic within these limits cannot overflow.

    /// The sequence numbers of snapshots and of segments: ten digits.
    package static let sequences = 1...9_999_999_999
    /// How far beyond all numbers that documents vouch for one in the name of an unreadable object is believed.
    static let strayStep = 1_000_000
    /// The maximum size of an image, which is that of the largest possible database, and of an object in the store.
    package static let imageBytes: Int64 = 1 << 48
    /// The maximum size of a document without a list: a manifest, a lease.
    package static let documentBytes = 64 << 10
    /// The maximum size of a keyring, in bytes: it has to fit into a manifest beside the other members.
    package static let keyringBytes = 40_000
    /// The maximum size of a document with a list.
    package static let listBytes = 16 << 20
    /// The maximum number of pending deletions, so that the list fits.
    package static let listedPacks = 100_000
    /// The maximum size of a tree pack, which ends with the first node beyond ``treePackBytes``.
    package static let wholeTreePack = Int(treePackBytes) + (1 << 20)
    /// The maximum size of a segment's frames.
    package static let segmentBytes: Int64 = 4 << 30
    /// The bytes at the start of a segment that contain its document.
    static let segmentHead: Int64 = 8192
    /// The valid iterations for deriving a key from a secret.
    package static let iterations = 1...5_000_000

    /// The numbers of changes of the secrets.
    static let generations = 1...999_999_999

    /// How data packs start.
    package static let dataMagic = Array("LVdata".utf8) + [0, 1]
    /// How tree packs start.
    package static let treeMagic = Array("LVtree".utf8) + [0, 1]

    /// The object that describes the repository.
    package static let config = "repository.json"
    /// The object that lists pending deletions of packs.
    package static let pendingDeletions = "doomed.json"

    package static func data(_ pack: PackID) -> String { "data/" + pack.path }
    package static func tree(_ pack: PackID) -> String { "tree/" + pack.path }
    package static func snapshots(_ database: String) -> String { "snapshots/\(database)/" }
    package static func snapshot(_ database: String, _ sequence: Int) -> String {
        snapshots(database) + padded(sequence)
    }
    package static func segments(_ database: String) -> String { "segments/\(database)/" }
    package static func joined(_ database: String) -> String { segments(database) + "joined/" }
    package static func verified(_ database: String) -> String { "verified/\(database)" }
    package static func forgetRecord(_ database: String) -> String { "forgotten/\(database)" }
    package static func fences(_ database: String) -> String { "fences/\(database)/" }
    package static func lease(_ name: String) -> String { "leases/\(name)" }

    /// The sequence number in a manifest's name; nil for a name outside the format, such as that of a file left by a
    /// program that synchronises directories or by an editor.
    static func sequence(ofSnapshot name: String, _ database: String) -> Int? {
        let prefix = snapshots(database)
        guard name.hasPrefix(prefix) else { return nil }
        return sequence(name.dropFirst(prefix.count))
    }

    /// Whether it is the name of a data pack or a tree pack.
    static func isPack(_ name: String) -> Bool { pack(name) != nil }

    /// The pack that is stored under a name; nil for another object.
    static func pack(_ name: String) -> PackID? {
        guard let last = name.split(separator: "/").last, isIdentifier(last), let pack = PackID(hexadecimal: last),
            name == data(pack) || name == tree(pack)
        else { return nil }
        return pack
    }

    /// Ten digits: the order of names is the order of numbers.
    static func padded(_ sequence: Int) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }

    /// The number that ten digits stand for; nil for anything else.
    package static func sequence(_ digits: some StringProtocol) -> Int? {
        guard digits.utf8.count == 10, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
            sequences.contains(number)
        else { return nil }
        return number
    }

    /// Whether a text is the identifier of a database, a repository or a pack: 32 lowercase hexadecimal digits.
    package static func isIdentifier(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The length of a data pack with this many blocks.
    package static func dataPackSize(blocks: Int) -> Int64 {
        Int64(packHeader + blocks * (blockSize + hashBytes) + hashBytes)
    }

    /// The number of blocks of a data pack of this length; nil if the length is invalid.
    package static func blocks(inDataPackOf size: Int64) -> Int? {
        let content = size - Int64(packHeader + hashBytes)
        let unit = Int64(blockSize + hashBytes)
        guard content > 0, content % unit == 0, content / unit <= Int64(packBlocks) else { return nil }
        return Int(content / unit)
    }
}

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
