internal import LiteVaultEngine
internal import LiteVaultSystem

extension Connection {
    /// Calls a closure with the text of each statement that starts, including values (`sqlite3_trace_v2`,
    /// `sqlite3_expanded_sql`).
    ///
    /// The text never contains keys: statements that may contain one are passed with their literals replaced and
    /// without bound values. The connection must not be used in the closure.
    ///
    /// - Parameter callback: nil removes the trace.
    package func setTrace(_ callback: ((String) -> Void)?) {
        reading { db in
            hooks.trace = callback
            installTrace(db)
        }
    }

    /// Called under the lock.
    func installTrace(_ db: OpaquePointer) {
        let reads = authorizer.reads
        guard hooks.trace != nil || hooks.observer != nil || reads != nil else {
            sqlite3_trace_v2(db, 0, nil, nil)
            hooks.tracing = nil
            return
        }
        let user = hooks.trace
        let observer = hooks.observer
        let box = HookBox(self) { (start: StatementStart) in
            if start.isOfStatement, let sql = sqlite3_sql(start.statement) {
                reads?.noteStatement(sql)
                observer?.willRun(sql) { isWriting(db, besides: start.statement) }
            }
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

    /// Whether it is not a statement of a trigger, which is announced by the statement that fired it, with another
    /// text. A statement inside another one is announced as a comment: "-- " and its text.
    var isOfStatement: Bool {
        guard let sql = sqlite3_sql(statement) else { return false }
        return text == sql || strncmp(text, "-- ", 3) == 0 && strcmp(text + 3, sql) == 0
    }
}

/// Whether a writing statement is in progress. It only inspects the statements.
private func isWriting(_ db: OpaquePointer, besides excluded: OpaquePointer) -> Bool {
    Connection.busyStatements(of: db).contains { $0 != excluded && sqlite3_stmt_readonly($0) == 0 }
}

private func tracedText(of statement: OpaquePointer, unexpanded: String) -> String {
    // The start of a trigger's statement is announced as a comment.
    if unexpanded.hasPrefix("--") { return SQLRedaction.redacted(unexpanded) }
    let redacted = SQLRedaction.redacted(unexpanded)
    // A key bound to ATTACH appears only in the expanded text, and any parameter may be one.
    guard redacted == unexpanded, !SQLRedaction.mayBindKey(unexpanded), let expanded = sqlite3_expanded_sql(statement)
    else { return redacted }
    defer { sqlite3_free(expanded) }
    return String(cString: expanded)
}
