internal import LiteVaultEngine

extension Connection {
    /// How long a call waits for locks of other connections, in seconds, before it fails with `SQLITE_BUSY`
    /// (`sqlite3_busy_timeout`). 0 by default: not at all. Setting it replaces a busy handler.
    public var busyTimeout: Double {
        get { reading { _ in timeout } ?? 0 }
        set {
            reading { db in
                hooks.busy = nil
                // Below zero and not a number have no meaning, and milliseconds are counted in 32 bits: 24 days.
                timeout = newValue > 0 ? newValue : 0
                sqlite3_busy_timeout(db, Int32(Swift.min(timeout * 1000, 2_147_483_647)))
            }
        }
    }

    /// Asks a closure what to do when another connection holds a lock (`sqlite3_busy_handler`).
    ///
    /// Replaces the busy timeout, as setting that replaces the handler: the later one counts.
    ///
    /// - Parameter callback: given how often it was asked before for this lock; returns whether to try again. It must
    ///   not use the connection. nil: calls fail at once.
    public func busyHandler(_ callback: ((Int) -> Bool)?) {
        reading { db in
            timeout = 0
            guard let callback else {
                sqlite3_busy_handler(db, nil, nil)
                hooks.busy = nil
                return
            }
            let box = HookBox(self) { (count: Int32) in callback(Int(count)) }
            sqlite3_busy_handler(
                db,
                { context, count in
                    HookBox<Int32, Bool>.call(context, count) ? 1 : 0
                }, box.pointer)
            hooks.busy = box
        }
    }
}
