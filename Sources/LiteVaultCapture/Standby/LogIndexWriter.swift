internal import CEngineSupport

/// Writes the part of a log's index that tells which frame has a page: https://sqlite.org/walformat.html#wal_index_file_format
///
/// The index consists of regions of 32 KB. Each has the page numbers of 4096 frames (the first one of 4062, behind the header), and a
/// hash table of 8192 places that leads from a page number to them. The caller holds the write lock.
struct LogIndexWriter {
    private static let headerLength = 136
    private static let entries = 4096
    private static let firstEntries = entries - headerLength / 4
    private static let tableOffset = 16384
    private static let slots = 8192

    let file: SourceFile

    /// The region of a frame, and the number of frames before that region.
    private static func place(_ frame: UInt32) -> (region: Int, before: Int) {
        let region = (Int(frame) + entries - firstEntries - 1) / entries
        return (region, region == 0 ? 0 : firstEntries + (region - 1) * entries)
    }

    /// Adds the regions that frames up to this one need: from then on ``append(_:page:)`` needs no space on the disk.
    func reserve(through frame: UInt32) throws {
        guard frame > 0 else { return }
        for region in 0...Self.place(frame).region { _ = try file.region(region) }
    }

    /// Records the page of the frame behind the last one. Readers ignore it until the header says that it is committed.
    func append(_ frame: UInt32, page: UInt32) throws {
        let (number, before) = Self.place(frame)
        let region = try file.region(number)
        let start = number == 0 ? Self.headerLength : 0
        let index = Int(frame) - before
        if index == 1 { (region + start).initializeMemory(as: UInt8.self, repeating: 0, count: 32768 - start) }
        lv_shared_store(region + start + 4 * (index - 1), page)
        var slot = Int(page &* 383) & (Self.slots - 1)
        for _ in 0..<Self.slots {
            let address = region + Self.tableOffset + 2 * slot
            if address.load(as: UInt16.self) == 0 {
                return address.storeBytes(of: UInt16(truncatingIfNeeded: index), as: UInt16.self)
            }
            slot = (slot + 1) & (Self.slots - 1)
        }
        throw VaultError(.damaged, "the log's index is damaged", path: file.path)
    }

    /// Removes what a writer that was killed has left behind the last committed frame.
    func clean(behind frame: UInt32) throws {
        guard frame > 0 else { return }
        let (number, before) = Self.place(frame)
        let region = try file.region(number)
        let start = number == 0 ? Self.headerLength : 0
        let limit = Int(frame) - before
        for slot in 0..<Self.slots {
            let address = region + Self.tableOffset + 2 * slot
            if Int(address.load(as: UInt16.self)) > limit { address.storeBytes(of: 0, as: UInt16.self) }
        }
        let free = start + 4 * limit
        (region + free).initializeMemory(as: UInt8.self, repeating: 0, count: Self.tableOffset - free)
    }
}
