internal import LiteVaultEngine

// The engine has one authorizer per connection (`sqlite3_set_authorizer`), called while a statement is prepared. All of
// its clients are in here.

/// The clients of the authorizer: those that may reject statements, and those that are notified.
final class Authorizer {
    var refusesKeys = false
    /// Rejects what changes settings; nil rejects nothing.
    fileprivate var settingsGuard: SettingsGuard?
    /// The pragma that the guard rejected last.
    fileprivate var refusedPragma: ProtectedPragma?
    /// Above 0 while this library's own statements may access keys, whatever is set for others.
    fileprivate var trust = 0
    var reads: ReadCollector?
    var writes: WriteCollector?
    /// Notified of changes of the schema.
    var observer: (any ConnectionObserver)?

    /// Whether it has any client.
    var isNeeded: Bool {
        refusesKeys || settingsGuard != nil || reads != nil || writes != nil || observer != nil
    }
}

/// The name of a table, as compared by SQLite: ignoring the case of ASCII letters.
package struct TableName: Hashable, Sendable {
    /// `main`, `temp` or the name of an attached database, with A to Z in lower case.
    package let schema: String
    /// With A to Z in lower case.
    package let table: String

    package init(_ table: String, schema: String) {
        self.schema = foldedName(schema)
        self.table = foldedName(table)
    }

    package static func == (left: TableName, right: TableName) -> Bool {
        isSameText(left.table, right.table) && isSameText(left.schema, right.schema)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(table))
        hasher.combine(ExactText(schema))
    }
}

extension Connection {
    /// Installs the authorizer, or removes it when it has no clients. Called under the lock.
    ///
    /// Installing it makes the engine prepare every statement again before its next step, so that nothing escapes it.
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
    // The connection retains it until the engine may call another one.
    let authorizer = ObjectAddress.object(context, as: Authorizer.self)
    authorizer.reads?.note(action, first, second, schema)
    authorizer.writes?.note(action, first, second, schema, origin)
    if let observer = authorizer.observer, let change = SchemaChange(action, first, second, schema) {
        observer.willChangeSchema(change)
    }
    guard authorizer.trust == 0 else { return SQLITE_OK }
    if action == SQLITE_PRAGMA, authorizer.refusesSetting(first, second) { return SQLITE_DENY }
    return authorizer.refusesKeys && refusesKeyStatement(action, first, second) ? SQLITE_DENY : SQLITE_OK
}

extension Connection {
    /// Whether SQL is kept from accessing keys: while true, statements that set or change a key or a cipher setting,
    /// attach a database, export into one, or move temporary data to files fail with `SQLITE_AUTH`
    /// (`sqlite3_set_authorizer`).
    ///
    /// Set it before running untrusted SQL. It replaces an authorizer installed through ``withHandle(_:)``, and applies
    /// to statements prepared afterwards; cached statements are dropped.
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

    /// What SQL that a person or a script gives may not change, with `SQLITE_AUTH`; nil, the default, rejects nothing. As
    /// ``refusesKeyStatements``, it applies to statements prepared afterwards.
    package var settingsGuard: SettingsGuard? {
        get { reading { _ in authorizer.settingsGuard } ?? nil }
        set {
            reading { db in
                authorizer.settingsGuard = newValue
                finalizeCache()
                installAuthorizer(db)
            }
        }
    }

    /// The pragma that ``settingsGuard`` rejected last; nil if it has rejected none.
    package var refusedPragma: ProtectedPragma? { reading { _ in authorizer.refusedPragma } ?? nil }

    /// Runs a block of this library that may access keys, whatever is set for others. Called under the lock.
    func trusted<T>(_ body: () throws -> T) rethrows -> T {
        authorizer.trust += 1
        defer { authorizer.trust -= 1 }
        return try body()
    }
}

extension Authorizer {
    /// Whether the guard rejects a pragma, which it remembers then.
    fileprivate func refusesSetting(_ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?) -> Bool {
        guard let settingsGuard, let name, let pragma = ProtectedPragma(String(cString: name)),
            settingsGuard.refuses(pragma, value: value.map { String(cString: $0) })
        else { return false }
        refusedPragma = pragma
        return true
    }
}

private let refusedFunctions: Set<String> = ["sqlcipher_export", "load_extension"]

private func refusesKeyStatement(
    _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?
) -> Bool {
    func name(_ text: UnsafePointer<CChar>?) -> String { text.map { foldedName(String(cString: $0)) } ?? "" }
    switch action {
    case SQLITE_ATTACH: return true
    case SQLITE_PRAGMA:
        guard let pragma = ProtectedPragma(name(first)) else { return false }
        // A plaintext database does not have it.
        return pragma.subject != .pageSize
    case SQLITE_FUNCTION: return refusedFunctions.contains(name(second))
    default: return false
    }
}

/// The object that a schema change affects.
package enum SchemaChange {
    /// One table: it is created or dropped, its columns change, or one of its indexes or triggers does.
    case table(TableName)
    /// An object by which other names may change their meaning: a view, a temporary object, a virtual table.
    case anything

    /// Nil if the schema is not changed.
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
        // The only action that has the database first.
        case SQLITE_ALTER_TABLE: self = table(second, in: first)
        case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_INDEX,
            SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_VIEW, SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_INDEX,
            SQLITE_CREATE_VIEW, SQLITE_DROP_VIEW, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
            self = .anything
        default: return nil
        }
    }
}
