import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A database in a directory of its own: encrypted where the engine encrypts, plain where it does not.
final class LiveDatabase {
    static let hexKey = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99"
    static let encrypts = EngineInfo.linked.encrypts

    private let scratch = Scratch()
    var directory: String { scratch.directory }
    let path: String
    let settings: CipherSettings

    init(pageSize: Int? = nil) throws {
        path = scratch.path("live.db")
        // In pages of 512 bytes there is no room for an authentication code.
        settings = pageSize.map { CipherSettings(pageSize: $0, usesHMAC: $0 > 512) } ?? CipherSettings()
        plainPageSize = pageSize
    }

    private let plainPageSize: Int?

    func open(_ mode: Connection.JournalMode? = nil, at path: String? = nil) throws -> Connection {
        let path = path ?? self.path
        guard Self.encrypts else {
            let db = try Connection(path)
            if let plainPageSize { try db.execute("PRAGMA page_size = \(plainPageSize)") }
            if let mode { try db.setPragma(.journalMode, to: mode) }
            return db
        }
        return try Connection(path, key: .hex(Self.hexKey), settings: settings, journalMode: mode)
    }

    /// A table with `rows` rows of 500 bytes, all of value 1.
    func fill(_ db: Connection, rows: Int) throws {
        try db.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v INTEGER, filler BLOB)")
        try db.execute("BEGIN")
        for _ in 0..<rows { try db.execute("INSERT INTO t (v, filler) VALUES (1, randomblob(500))") }
        try db.execute("COMMIT")
    }

    func bytes(_ suffix: String = "") throws -> [UInt8] {
        // By another process: a descriptor closed in this one would drop SQLite's locks.
        let name = directory + "/read-" + UUID().uuidString
        try copy(path + suffix, to: name)
        defer { try? FileManager.default.removeItem(atPath: name) }
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: name)))
    }

    func exists(_ suffix: String) -> Bool { FileManager.default.fileExists(atPath: path + suffix) }

    /// A copy of the files on disk, as a crash would leave them.
    func crash(_ suffixes: [String]) throws -> LiveDatabase {
        let other = try LiveDatabase(pageSize: plainPageSize)
        for suffix in suffixes { try copy(path + suffix, to: other.path + suffix) }
        return other
    }

    /// Writes an older state over the database in place, as `cp` does: its inode stays.
    ///
    /// - Parameter keepsTime: whether the file gets the time of the older one (`cp -p`), which was written an hour ago.
    func overwrite(with bytes: [UInt8], keepsTime: Bool = false) throws {
        let name = directory + "/older-" + UUID().uuidString
        try Data(bytes).write(to: URL(fileURLWithPath: name))
        defer { try? FileManager.default.removeItem(atPath: name) }
        try FileManager.default.setAttributes([.modificationDate: Date() - 3600], ofItemAtPath: name)
        // The kernel's clock ticks every four milliseconds, or ten.
        usleep(30_000)
        try run("/bin/cp", (keepsTime ? ["-p"] : []) + [name, path])
    }

    private func copy(_ source: String, to target: String) throws { try run("/bin/cp", [source, target]) }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// Writes an image beside the database, checks everything that can be checked of it, and opens it.
    func restore(_ image: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> Connection {
        let name = directory + "/image-" + UUID().uuidString + ".db"
        try Data(image).write(to: URL(fileURLWithPath: name))
        let key = Self.encrypts ? try DatabaseKey.hex(Self.hexKey) : nil
        let report = try DatabaseFile(name).verify(key: key, settings: settings)
        #expect(report.isIntact, "\(report.problems)", sourceLocation: sourceLocation)
        return try open(at: name)
    }
}

/// Keeps an image in memory, and says how often one was begun.
struct ImageSink: BlockSink {
    var bytes: [UInt8] = []
    var begun = 0
    private var expected: Int64 = 0

    mutating func begin(byteCount: Int64) {
        bytes = []
        expected = byteCount
        begun += 1
    }

    mutating func append(_ blocks: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: blocks)
        #expect(blocks.count % blockSize == 0 || Int64(bytes.count) == expected)
    }
}

/// Calls a body the first time that it is asked to.
final class Once: @unchecked Sendable {  // used by one thread
    private var done = false

    func callAsFunction(_ body: () throws -> Void) rethrows {
        guard !done else { return }
        done = true
        try body()
    }
}

func capture(
    _ path: String, limits: CaptureLimits = .init(), observe: ((CaptureEvent) throws -> Void)? = nil
) throws -> (image: [UInt8], report: CaptureReport) {
    var sink = ImageSink()
    let report = try Capture(path, limits: limits, observe: observe).run(into: &sink)
    #expect(report.byteCount == Int64(sink.bytes.count))
    #expect(report.start == Array(sink.bytes.prefix(16)))
    return (sink.bytes, report)
}

extension Connection {
    func number(_ sql: String) throws -> Int64 { try value(SQL(sql: sql), as: Int64?.self) ?? -1 }
}

extension LiveDatabase {
    /// More rows, in the transaction that is open.
    func fillInTransaction(_ db: Connection, rows: Int) throws {
        for _ in 0..<rows { try db.execute("INSERT INTO t (v, filler) VALUES (1, randomblob(500))") }
    }
}
