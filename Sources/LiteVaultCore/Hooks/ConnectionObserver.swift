/// Is told what changes on a connection. All of it is called inside callbacks of the engine, on the thread that runs the
/// statement and under the connection's lock: the connection must not be used.
package protocol ConnectionObserver: AnyObject {
    /// A statement begins to run (`SQLITE_TRACE_STMT`), not one of a trigger.
    ///
    /// - Parameter isNested: tells whether another statement that writes is in the middle of its work.
    func willRun(_ sql: UnsafePointer<CChar>, isNested: () -> Bool)
    /// A statement that changes the schema is prepared (`sqlite3_set_authorizer`).
    func willChangeSchema(_ change: SchemaChange)
    /// A row was changed (`sqlite3_update_hook`, with what that leaves out).
    func didChange(
        _ operation: Connection.Operation, schema: UnsafePointer<CChar>, table: UnsafePointer<CChar>, rowid: Int64)
    /// The transaction is about to be committed, which may still fail.
    func willCommit()
    /// The transaction was rolled back.
    func didRollBack()
}
