import Foundation
import LiteVault
import LiteVaultTestSupport

extension Scratch {
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

/// Runs something that may wait on a thread of its own: those of Dispatch are few, and tasks need them.
func background(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }
