internal import LiteVaultSystem

/// The newest version of each page in several segments, or the pages of an image: one commit of a standby.
///
/// Memory holds the number and the place of each page, not its content.
package struct NewestPages {
    /// Files that are open at a time: there may be thousands of segments.
    private static let openFiles = 64

    package let pageSize: Int
    /// Pages in the database after the commit.
    package private(set) var pageCount: UInt32 = 0
    /// The paths of the files. They have to stay until the pages are written.
    private var files: [String] = []
    /// Files that were opened to read a page, by their paths.
    private let open = Locked<[String: LocalFile]>([:])
    private var places: [UInt32: (file: Int, offset: Int64)] = [:]

    package var count: Int { places.count }
    /// The numbers of the pages to write, in order.
    package var numbers: [UInt32] { places.keys.sorted() }

    package init(pageSize: Int) { self.pageSize = pageSize }

    /// Adds the pages of a segment, which replace earlier versions. Its file has to stay until they are written.
    ///
    /// - Throws: `VaultError` `damaged` for a damaged segment, or one of another page size. It has no page of that segment then.
    package mutating func add(_ segment: any StoredSegment) throws {
        guard segment.start.pageSize == pageSize else {
            throw VaultError(
                .damaged, "has pages of \(segment.start.pageSize) bytes instead of \(pageSize)",
                path: segment.file.path)
        }
        // What is found damaged in the middle leaves nothing.
        var found: [UInt32: Int64] = [:]
        pageCount = try segment.forEachPlace { found[$0] = $1 }.pages
        let place = files.count
        files.append(segment.file.path)
        for (number, offset) in found { places[number] = (place, offset) }
    }

    /// Adds those pages of an image that differ from a database's.
    ///
    /// - Parameter path: the image, a complete database file.
    package mutating func add(differencesOf path: String, from database: StandbyDatabase) throws {
        guard let file = try LocalFile(ifExists: path) else { throw VaultError(.noInput, "no such file", path: path) }
        guard let pages = UInt32(exactly: try file.size() / Int64(pageSize)), pages > 0 else {
            throw VaultError(.damaged, "has no whole page", path: path)
        }
        files.append(path)
        for number in 1...pages {
            let offset = Int64(number - 1) * Int64(pageSize)
            let new = try file.readPrefix(count: pageSize, at: offset)
            let old = number > database.pageCount ? [] : try database.page(number)
            if new != old {
                places[number] = (files.count - 1, offset)
            }
        }
        pageCount = pages
        // A commit has a page: the first one is always there.
        if places.isEmpty { places[1] = (files.count - 1, 0) }
    }

    /// The bytes of a page that is to be written.
    package func page(_ number: UInt32) throws -> [UInt8] {
        guard let place = places[number] else { throw VaultError(.internalFailure, "there is no page \(number)") }
        let path = files[place.file]
        let bytes = try file(path).readPrefix(count: pageSize, at: place.offset)
        guard bytes.count == pageSize else {
            throw VaultError(.damaged, "was truncated during the read", path: path)
        }
        return bytes
    }

    private func file(_ path: String) throws -> LocalFile {
        try open.withLock { open in
            if let known = open[path] { return known }
            if open.count >= Self.openFiles { open.removeAll() }
            let file = try LocalFile(reading: path)
            open[path] = file
            return file
        }
    }
}
