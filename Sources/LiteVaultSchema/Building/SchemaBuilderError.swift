/// A definition of the schema that makes no sense. Nothing was changed.
public enum SchemaBuilderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A table without columns.
    case noColumns(table: String)
    /// A table with more than one primary key.
    case severalPrimaryKeys(table: String)
    /// A column of raw SQL inside `primaryKey { }`, where its name and NOT NULL have to be known.
    case rawColumnInPrimaryKey(table: String)
    /// A reference to a table that has no primary key. The engine would refuse every row with such a reference while
    /// foreign keys are enforced ("foreign key mismatch"), the rowid not being a key that can be referred to.
    case noPrimaryKey(table: String)
    /// A reference to the primary key with another number of columns than it has.
    case foreignKeyMismatch(table: String, columns: [String], primaryKey: [String])
    /// A column of the primary key that refers to its own table.
    case ownKeyInPrimaryKey(table: String)
    /// An index without columns, or on a constant: `expressions: ["email"]` is the text, `Column("email")` the column.
    case invalidIndex(name: String)
    /// There is no index on exactly these columns that could be dropped.
    case noSuchIndex(table: String, columns: [String])
    /// There are several indexes on these columns: drop the one that is meant by its name.
    case ambiguousIndex(table: String, columns: [String], names: [String])
    /// A value inside quotes or a comment, or a `?` in SQL text: it cannot be written into the statement.
    case misplacedValue(sql: String)
    /// A full-text index cannot be kept in step with this table.
    case cannotSynchronize(table: String, reason: String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .noColumns(let table): "table \"\(table)\" has no columns"
        case .severalPrimaryKeys(let table):
            "table \"\(table)\" has more than one primary key; use primaryKey([…]) for a key of several columns"
        case .rawColumnInPrimaryKey(let table):
            "table \"\(table)\": a column of raw SQL cannot be declared inside primaryKey { }; name it in primaryKey([…])"
        case .noPrimaryKey(let table):
            "table \"\(table)\" has no primary key to refer to; declare one, or name a unique column"
        case .foreignKeyMismatch(let table, let columns, let key):
            "\(columns) cannot refer to table \"\(table)\", whose primary key is \(key); name the columns there"
        case .ownKeyInPrimaryKey(let table):
            "the primary key of table \"\(table)\" cannot be derived from itself; declare its columns with column(_:_:)"
        case .invalidIndex(let name):
            "index \"\(name)\" needs columns or expressions, and a constant is none; use Column(\"name\") for a column"
        case .noSuchIndex(let table, let columns):
            "there is no index of its own on \(columns) of table \"\(table)\" (those of constraints cannot be dropped)"
        case .ambiguousIndex(let table, let columns, let names):
            "the indexes \(names) are all on \(columns) of table \"\(table)\"; drop the one that is meant by its name"
        case .misplacedValue(let sql):
            "a value stands inside quotes or a comment, or a ? is no value: \(sql)"
        case .cannotSynchronize(let table, let reason):
            "a full-text index cannot follow table \"\(table)\": \(reason)"
        }
    }
}
