/// Which Swift type a column has.
struct ColumnTypes {
    private let directives: Directives

    init(_ directives: Directives) { self.directives = directives }

    /// nil where the schema does not tell.
    func type(of column: Column, in table: Relation) -> String? {
        if let asked = directives.type(of: column.name, in: table.name) { return asked }
        var base = Self.base(column.declaredType)
        if case .virtual(let module) = table.kind, module.hasPrefix("fts"), column.declaredType.isEmpty {
            base = "String"
        }
        return base.map { column.canBeNull ? $0 + "?" : $0 }
    }

    /// The columns that were left out.
    func warnings(_ tables: [Relation], _ origins: Origins) -> [Diagnostic] {
        tables.flatMap { table in
            table.columns.filter { type(of: $0, in: table) == nil }.map { column in
                let declared = column.declaredType.isEmpty ? "no declared type" : "type \(column.declaredType)"
                return Diagnostic(
                    location: origins[table.name], severity: .warning,
                    message: """
                        column \(column.name) of \(table.name) has \(declared), so it was left out; \
                        say '-- litevault: \(table.name).\(column.name) as Type' to have it
                        """)
            }
        }
    }

    /// First the names that Swift has a type for, then the engine's rules of affinity
    /// (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    private static func base(_ declaredType: String) -> String? {
        let type = declaredType.uppercased().split(separator: "(").first.map(String.init) ?? ""
        switch type.trimmingCharacters(" ") {
        case "BOOL", "BOOLEAN": return "Bool"
        case "DATE", "DATETIME", "TIMESTAMP": return "Date"
        case "UUID": return "UUID"
        case "URL": return "URL"
        case "JSON", "JSONTEXT": return "String"
        case "", "ANY": return nil
        default: break
        }
        if type.contains("INT") { return "Int64" }
        if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return "String" }
        if type.contains("BLOB") { return "Data" }
        if ["REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"].contains(where: type.contains) { return "Double" }
        return nil
    }
}

extension String {
    fileprivate func trimmingCharacters(_ character: Character) -> String {
        var text = self[...]
        while text.first == character { text.removeFirst() }
        while text.last == character { text.removeLast() }
        return String(text)
    }
}
