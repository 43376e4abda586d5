import Foundation
import LiteVault

/// A directory of its own, removed with the object.
final class Scratch: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-pool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// A pool over a new file with a table `t (id INTEGER PRIMARY KEY, a)` and rows 1 to 3.
    func pool(
        key: DatabaseKey? = nil, settings: CipherSettings = .init(), configuration: DatabaseConfiguration = .init()
    ) throws -> DatabasePool {
        let pool = try DatabasePool(path("db"), key: key, settings: settings, configuration: configuration)
        try pool.write { try $0.execute(Scratch.content) }
        return pool
    }

    static let content = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t (a) VALUES ('x'), ('y'), ('z')"
}

extension Connection {
    /// The number of rows of `t`.
    func count() throws -> Int { try first("SELECT count(*) FROM t") { try $0.get(0, as: Int.self) } ?? -1 }

    func insert(_ text: String) throws { try run("INSERT INTO t (a) VALUES (?)", with: text) }
}

enum Engine {
    static let encrypts = EngineInfo.linked.encryption != .none
    static let isVersion3 = EngineInfo.linked.sqlcipherMajorVersion == 3
}

/// Settings that derive a key fast.
let fast = CipherSettings(kdfIterations: 100)

struct Refused: Error {}

/// Something that one side waits for and the other brings about.
final class Event: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func signal() { semaphore.signal() }
    /// Whether it was signalled within 15 minutes. The task that signals it may wait for most other tests.
    func wait() -> Bool { semaphore.wait(timeout: .now() + 900) == .success }
}

/// Waits without a thread until a condition holds; false after 2000 looks.
///
/// It counts looks, not time: all tests share few threads for tasks, so a task that the condition needs may start minutes
/// later, and then each look is as late.
func eventually(_ condition: @Sendable () throws -> Bool) async rethrows -> Bool {
    for _ in 0..<2000 {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return false
}

/// Runs something that may wait on a thread of its own: those of Dispatch are few, and tasks need them.
func background(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }
