internal import CEngineSupport

/// A segment in a file: verifies it while it is read.
package struct SegmentFile {
    package let segment: WALSegment
    private let file: CompanionFile

    /// - Throws: ``BackupError`` `damaged` for what is no whole segment.
    package init(_ path: String) throws {
        guard let file = try CompanionFile(path: path) else { throw BackupError(.noInput, "no such file", path: path) }
        guard let segment = WALSegment(header: try file.read(count: WALSegment.headerLength, at: 0)),
            try file.size() == segment.byteCount
        else { throw BackupError(.damaged, "is not a whole segment of a log", path: path) }
        self.file = file
        self.segment = segment
    }

    /// The numbers of the frames that end a transaction, from the frames' headers alone.
    package func commits() throws -> [UInt32] {
        var result: [UInt32] = []
        for number in 0..<segment.frameCount {
            let offset = Int64(WALSegment.headerLength) + Int64(number) * Int64(segment.frameLength)
            let header = try file.read(count: 8, at: offset)
            if header.count == 8, header.word(4) != 0 { result.append(segment.firstFrame + number) }
        }
        return result
    }

    /// Hands over frame after frame: number, header and page.
    ///
    /// - Throws: ``BackupError`` `damaged` at the first frame whose checksum or salts do not hold.
    func forEachFrame(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Bool) throws -> [UInt32] {
        var sums = segment.checksum
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: segment.frameLength, alignment: 16)
        defer { buffer.deallocate() }
        let frame = UnsafeRawBufferPointer(buffer)
        guard let base = frame.baseAddress else { return sums }
        for number in 0..<segment.frameCount {
            let offset = Int64(WALSegment.headerLength) + Int64(number) * Int64(segment.frameLength)
            let count = try file.read(into: buffer, at: offset)
            lv_wal_checksum(segment.bigEndian, base, 8, &sums)
            lv_wal_checksum(segment.bigEndian, base + WALReader.frameHeaderLength, segment.pageSize, &sums)
            guard count == frame.count, frame.word(0) != 0, sums == [frame.word(16), frame.word(20)],
                UInt64(frame.word(8)) << 32 | UInt64(frame.word(12)) == segment.salts
            else { throw BackupError(.damaged, "frame \(segment.firstFrame + number) is damaged", path: file.path) }
            if try !body(segment.firstFrame + number, frame) { break }
        }
        return sums
    }
}
