import LiteVault
import ServiceLifecycle

/// Stands for a web server: takes an order every few milliseconds, until it is shut down.
struct OrderService: Service {
    let pool: DatabasePool

    init(_ pool: DatabasePool) throws {
        self.pool = pool
        try pool.write { db in
            try db.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)")
        }
    }

    func run() async throws {
        // Nobody waits for the sleep to end.
        try? await cancelWhenGracefulShutdown {
            while true {
                try await pool.write { db in _ = try db.run("INSERT INTO orders (item) VALUES ('a painting')") }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    func count() async throws -> Int {
        try await pool.read { db in try db.value("SELECT count(*) FROM orders", as: Int.self) }
    }
}
