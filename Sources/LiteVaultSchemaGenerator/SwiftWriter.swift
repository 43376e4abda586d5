/// Writes the Swift source.
struct SwiftWriter {
    let scripts: [Script]
    let directives: Directives
    let types: ColumnTypes
    let origins: Origins

    private var access: String { directives.isPublic ? "public " : "" }

    /// - Throws: ``Diagnostics`` when two names become the same in Swift.
    func source(of tables: [Relation]) throws -> String {
        try refuseDoubles(tables.map { (SwiftNames.type($0.name), $0.name, origins[$0.name]) }, "tables")
        let names = scripts.map { $0.name + ".sql" }.joined(separator: ", ")
        var lines = [
            "// Made by LiteVaultSchemaPlugin from \(names). Edit that, not this.",
            "\(access)import Foundation", "\(access)import LiteVault", "",
            "/// The schema that \(names) makes.", "\(access)enum Schema {",
        ]
        for table in tables { lines += try self.lines(of: table) }
        lines += scriptLines() + ["}", ""]
        return lines.joined(separator: "\n")
    }

    private func lines(of table: Relation) throws -> [String] {
        let columns = table.columns.compactMap { column in
            types.type(of: column, in: table).map {
                (name: column.name, member: SwiftNames.member(column.name), type: $0)
            }
        }
        try refuseDoubles(columns.map { ($0.member, $0.name, origins[table.name]) }, "columns of \(table.name)")
        let (kind, type) =
            switch table.kind {
            case .table: ("Table", "Table")
            case .view: ("View", "View")
            case .virtual: ("Virtual table", "VirtualTable")
            }
        let head = [
            "    /// \(kind) `\(table.name)`.", "    \(access)enum \(SwiftNames.type(table.name)) {",
            "        \(access)static let table = \(type)(\(literal(table.name)))",
        ]
        return head
            + columns.map { column in
                "        \(access)static let \(column.member) = SQLExpression<\(column.type)>(\(literal(column.name)))"
            } + ["    }", ""]
    }

    /// The scripts themselves, so that the application makes exactly what the types describe.
    private func scriptLines() -> [String] {
        var lines = [
            "    /// The scripts in their order, each with its name: what a new database is made of.",
            "    \(access)static let scripts: [(name: String, sql: String)] = [",
        ]
        for script in scripts {
            var fence = "#"
            while script.text.contains("\"\"\"" + fence) || script.text.contains("\\" + fence) { fence += "#" }
            lines += ["        (\(literal(script.name)), \(fence)\"\"\"", script.text, "\"\"\"\(fence)),"]
        }
        return lines + ["    ]"]
    }

    private func refuseDoubles(_ names: [(swift: String, sql: String, location: Location)], _ what: String) throws {
        var seen: [String: String] = [:]
        for name in names {
            if let other = seen.updateValue(name.sql, forKey: name.swift) {
                throw Diagnostics(
                    name.location, "\(what) \(other) and \(name.sql) would both be called \(name.swift) in Swift")
            }
        }
    }

    /// `debugDescription` writes quotes, backslashes and control characters as Swift source does.
    private func literal(_ text: String) -> String { text.debugDescription }
}
