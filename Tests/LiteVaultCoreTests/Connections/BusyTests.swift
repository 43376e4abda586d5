import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct BusyTests {
    let scratch: Scratch
    let db: Connection
    let holder: Connection

    init() throws {
        scratch = Scratch()
        let path = try scratch.database()
        db = try Connection(path)
        holder = try Connection(path)
        try holder.execute("BEGIN EXCLUSIVE")
    }

    /// How long a blocked read took until it failed as busy.
    private func waited() -> Duration {
        let start = ContinuousClock.now
        let error = #expect(throws: DatabaseError.self) { try db.number("SELECT count(*) FROM t") }
        #expect(error?.resultCode == .busy)
        return ContinuousClock.now - start
    }

    /// Whether a blocked read fails at once. A busy machine may stop one for a while, but not every one of twenty, and a timeout would
    /// hold for all of them.
    private func failsAtOnce() -> Bool { (1...20).contains { _ in waited() < .seconds(0.2) } }

    @Test func `by default a call does not wait for a lock`() {
        #expect(db.lockTimeout == .seconds(0))
        #expect(failsAtOnce())
    }

    @Test func `a timeout is how long a call waits`() {
        db.lockTimeout = .seconds(0.3)
        #expect(db.lockTimeout == .seconds(0.3))
        #expect(waited() > .seconds(0.25))
    }

    @Test func `a call within its timeout continues once the lock is released`() throws {
        db.lockTimeout = .seconds(600)
        let thread = BackgroundThread { [holder] in
            Thread.sleep(forTimeInterval: 0.1)
            try? holder.execute("ROLLBACK")
        }
        #expect(try db.number("SELECT count(*) FROM t") == 3)
        #expect(thread.join())
    }

    @Test(arguments: [-1, -Double.infinity, .nan, -0.0, 0.0001])
    func `a meaningless timeout counts as none`(seconds: Double) {
        db.lockTimeoutSeconds = seconds
        #expect(db.lockTimeoutSeconds >= 0 && db.lockTimeoutSeconds < 0.001)
        #expect(failsAtOnce())
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e12, 3_000_000])
    func `a timeout beyond all measure waits, and does not trap`(seconds: Double) throws {
        db.lockTimeoutSeconds = seconds
        let thread = BackgroundThread { [holder] in
            Thread.sleep(forTimeInterval: 0.05)
            try? holder.execute("ROLLBACK")
        }
        #expect(try db.number("SELECT count(*) FROM t") == 3)
        #expect(thread.join())
    }

    @Test func `a handler receives the number of previous calls, until it returns false`() {
        let counts = Shared<[Int]>([])
        db.setBusyHandler { count in
            counts.update { $0.append(count) }
            return count < 3
        }
        _ = waited()
        #expect(counts.value == [0, 1, 2, 3])
    }

    @Test func `a handler set after a timeout replaces it`() {
        db.lockTimeout = .seconds(600)
        db.setBusyHandler { _ in false }
        #expect(waited() < .seconds(500))
        #expect(db.lockTimeout == .seconds(0))
    }

    @Test func `a timeout set after a handler replaces it`() {
        let asked = Shared(0)
        db.setBusyHandler { _ in
            asked.update { $0 += 1 }
            return true
        }
        db.lockTimeout = .seconds(0.05)
        _ = waited()
        #expect(asked.value == 0)
    }

    @Test func `removing a handler makes calls fail at once`() {
        db.setBusyHandler { _ in true }
        db.setBusyHandler(nil)
        #expect(failsAtOnce())
    }

    @Test func `the connection cannot be used in a handler, and is fine afterwards`() throws {
        let failure = Shared<DatabaseError?>(nil)
        db.setBusyHandler { [unowned db] _ in
            do { try db.run("SELECT 1") } catch { failure.update { $0 = error as? DatabaseError } }
            #expect(throws: DatabaseError.self) { try db.close() }
            #expect(throws: DatabaseError.self) { try db.execute("SELECT 1") }
            return false
        }
        _ = waited()
        #expect(failure.value?.resultCode == .misuse)
        try holder.execute("ROLLBACK")
        #expect(try db.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `a handler can be replaced while it runs`() {
        db.setBusyHandler { [unowned db] _ in
            db.lockTimeout = .seconds(0)
            return false
        }
        _ = waited()
        #expect(failsAtOnce())
    }
}
