internal import LiteVaultEngine

// The engine has one authorizer for each connection (`sqlite3_set_authorizer`), which is asked while a statement is prepared.
// Whatever wants to be asked is in here.

/// Who is asked, or told, what statements are about to do.
final class Authorizer {
    /// Whether statements about keys are refused.
    var refusesKeys = false
    /// Above 0 while this library's own statements may ask about keys whatever others may.
    var trust = 0
    /// Told of what is read.
    var reads: ReadCollector?
    /// Told of what is written.
    var writes: WriteCollector?
    /// Told of changes of the schema.
    var observer: (any ConnectionObserver)?

    fileprivate var isNeeded: Bool { refusesKeys || reads != nil || writes != nil || observer != nil }
}

/// A table, as SQLite tells tables apart: without regard to the case of ASCII letters.
package struct TableName: Hashable, Sendable {
    /// `main`, `temp` or the name of an attached database, in lower case.
    package let schema: String
    /// In lower case.
    package let table: String

    /// A table by the names that were given it.
    package init(_ table: String, schema: String) {
        self.schema = schema.lowercased()
        self.table = table.lowercased()
    }
}

extension Connection {
    /// Gives the engine the authorizer, or takes it away when nobody is to be asked. Under the lock.
    ///
    /// Giving it has every statement prepared again before its next step, so that nothing escapes it.
    func installAuthorizer(_ db: OpaquePointer) {
        guard authorizer.isNeeded else {
            sqlite3_set_authorizer(db, nil, nil)
            return
        }
        sqlite3_set_authorizer(db, authorize, Unmanaged.passUnretained(authorizer).toOpaque())
    }
}

private func authorize(
    context: UnsafeMutableRawPointer?, action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    schema: UnsafePointer<CChar>?, origin: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_OK }
    // The connection keeps it for as long as the engine has it.
    let authorizer = Unmanaged<Authorizer>.fromOpaque(context).takeUnretainedValue()
    authorizer.reads?.note(action, first, second, schema)
    authorizer.writes?.note(action, first, second, schema, origin)
    if let observer = authorizer.observer, let change = SchemaChange(action, first, second, schema) {
        observer.willChangeSchema(change)
    }
    guard authorizer.refusesKeys, authorizer.trust == 0 else { return SQLITE_OK }
    return refusesKeyStatement(action, first, second) ? SQLITE_DENY : SQLITE_OK
}
