/// What authenticating the pages of a file found.
package struct PageReport: Sendable, Equatable {
    /// Whole pages in the file.
    package var pages = 0
    /// Numbers of the pages whose code does not match, at most ``limit`` of them.
    package var failures: [UInt32] = []
    /// How many there are altogether.
    package var failureCount = 0
    /// Bytes behind the last whole page: the file was cut off in the middle of one.
    package var trailingBytes = 0

    package static let limit = 100

    package mutating func fail(_ page: UInt32) {
        failureCount += 1
        if failures.count < Self.limit { failures.append(page) }
    }
}

extension PageAuthenticator {
    /// The page that holds SQLite's lock bytes (offset 2^30) is never written.
    private var lockPage: UInt32 { UInt32((1 << 30) / layout.pageSize + 1) }

    /// Page numbers have 32 bits, whatever the size of a file says.
    private func pageCount(_ size: Int64) -> Int { Int(min(size / Int64(layout.pageSize), Int64(UInt32.max - 1))) }

    /// Authenticates every page of the main file.
    ///
    /// A page of zeros counts as unwritten, as it does for the engine: a page that was freed before it was ever written
    /// is left as a hole. One that is in use is found by `PRAGMA integrity_check`.
    ///
    /// - Parameters:
    ///   - read: Reads bytes at an offset of the file. A failed page is read again, as it may just be written.
    ///   - progress: Called with the pages done and the pages there are; may throw to cancel.
    package func report(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8],
        retry: () -> Void = {}, progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws -> PageReport {
        var report = PageReport()
        let pageSize = layout.pageSize
        report.pages = pageCount(size)
        report.trailingBytes = Int(size % Int64(pageSize))
        let batch = max(1, (1 << 20) / pageSize)
        var first = 0
        while first < report.pages {
            let count = min(batch, report.pages - first)
            let bytes = try read(Int64(first) * Int64(pageSize), count * pageSize)
            for index in 0..<count {
                let number = UInt32(first + index + 1)
                if accepts(bytes, at: index * pageSize, number: number) { continue }
                retry()
                let again = try read(Int64(first + index) * Int64(pageSize), pageSize)
                if !accepts(again, at: 0, number: number) { report.fail(number) }
            }
            first += count
            try progress(first, report.pages)
        }
        return report
    }

    /// Whether some page other than the first authenticates: then the key is right, whatever the first page says.
    ///
    /// Looks at a few pages spread over the file.
    package func authenticatesSomeLaterPage(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> Bool {
        let pages = Int64(pageCount(size))
        guard pages > 1 else { return false }
        let samples = Int64(16)
        let candidates = Set((0..<samples).map { 2 + $0 * max(1, (pages - 1) / samples) }).filter { $0 <= pages }
        for number in candidates.sorted() {
            let bytes = try read((number - 1) * Int64(layout.pageSize), layout.pageSize)
            if bytes.withUnsafeBytes({ authenticates($0, number: UInt32(number)) }) { return true }
        }
        return false
    }

    private func accepts(_ bytes: [UInt8], at offset: Int, number: UInt32) -> Bool {
        guard bytes.count >= offset + layout.pageSize else { return false }
        if number == lockPage { return true }
        return bytes.withUnsafeBytes { all in
            let page = UnsafeRawBufferPointer(rebasing: all[offset..<(offset + layout.pageSize)])
            return authenticates(page, number: number) || page.allSatisfy { $0 == 0 }
        }
    }
}
