internal import LiteVaultEngine

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
