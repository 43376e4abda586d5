internal import LiteVaultEngine

extension Connection {
    /// Calls a closure with the text of each statement that begins to run, values included (`sqlite3_trace_v2`,
    /// `sqlite3_expanded_sql`).
    ///
    /// Keys are never part of it: statements that may carry one are shown with their literals replaced and without
    /// bound values. The connection must not be used in the closure.
    ///
    /// - Parameter callback: nil removes it.
    public func trace(_ callback: ((String) -> Void)?) {
        reading { db in
            hooks.trace = callback
            installTrace(db)
        }
    }

    /// Under the lock.
    func installTrace(_ db: OpaquePointer) {
        guard hooks.trace != nil || hooks.observer != nil else {
            sqlite3_trace_v2(db, 0, nil, nil)
            hooks.tracing = nil
            return
        }
        let user = hooks.trace
        let observer = hooks.observer
        let box = HookBox(self) { (start: StatementStart) in
            observer?.willRun(start.text)
            guard let user else { return }
            user(tracedText(of: start.statement, unexpanded: String(cString: start.text)))
        }
        sqlite3_trace_v2(
            db, UInt32(SQLITE_TRACE_STMT),
            { _, context, statement, text in
                guard let statement, let text else { return 0 }
                HookBox<StatementStart, Void>.call(
                    context,
                    StatementStart(
                        statement: OpaquePointer(statement), text: text.assumingMemoryBound(to: CChar.self)))
                return 0
            }, box.pointer)
        hooks.tracing = box
    }
}

private struct StatementStart {
    let statement: OpaquePointer
    let text: UnsafePointer<CChar>
}

private func tracedText(of statement: OpaquePointer, unexpanded: String) -> String {
    // The start of a trigger's statement is announced as a comment.
    if unexpanded.hasPrefix("--") { return SQLRedaction.redacted(unexpanded) }
    let redacted = SQLRedaction.redacted(unexpanded)
    // A key that is bound to ATTACH shows only in the expanded text, and it can stand under any parameter.
    guard redacted == unexpanded, !SQLRedaction.mayBindKey(unexpanded), let expanded = sqlite3_expanded_sql(statement)
    else { return redacted }
    defer { sqlite3_free(expanded) }
    return String(cString: expanded)
}
