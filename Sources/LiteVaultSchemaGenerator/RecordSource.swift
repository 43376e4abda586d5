internal import LiteVaultQuoting

/// Writes the Swift source of records: the struct of a table, and its conformance to `Record`.
struct RecordSourceWriter {
    let directives: Directives
    let relations: [RecordRelation]

    private var access: String { directives.isPublic ? "public " : "" }

    func source(of records: [RecordModel]) -> [String] {
        var lines: [String] = []
        let hidden = records.filter { record in
            relations.contains { isHidden(record.directive.name, in: $0.origin, records) }
        }
        // Scripts without capital letters have one name for both.
        lines += hidden.map { "private typealias \(Self.alias($0.directive.name)) = \($0.directive.name)" }
        if !hidden.isEmpty { lines.append("") }
        for enumeration in directives.enumerations { lines += self.lines(of: enumeration) }
        for record in records {
            if !record.directive.isExtension { lines += definition(record) }
            lines += conformance(record, among: records)
        }
        return lines
    }

    /// Whether a record's own members hide another one.
    private func isHidden(_ name: String, in origin: String, _ records: [RecordModel]) -> Bool {
        let first = name.split(separator: ".").first.map(String.init) ?? name
        let properties = records.first { isSameText($0.directive.name, origin) }?.properties.map(\.name) ?? []
        return (properties + relations.filter { $0.origin == origin }.map(\.name)).contains(first)
    }

    private static func alias(_ name: String) -> String { "_" + name.filter { $0 != "." } + "Record" }

    private func lines(of enumeration: EnumerationDirective) -> [String] {
        let type = enumeration.isInteger ? "Int64" : "String"
        let cases = enumeration.cases.map { one in
            "    case \(SwiftNames.member(one.name)) = \(enumeration.isInteger ? one.value : Quoting.swiftLiteral(one.value))"
        }
        return [
            "/// The values of a column.",
            "\(access)enum \(enumeration.name): \(type), Value, Codable, CaseIterable, Sendable {",
        ]
            + cases + ["}", ""]
    }

    // MARK: The struct

    private func definition(_ record: RecordModel) -> [String] {
        let path = record.directive.name.split(separator: ".").map(String.init)
        // A value of any type has no form of its own in JSON.
        let isCodable = !record.properties.contains { $0.type.hasPrefix("StoredValue") }
        let protocols = ["Hashable", "Codable", "Sendable"].filter {
            !record.directive.without.contains($0) && ($0 != "Codable" || isCodable)
        }
        let inherited = protocols.isEmpty ? "" : ": " + protocols.joined(separator: ", ")
        var lines = [
            "/// A row of the table `\(Quoting.swiftComment(record.table.name))`.",
            "\(access)struct \(path[path.count - 1])\(inherited) {",
        ]
        let isSynthesized = hasSynthesizedInitializer(record)
        lines += record.properties.map { property in
            let initial = isSynthesized ? property.initialValue.flatMap { $0 == "nil" ? nil : " = \($0)" } : nil
            return "    \(access)var \(property.name): \(property.type)\(initial ?? "")"
        }
        if !isSynthesized {
            lines += memberwiseInitializer(record) + ["", "    /// Reads a row."] + initializer(record)
        }
        lines.append("}")
        guard path.count > 1 else { return lines + [""] }
        return ["extension \(path.dropLast().joined(separator: ".")) {"] + lines.map { $0.isEmpty ? "" : "    " + $0 }
            + ["}", ""]
    }

    /// Whether the compiler writes the memberwise initializer, and reading a row goes through it.
    ///
    /// Of a struct that any other initializer has made, Swift 6.3 makes a copy, and counts the references in it: a tenth of the time
    /// that a row with two texts takes. But the compiler's own is never public, and takes nil for every optional property.
    private func hasSynthesizedInitializer(_ record: RecordModel) -> Bool {
        !directives.isPublic && !record.directive.isExtension
            && !record.properties.contains { $0.type.hasSuffix("?") && $0.initialValue != "nil" }
    }

    private func memberwiseInitializer(_ record: RecordModel) -> [String] {
        let parameters = record.properties.map { "\($0.name): \($0.type)" + ($0.initialValue.map { " = \($0)" } ?? "") }
        return ["", "    /// Creates a record, which is not in the database yet.", "    \(access)init("]
            + parameters.enumerated().map { "        \($0.element)" + ($0.offset + 1 < parameters.count ? "," : "") }
            + ["    ) {"] + record.properties.map { "        self.\($0.name) = \($0.name)" } + ["    }"]
    }

    private func initializer(_ record: RecordModel) -> [String] {
        let row = Self.unused("row", record)
        let values = record.properties.map { ($0.name, "try \(row).\($0.isJSON ? "nextJSON" : "next")()") }
        let head = "    \(access)init(row\(row == "row" ? "" : " \(row)"): inout RecordReader) throws {"
        guard hasSynthesizedInitializer(record) else {
            return [head] + values.map { "        \($0) = \($1)" } + ["    }"]
        }
        return [head, "        self.init("]
            + values.enumerated().map {
                "            \(SwiftNames.label($1.0)): \($1.1)" + ($0 + 1 < values.count ? "," : ")")
            }
            + ["    }"]
    }

    // MARK: The conformance

    private func conformance(_ record: RecordModel, among records: [RecordModel]) -> [String] {
        let name = record.directive.name
        let isIdentifiable =
            !record.directive.isExtension && !record.directive.without.contains("Identifiable")
            && (!record.key.isEmpty || record.properties.contains { $0.name == "id" })
        var lines = ["extension \(name): Record\(isIdentifiable ? ", Identifiable" : "") {"]
        lines += record.properties.map { property in
            "    \(access)static let \(property.name) = SQLExpression<\(property.columnType)>"
                + "(\(Quoting.swiftLiteral(property.column.name)))"
        }
        lines += [
            "", "    \(access)static let table = RecordTable<\(name)>(",
            "        \(Quoting.swiftLiteral(record.table.name)),", "        [",
        ]
        lines += record.properties.map { "            \(column($0))," } + ["        ])", ""]
        lines += key(record)
        if isIdentifiable, !record.properties.contains(where: { $0.name == "id" }) {
            lines += ["    \(access)var id: PrimaryKey? { primaryKey }", ""]
        }
        let row = Self.unused("row", record)
        if record.directive.isExtension || hasSynthesizedInitializer(record) { lines += initializer(record) + [""] }
        if let rowID = record.properties.first(where: { $0.role == .rowID && $0.type == "Int64?" }) {
            let parameter = Self.unused("rowID", record)
            lines += [
                "    \(access)mutating func setRowID(_ \(parameter): Int64) { \(rowID.name) = \(parameter) }", "",
            ]
        }
        let throwing = record.properties.contains(where: \.isJSON) ? " throws" : ""
        lines += ["    \(access)func write(to \(row): inout RecordWriter)\(throwing) {"]
        lines += record.properties.map {
            $0.isJSON ? "        try \(row).bindJSON(\($0.name))" : "        \(row).bind(\($0.name))"
        }
        lines += ["    }"]
        let own = relations.filter { $0.origin == name }
        if !own.isEmpty { lines.append("") }
        lines += own.map { relation in
            let value = relation.value { isHidden($0, in: name, records) ? Self.alias($0) : $0 }
            return "    \(access)static let \(relation.name): Relation<\(name), \(relation.destination)> = \(value)"
        }
        return lines + ["}", ""]
    }

    private static func unused(_ name: String, _ record: RecordModel) -> String {
        var name = name
        while record.properties.contains(where: { $0.name == name }) { name += "_" }
        return name
    }

    private func column(_ property: RecordModel.Property) -> String {
        let name = Quoting.swiftLiteral(property.column.name)
        switch property.role {
        case .plain: return name
        case .rowID: return ".rowID(\(name), \\.\(property.name))"
        case .key: return ".key(\(name))"
        case .defaulted: return ".defaulted(\(name))"
        case .generated: return ".generated(\(name))"
        case .version: return ".version(\(name), \\.\(property.name))"
        }
    }

    private func key(_ record: RecordModel) -> [String] {
        func bare(_ type: String) -> String { type.hasSuffix("?") ? String(type.dropLast()) : type }
        let key = record.key
        switch key.count {
        case 0: return []
        case 1:
            let type = bare(key[0].type)
            return [
                "    \(access)typealias PrimaryKey = \(type)",
                "    \(access)var primaryKey: \(type)? { \(key[0].name) }", "",
            ]
        default:
            // The key is written in the order of the columns of the table, not in that of the key.
            let columns = record.properties.filter { $0.column.keyPosition > 0 }
            let parameters = columns.map { "\($0.name): \(bare($0.type))" }.joined(separator: ", ")
            var lines = [
                "    /// The primary key of the table `\(Quoting.swiftComment(record.table.name))`.",
                "    \(access)struct PrimaryKey: CompositeKey {",
            ]
            lines += columns.map { "        \(access)var \($0.name): \(bare($0.type))" }
            lines += ["", "        /// Creates a key.", "        \(access)init(\(parameters)) {"]
            lines += columns.map { "            self.\($0.name) = \($0.name)" } + ["        }", ""]
            let row = Self.unused("row", record)
            lines += ["        \(access)func write(to \(row): inout RecordWriter) {"]
            lines += columns.map { "            \(row).bind(\($0.name))" } + ["        }", "    }", ""]
            let values = columns.map { "\($0.name): \($0.name)" }.joined(separator: ", ")
            let optional = columns.filter { $0.type.hasSuffix("?") }.map { "let \($0.name)" }
            guard !optional.isEmpty else {
                return lines + ["    \(access)var primaryKey: PrimaryKey? { PrimaryKey(\(values)) }", ""]
            }
            return lines + [
                "    \(access)var primaryKey: PrimaryKey? {",
                "        guard \(optional.joined(separator: ", ")) else { return nil }",
                "        return PrimaryKey(\(values))", "    }", "",
            ]
        }
    }
}
