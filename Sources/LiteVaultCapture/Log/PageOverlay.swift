/// Pages that stand in another file: they take the place of the database file's own in an image.
struct PageOverlay {
    let file: CompanionFile
    let pageSize: Int
    /// Pages of the image when it is whole.
    let pageCount: UInt32
    /// Where each page lies in `file`, in the order of the page numbers.
    private let pages: [(index: Int64, offset: Int64)]
    private var next = 0

    /// - Parameter pages: page numbers, from 1, and where their bytes start in `file`.
    init(file: CompanionFile, pageSize: Int, pageCount: UInt32, pages: [UInt32: Int64]) {
        self.file = file
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.pages = pages.filter { $0.key >= 1 && $0.key <= pageCount }
            .map { (Int64($0.key) - 1, $0.value) }.sorted { $0.index < $1.index }
    }

    var byteCount: Int64 { Int64(pageCount) * Int64(pageSize) }

    mutating func rewind() { next = 0 }

    /// Puts the pages that start in `buffer`, which holds the image's bytes from `offset` on, in their places. Called with
    /// runs in order, each of whole pages.
    mutating func apply(to buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        while next < pages.count {
            let start = pages[next].index * Int64(pageSize) - offset
            guard start < Int64(buffer.count) else { return }
            let end = min(buffer.count, Int(start) + pageSize)
            let place = UnsafeMutableRawBufferPointer(rebasing: buffer[Int(start)..<end])
            guard try file.read(into: place, at: pages[next].offset) == place.count else {
                throw BackupError(.damaged, "became shorter while it was read", path: file.path)
            }
            next += 1
        }
    }
}
