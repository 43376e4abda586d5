internal import CEngineSupport
internal import LiteVaultSystem

/// A database whose only writer is this process, which does not have its key.
///
/// It writes the database's log as SQLite does, under SQLite's locks: frames, then the index, whose header publishes all frames of
/// a commit at once. The checksums of frames cover the encrypted pages, so no key is needed. Readers, who have the key, see the
/// state of their read mark until they begin another transaction.
///
/// The locks for writing and for checkpoints are held all the time: other connections can only read, and the shared lock of the
/// file keeps the last one that closes from removing the log.
package final class StandbyDatabase {
    /// The path, with links resolved.
    package let path: String
    package let pageSize: Int
    /// Pages in the database after the last commit.
    package private(set) var pageCount: UInt32 = 0

    private let file: SourceFile
    private let index: WALIndex
    private let writer: LogIndexWriter
    private let log: LocalFile
    private var bigEndian = WALIndexHeader.isBigEndian
    private var salts: UInt64 = 0
    private var frame: UInt32 = 0
    private var sums: [UInt32] = [0, 0]
    private var commits: UInt32 = 0
    private var checkpoints: UInt32 = 0
    /// The newest frame of each page in the log.
    private var frames: [UInt32: UInt32] = [:]
    /// Whether frames of a commit that failed are in the log.
    private var hasTail = false

    /// Takes the locks, reads the log, and makes what it has durable; without a valid index it makes one, as SQLite does after a crash.
    ///
    /// - Parameters:
    ///   - path: a database in WAL mode, or one that nobody has opened yet.
    ///   - patience: seconds to wait for connections that write or checkpoint.
    /// - Throws: `VaultError` `busy` if another connection writes or checkpoints, or another standby has it; `damaged` if the log is
    ///   not one of this database; `unsupported` on a network file system.
    package init(_ path: String, pageSize: Int, patience: Double = 2) throws {
        try SourceVolume.requireLocal(path)
        file = try SourceFile(path: path)
        self.path = file.path
        self.pageSize = pageSize
        let busy = VaultError(
            .busy, "another connection is writing to it, or another standby keeps it current", path: path,
            remedy: "End that one. A standby can only be read.")
        try Self.wait(patience, busy) { [file] in try file.lockShared() }
        index = WALIndex(region: try file.region(0), file: file)
        writer = LogIndexWriter(file: file)
        for slot in [IndexLock.write, IndexLock.checkpoint] {
            try Self.wait(patience, busy) { [file] in try file.lockSlot(slot, exclusively: true) }
        }
        let name = file.path + "-wal"
        if !LocalFile.exists(name) { try Self.createLog(name, of: file.path) }
        log = try LocalFile(updating: name)
        try readLog()
        try dropTail()
        // The process that wrote or created the log may have been killed before it synced. From here on its commits are recorded as durable,
        // and copied into the file.
        try log.sync()
        try LocalDirectory.sync(LocalDirectory.parent(of: name))
    }

    private static func createLog(_ name: String, of database: String) throws {
        do { _ = try LocalFile(creating: name) } catch let error as VaultError where error.code == .conflict {
            // The engine of a reader has just created it, as it wants it.
            return
        }
        var status = stat()
        // As SQLite does: a user who may open the database may open its log.
        if stat(database, &status) == 0 {
            chmod(name, status.st_mode & 0o777)
            _ = chown(name, status.st_uid, status.st_gid)
        }
    }

    private static func wait(_ seconds: Double, _ busy: VaultError, _ lock: () throws -> Bool) throws {
        let end = ProcessInfo.processInfo.systemUptime + seconds
        while try !lock() {
            guard ProcessInfo.processInfo.systemUptime < end else { throw busy }
            SystemThread.sleep(seconds: 0.01)
        }
    }

    // MARK: State

    /// The position after the last commit: the log's salts, the number of its frames, and the checksum after them.
    package var position: (log: LogPosition, sums: [UInt32]) { (LogPosition(salts: salts, frame: frame), sums) }

    /// Bytes of the log that are not checkpointed.
    package var logBytes: Int64 {
        index.backfilled >= frame ? 0 : Int64(frame) * Int64(WALReader.frameHeaderLength + pageSize)
    }

    /// The inode and the last change of the database file, by which a checkpoint by another connection shows later.
    package var fileStatus: String? { LogEnd.status(path) }

    /// A page as a reader sees it now; zeros where nothing was ever written.
    package func page(_ number: UInt32) throws -> [UInt8] {
        if let frame = frames[number] { return try log.read(at: offset(frame) + 24, count: pageSize) }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: Int64(number - 1) * Int64(pageSize)) }
        return bytes
    }

    private func offset(_ frame: UInt32) -> Int64 {
        Int64(WALReader.headerLength) + Int64(frame - 1) * Int64(WALReader.frameHeaderLength + pageSize)
    }

    // MARK: Reading the log

    private func readLog() throws {
        let known = index.header()
        guard let logFile = try LocalFile(ifExists: log.path) else {
            throw VaultError(.io, "was removed", path: log.path)
        }
        let reader = try WALReader(logFile)
        if let reader {
            checkpoints = try logFile.readPrefix(count: 16, at: 0).word(12)
            guard known?.lastFrame == 0 || reader.pageSize == pageSize else {
                throw VaultError(.damaged, "has pages of \(reader.pageSize) bytes", path: log.path)
            }
        }
        if let known {
            (salts, frame, sums) = (known.salts, known.lastFrame, known.frameChecksum)
            (pageCount, commits) = (known.pageCount, known.commits)
            if frame > 0 {
                let mismatch = VaultError(.damaged, "does not match its index", path: log.path)
                guard var reader, reader.salts == salts else { throw mismatch }
                bigEndian = reader.bigEndian
                guard try scan(&reader, through: frame) == frame, sums == known.frameChecksum else { throw mismatch }
            }
            try writer.clean(behind: frame)
        } else {
            try recover(reader, try logFile.size())
        }
        if pageCount == 0 { pageCount = UInt32(clamping: try file.size() / Int64(pageSize)) }
    }

    /// Reads committed frames.
    private func scan(_ reader: inout WALReader, through last: UInt32) throws -> UInt32 {
        var committed: UInt32 = 0
        var uncommitted: [UInt32: UInt32] = [:]
        let length = reader.frameLength
        _ = try reader.read(through: last) { bytes, first in
            for place in 0..<(bytes.count / length) {
                let start = place * length
                uncommitted[bytes.word(start)] = first + UInt32(place)
                guard bytes.word(start + 4) != 0 else { continue }
                frames.merge(uncommitted) { $1 }
                uncommitted = [:]
                committed = first + UInt32(place)
                pageCount = bytes.word(start + 4)
                sums = [bytes.word(start + 16), bytes.word(start + 20)]
            }
        }
        return committed
    }

    /// Makes the index, as the first connection after a crash does.
    private func recover(_ found: WALReader?, _ size: Int64) throws {
        guard try file.lockSlot(IndexLock.recover, exclusively: true) else {
            throw VaultError(.busy, "the log's index is being built", path: path)
        }
        defer { file.unlockSlot(IndexLock.recover) }
        if var reader = found {
            (salts, bigEndian) = (reader.salts, reader.bigEndian)
            let most = (size - Int64(WALReader.headerLength)) / Int64(reader.frameLength)
            frame = try scan(&reader, through: UInt32(clamping: most))
        }
        try writer.reserve(through: frame)
        var pages = [UInt32](repeating: 0, count: Int(frame))
        let length = WALReader.frameHeaderLength + pageSize
        for number in 0..<Int(frame) {
            let bytes = try log.read(at: Int64(WALReader.headerLength) + Int64(number) * Int64(length), count: 4)
            pages[number] = bytes.word(0)
        }
        for (number, page) in pages.enumerated() { try writer.append(UInt32(number) + 1, page: page) }
        storeHeader()
        index.setBackfilled(0)
        index.setAttempted(frame)
        index.setMark(0, to: 0)
        for mark in 1..<IndexLock.markCount where try file.lockSlot(IndexLock.read(mark), exclusively: true) {
            index.setMark(mark, to: mark == 1 && frame > 0 ? frame : WALIndex.unused)
            file.unlockSlot(IndexLock.read(mark))
        }
    }

    /// Removes frames that were not committed: later ones are written over them, and must not continue into them.
    private func dropTail() throws {
        let end = frame == 0 ? 0 : offset(frame + 1)
        if try log.size() > end { try log.truncate(to: end) }
        hasTail = false
    }

    private func storeHeader() {
        commits &+= 1
        WALIndexHeader(
            commits: commits, frame: frame, pages: pageCount, sums: sums, salts: salts, log: (pageSize, bigEndian)
        ).store(index.region, barrier: file.barrier)
    }

    // MARK: Writing

    /// Commits pages: readers see all of them or none.
    ///
    /// - Parameter announce: called with the position that the commit will have, before anything of it could be recovered after a
    ///   crash.
    /// - Throws: `VaultError` `noSpace`, `io`; what `announce` throws. Readers see the previous commit then.
    package func commit(_ pages: NewestPages, announce: (LogPosition, [UInt32]) throws -> Void) throws {
        if hasTail { try dropTail() }
        try restartLog()
        let numbers = pages.numbers
        guard let last = numbers.last, let total = UInt32(exactly: numbers.count),
            total < UInt32.max / 4 - min(frame, UInt32.max / 4)
        else { throw VaultError(.unsupported, "the log is too long for another commit", path: path) }
        hasTail = true
        if frame == 0 { try writeLogHeader() }
        try writer.reserve(through: frame + total)
        var (number, running) = (frame, sums)
        for page in numbers {
            number += 1
            let bytes = try frameBytes(page, size: page == last ? pages.pageCount : 0, pages.page(page), &running)
            if page == last { try announce(LogPosition(salts: salts, frame: number), running) }
            try log.write(bytes, at: offset(number))
        }
        try log.sync()
        for (place, page) in numbers.enumerated() { try writer.append(frame + UInt32(place) + 1, page: page) }
        for (place, page) in numbers.enumerated() { frames[page] = frame + UInt32(place) + 1 }
        (frame, sums, pageCount) = (number, running, pages.pageCount)
        hasTail = false
        storeHeader()
    }

    /// Leaves the database as SQLite does: with all of the log in the file and without a log, if nobody has it open; otherwise with
    /// the log, which the others continue with.
    ///
    /// Every failure is that of tidying up only: the database is complete with its log. It must not be used afterwards.
    package func finish() {
        defer { file.unlock() }
        guard !hasTail, (try? checkpoint()) == true || frame == 0, (try? file.lockExclusive()) == true else { return }
        unlink(log.path)
        file.removeIndex()
    }

    private func frameBytes(_ page: UInt32, size: UInt32, _ content: [UInt8], _ sums: inout [UInt32]) throws -> [UInt8]
    {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24 + content.count)
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        put(page)
        put(size)
        put(salts)
        lv_wal_checksum(bigEndian, bytes, 8, &sums)
        lv_wal_checksum(bigEndian, content, content.count, &sums)
        put(sums[0])
        put(sums[1])
        return bytes + content
    }

    private func writeLogHeader() throws {
        // As SQLite does; a log that was restarted has its salts already.
        if checkpoints == 0 { salts = UInt64.random(in: 0...UInt64.max) }
        bigEndian = WALIndexHeader.isBigEndian
        var bytes: [UInt8] = []
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        let words: [UInt32] = [bigEndian ? 0x377f_0683 : 0x377f_0682, 3_007_000, UInt32(pageSize), checkpoints]
        words.forEach { put($0) }
        put(salts)
        sums = [0, 0]
        lv_wal_checksum(bigEndian, bytes, 24, &sums)
        sums.forEach { put($0) }
        try log.write(bytes, at: 0)
        try log.sync()
    }

    /// Begins the log again from its start, if all of it is checkpointed and no reader needs it.
    private func restartLog() throws {
        guard frame > 0, index.backfilled == frame else { return }
        var held: [Int32] = []
        defer { held.forEach(file.unlockSlot) }
        for mark in 1..<IndexLock.markCount {
            guard try file.lockSlot(IndexLock.read(mark), exclusively: true) else { return }
            held.append(IndexLock.read(mark))
        }
        checkpoints &+= 1
        (frame, frames) = (0, [:])
        // New salts, so that nothing that is left of the log before can pass for its frames.
        salts = UInt64(UInt32(truncatingIfNeeded: salts >> 32) &+ 1) << 32 | UInt64(UInt32.random(in: 0...UInt32.max))
        storeHeader()
        index.setBackfilled(0)
        index.setAttempted(0)
        index.setMark(1, to: 0)
        for mark in 2..<IndexLock.markCount { index.setMark(mark, to: WALIndex.unused) }
    }

    /// Copies the log into the database file, unless readers still need an earlier state.
    ///
    /// - Returns: whether all of it is in the file now.
    /// - Throws: `VaultError` `noSpace`, `io`. The log is complete then, and the file is read with it.
    package func checkpoint() throws -> Bool {
        guard frame > 0, index.backfilled < frame else { return index.backfilled == frame }
        for mark in 1..<IndexLock.markCount where index.mark(mark) < frame {
            // A mark that nobody holds is moved out of the way.
            guard try file.lockSlot(IndexLock.read(mark), exclusively: true) else { return false }
            index.setMark(mark, to: mark == 1 ? frame : WALIndex.unused)
            file.unlockSlot(IndexLock.read(mark))
        }
        // Readers of the file alone.
        guard try file.lockSlot(IndexLock.read(0), exclusively: true) else { return false }
        defer { file.unlockSlot(IndexLock.read(0)) }
        index.setAttempted(frame)
        for number in frames.keys.sorted() where number <= pageCount {
            let bytes = try page(number)
            try bytes.withUnsafeBytes { try file.write($0, at: Int64(number - 1) * Int64(pageSize)) }
        }
        try file.truncate(to: Int64(pageCount) * Int64(pageSize))
        try file.sync()
        index.setBackfilled(frame)
        return true
    }
}

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
