internal import LiteVaultEngine

// The engine has one authorizer for each connection (`sqlite3_set_authorizer`), which is asked while a statement is prepared.
// Whatever wants to be asked is in here.

/// Who may refuse what statements are about to do, and who is notified of it.
final class Authorizer {
    /// Whether statements about keys are refused.
    var refusesKeys = false
    /// Above 0 while this library's own statements may ask about keys whatever others may.
    fileprivate var trust = 0
    /// Records what is read.
    var reads: ReadCollector?
    /// Records what is written.
    var writes: WriteCollector?
    /// Notified of changes of the schema.
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
        sqlite3_set_authorizer(db, authorize, ObjectAddress.unretained(authorizer))
    }
}

private func authorize(
    context: UnsafeMutableRawPointer?, action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    schema: UnsafePointer<CChar>?, origin: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_OK }
    // The connection keeps it until the engine has another one.
    let authorizer = ObjectAddress.object(context, as: Authorizer.self)
    authorizer.reads?.note(action, first, second, schema)
    authorizer.writes?.note(action, first, second, schema, origin)
    if let observer = authorizer.observer, let change = SchemaChange(action, first, second, schema) {
        observer.willChangeSchema(change)
    }
    guard authorizer.refusesKeys, authorizer.trust == 0 else { return SQLITE_OK }
    return refusesKeyStatement(action, first, second) ? SQLITE_DENY : SQLITE_OK
}

extension Connection {
    /// Whether SQL is kept from touching keys: while set, statements that set or change a key or a cipher setting, that
    /// attach a database, export into one, or move temporary data to files are refused with `SQLITE_AUTH`
    /// (`sqlite3_set_authorizer`).
    ///
    /// Set it before running SQL that somebody else wrote. It takes the place of an authorizer that was installed
    /// through ``withHandle(_:)``, and concerns what is prepared after it was set; prepared statements of the cache are dropped.
    public var refusesKeyStatements: Bool {
        get { reading { _ in authorizer.refusesKeys } ?? false }
        set {
            reading { db in
                authorizer.refusesKeys = newValue
                finalizeCache()
                installAuthorizer(db)
            }
        }
    }

    /// Runs a block of this library's own, which may ask about keys whatever others may. Under the lock.
    func trusted<T>(_ body: () throws -> T) rethrows -> T {
        authorizer.trust += 1
        defer { authorizer.trust -= 1 }
        return try body()
    }
}

/// `cipher_…` pragmas are recognised by their prefix.
private let refusedPragmas: Set<String> = SQLRedaction.keyPragmas.union([
    "cipher", "rekey_cipher", "kdf_iter", "fast_kdf_iter", "rekey_kdf_iter", "temp_store", "temp_store_directory",
    "writable_schema", "data_store_directory",
])

private let refusedFunctions: Set<String> = ["sqlcipher_export", "load_extension"]

/// Whether an action that the engine reports to the authorizer concerns keys.
private func refusesKeyStatement(
    _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?
) -> Bool {
    func name(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0).lowercased() } ?? "" }
    switch action {
    case SQLITE_ATTACH: return true
    case SQLITE_PRAGMA:
        let pragma = name(first)
        return refusedPragmas.contains(pragma) || pragma.hasPrefix("cipher_")
    case SQLITE_FUNCTION: return refusedFunctions.contains(name(second))
    default: return false
    }
}

/// What a statement that changes the schema is about.
package enum SchemaChange {
    /// One table: it comes, goes or gets other columns, or an index or a trigger of it does.
    case table(TableName)
    /// Something by which other names may get another meaning: a view, a temporary object, a virtual table.
    case anything

    /// nil: the schema is not changed.
    init?(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?
    ) {
        func table(_ name: UnsafePointer<CChar>?, in schema: UnsafePointer<CChar>?) -> SchemaChange {
            guard let name else { return .anything }
            return .table(TableName(String(cString: name), schema: schema.map { String(cString: $0) } ?? "main"))
        }
        switch action {
        case SQLITE_CREATE_TABLE, SQLITE_DROP_TABLE: self = table(first, in: schema)
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_DROP_TRIGGER:
            self = table(second, in: schema)
        // Alone in naming the database first.
        case SQLITE_ALTER_TABLE: self = table(second, in: first)
        case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_INDEX,
            SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_VIEW, SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_INDEX,
            SQLITE_CREATE_VIEW, SQLITE_DROP_VIEW, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
            self = .anything
        default: return nil
        }
    }
}
