public import LiteVaultCore
internal import LiteVaultQuery

/// The text of schema statements. They take no parameters: values are written into them.
enum SchemaText {
    /// - Throws: `VaultError` `misplacedValue` if a value is in a position where its literal would be misread.
    static func text(of node: SQLNode, dates: DateStorage) throws -> String {
        var builder = SQLBuilder()
        builder.append(node)
        let places = SQLTokens(builder.sql).filter { $0.kind == .parameter && $0.text == "?" }
        guard places.count == builder.bindings.count else {
            throw VaultError(
                .misplacedValue, "a value is inside quotes or a comment, or a ? has no value: \(builder.sql)")
        }
        return LiteralSQL.text(builder.sql, builder.bindings, dates: dates)
    }
}

extension SQLNode {
    static func names(_ names: [String]) -> SQLNode {
        .wrapped("", .joined(names.map(SQLNode.identifier), separator: ", "))
    }

    /// The name of a table with columns of it: `"team"("id")`.
    static func names(_ columns: [String], of table: String) -> SQLNode {
        .joined([.identifier(table), names(columns)], separator: "")
    }

    /// A name, qualified by its database: `"archive"."player"`.
    static func identifier(_ name: String, in schemaName: String?) -> SQLNode {
        guard let schemaName else { return .identifier(name) }
        return .joined([.identifier(schemaName), .identifier(name)], separator: ".")
    }

    /// The node without its enclosing parentheses, if nothing follows them.
    var withoutParentheses: SQLNode {
        switch kind {
        case .operation(let lhs, let name, let rhs): return .infix(lhs, name, rhs, isWrapped: false)
        case .wrapped("", let inner):
            if case .joined(_, separator: " ") = inner.kind { return inner }
            return self
        default: return self
        }
    }

    /// `ON CONFLICT …` of NOT NULL and UNIQUE; nil for the default.
    static func conflict(_ resolution: OnConflict?) -> SQLNode? {
        resolution == .abort ? nil : keyConflict(resolution)
    }

    /// `ON CONFLICT …` of a primary key.
    static func keyConflict(_ resolution: OnConflict?) -> SQLNode? {
        resolution.map { .text("ON CONFLICT \($0.rawValue)") }
    }
}

// MARK: Mistakes in a schema definition

// Nothing is changed when one of them is thrown.
extension VaultError.Code {
    /// A table without columns.
    public static let noColumns = Self(rawValue: "no-columns")
    /// A table with more than one primary key.
    public static let severalPrimaryKeys = Self(rawValue: "several-primary-keys")
    /// A column in raw SQL inside `primaryKey { }`, which needs its name and adds NOT NULL.
    public static let rawColumnInPrimaryKey = Self(rawValue: "raw-column-in-primary-key")
    /// A foreign key to a table without a primary key. While foreign keys are enforced, the engine would reject every
    /// row with such a reference ("foreign key mismatch"): the rowid cannot be referenced.
    public static let noPrimaryKey = Self(rawValue: "no-primary-key")
    /// A foreign key with another number of columns than the primary key that it references.
    public static let foreignKeyMismatch = Self(rawValue: "foreign-key-mismatch")
    /// A column of the primary key that references its own table.
    public static let ownKeyInPrimaryKey = Self(rawValue: "own-key-in-primary-key")
    /// An index without columns or on a constant: `expressions: ["email"]` is a string, `Column("email")` is a column.
    public static let invalidIndex = Self(rawValue: "invalid-index")
    /// No index on exactly these columns can be dropped.
    public static let noSuchIndex = Self(rawValue: "no-such-index")
    /// Several indexes are on these columns: drop one by its name.
    public static let ambiguousIndex = Self(rawValue: "ambiguous-index")
    /// A value inside quotes or a comment, or a `?` in SQL text: it cannot be written into the statement.
    public static let misplacedValue = Self(rawValue: "misplaced-value")
}

extension VaultError {
    package static func noColumns(table: String) -> VaultError {
        VaultError(.noColumns, "table \"\(table)\" has no columns", remedy: "Add one.")
    }

    package static func severalPrimaryKeys(table: String) -> VaultError {
        VaultError(
            .severalPrimaryKeys, "table \"\(table)\" has more than one primary key",
            remedy: "Use primaryKey([…]) for a key of several columns.")
    }

    package static func rawColumnInPrimaryKey(table: String) -> VaultError {
        VaultError(
            .rawColumnInPrimaryKey, "table \"\(table)\": a column in raw SQL cannot be declared inside primaryKey { }",
            remedy: "Name it in primaryKey([…]).")
    }

    package static func noPrimaryKey(table: String) -> VaultError {
        VaultError(
            .noPrimaryKey, "table \"\(table)\" has no primary key to reference",
            remedy: "Declare one, or name a unique column.")
    }

    package static func foreignKeyMismatch(table: String, columns: [String], primaryKey: [String]) -> VaultError {
        VaultError(
            .foreignKeyMismatch, "\(columns) cannot reference table \"\(table)\", whose primary key is \(primaryKey)",
            remedy: "Name the referenced columns.")
    }

    package static func ownKeyInPrimaryKey(table: String) -> VaultError {
        VaultError(
            .ownKeyInPrimaryKey, "the primary key of table \"\(table)\" cannot be derived from itself",
            remedy: "Declare its columns with column(_:_:).")
    }

    package static func invalidIndex(name: String) -> VaultError {
        VaultError(
            .invalidIndex, "index \"\(name)\" needs columns or expressions, not constants",
            remedy: "Use Column(\"name\") for a column.")
    }

    package static func noSuchIndex(table: String, columns: [String]) -> VaultError {
        VaultError(
            .noSuchIndex,
            "table \"\(table)\" has no index on \(columns) that can be dropped; an index of a constraint cannot")
    }

    package static func ambiguousIndex(table: String, columns: [String], names: [String]) -> VaultError {
        VaultError(
            .ambiguousIndex, "table \"\(table)\" has several indexes on \(columns): \(names)",
            remedy: "Drop one by its name.")
    }
}
