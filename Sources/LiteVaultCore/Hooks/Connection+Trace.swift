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
            guard let callback else {
                sqlite3_trace_v2(db, 0, nil, nil)
                hooks.trace = nil
                return
            }
            let box = HookBox(self) { (sql: String) in callback(sql) }
            sqlite3_trace_v2(
                db, UInt32(SQLITE_TRACE_STMT),
                { _, context, statement, text in
                    guard let statement, let text else { return 0 }
                    let unexpanded = String(cString: text.assumingMemoryBound(to: CChar.self))
                    HookBox<String, Void>.call(
                        context, tracedText(of: OpaquePointer(statement), unexpanded: unexpanded))
                    return 0
                }, box.pointer)
            hooks.trace = box
        }
    }
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
