internal import LiteVaultQuoting

/// The schema that statements are checked against.
struct Catalog: Sendable {
    struct Table: Sendable {
        let name: String
        let columns: [Column]
        let kind: Kind
    }

    enum Kind: Sendable {
        case table(hasRowid: Bool, rowidAlias: String?)
        /// The statement that created it.
        case view(sql: String)
        case virtual(module: String)
    }

    /// A column. Its typing is what the schema says of it.
    struct Column: Sendable {
        let name: String
        var typing: Typing
        /// A column that `*` leaves out.
        var isHidden = false
        /// A column that is computed and cannot be written.
        var isGenerated = false
        /// The type of a view's column that a directive gives.
        var isAnnotated = false
    }

    private let tables: [SQLName: Table]

    init(_ tables: [Table]) {
        self.tables = Dictionary(
            (Self.builtIn + tables).map { (SQLName($0.name), $0) }, uniquingKeysWith: { _, new in new })
    }

    func table(_ name: String) -> Table? { tables[SQLName(name)] }

    /// What every database has: the schema's own table, and the table-valued functions of JSON
    /// (https://sqlite.org/json1.html#jeach).
    private static let builtIn: [Table] = {
        func column(_ name: String, _ content: Typing.Content, canBeNull: Bool, isHidden: Bool = false) -> Column {
            Column(name: name, typing: Typing(content, canBeNull: canBeNull), isHidden: isHidden)
        }
        let any = Typing.Content.unknown("a value in JSON can be of any type")
        let json = [
            column("key", any, canBeNull: true), column("value", any, canBeNull: true),
            column("type", .value(.text), canBeNull: false), column("atom", any, canBeNull: true),
            column("id", .value(.integer), canBeNull: false), column("parent", .value(.integer), canBeNull: true),
            column("fullkey", .value(.text), canBeNull: false), column("path", .value(.text), canBeNull: false),
            column("json", .value(.text), canBeNull: true, isHidden: true),
            column("root", .value(.text), canBeNull: true, isHidden: true),
        ]
        let schema = [
            column("type", .value(.text), canBeNull: true), column("name", .value(.text), canBeNull: true),
            column("tbl_name", .value(.text), canBeNull: true), column("rootpage", .value(.integer), canBeNull: true),
            column("sql", .value(.text), canBeNull: true),
        ]
        return ["json_each", "json_tree"].map { Table(name: $0, columns: json, kind: .virtual(module: $0)) }
            + ["sqlite_master", "sqlite_schema"].map {
                Table(name: $0, columns: schema, kind: .table(hasRowid: true, rowidAlias: nil))
            }
    }()
}
