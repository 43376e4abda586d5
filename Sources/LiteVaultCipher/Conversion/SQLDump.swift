package import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// A database as SQL text, in the form of the `.dump` of SQLite's shell: running it in an empty database makes the same schema
/// with the same rows.
package struct SQLDump {
    package struct Content: Sendable {
        package var rows = true
        /// Whether rows keep their implicit rowids, as an external-content full-text index needs.
        package var rowids = false
        /// The tables, with their indexes and triggers; nil for the whole database.
        package var tables: [String]?

        package init() {}
    }

    package struct Summary: Sendable, Equatable {
        package var tables = 0
        package var rows: Int64 = 0
    }

    private let connection: Connection
    private let content: Content
    private let write: (borrowing SQLText) throws -> Void
    private var summary = Summary()

    /// Writes a dump.
    ///
    /// - Parameters:
    ///   - connection: a connection in a read transaction.
    ///   - write: receives the text in order, a statement at a time.
    /// - Throws: `VaultError` `usage` for a table that does not exist; `DatabaseError`; what `write` throws.
    package static func write(
        _ connection: Connection, _ content: Content, to write: (borrowing SQLText) throws -> Void
    ) throws -> Summary {
        try withoutActuallyEscaping(write) { write in
            var dump = SQLDump(connection: connection, content: content, write: write)
            try dump.writeAll()
            return dump.summary
        }
    }

    private mutating func writeAll() throws {
        let all = try SchemaObject.all(of: connection)
        let named = content.tables.map { Set($0.map { SQLName($0) }) }
        if let named {
            let known = Set(all.filter { $0.type == "table" || $0.type == "view" }.map { SQLName($0.name) })
            if let unknown = named.subtracting(known).map(\.text).min() {
                throw VaultError(
                    .usage, "There is no table '\(unknown)'", remedy: "Compare the name with those in the schema.")
            }
        }
        let shadows = ShadowTables(all)
        let objects = all.filter { object in
            guard let named else { return true }
            // What a virtual table keeps its content in is part of it.
            return named.contains(SQLName(object.tableName)) || shadows.belongs(object.tableName, to: named)
        }
        let encoding = try connection.value("PRAGMA encoding", as: String.self)

        if encoding != "UTF-8" { try line("PRAGMA encoding = '\(encoding)';") }
        guard content.rows else {
            // Without a transaction of its own: a migration may run it, which is one.
            try writeEmptyTables(objects, shadows)
            return try writeRest(objects)
        }
        try line("PRAGMA foreign_keys = OFF;")
        try line("BEGIN TRANSACTION;")
        try writeTables(objects, isUTF8: encoding == "UTF-8")
        try writeRest(objects)
        try line("COMMIT;")
    }

    /// Virtual tables come after those that they may read their columns from, and make their own shadow tables: an empty one that
    /// somebody else made is damage to them. Those of a module that is not known may be ordinary tables.
    private func writeEmptyTables(_ objects: [SchemaObject], _ shadows: ShadowTables) throws {
        let tables = objects.filter { $0.type == "table" && !$0.isEngines }.sorted { isBefore($0.name, $1.name) }
        for table in tables where table.hasPages && shadows.place(of: table.name) == .ordinary { try writeTable(table) }
        for table in tables where !table.hasPages { try line((table.sql ?? "") + ";") }
        for table in tables where table.hasPages && shadows.place(of: table.name) == .unknown {
            // The engine keeps each statement with this beginning.
            let (sql, start) = (table.sql ?? "", "CREATE TABLE ")
            guard sql.utf8.starts(with: start.utf8) else { continue }
            let rest = String(decoding: sql.utf8.dropFirst(start.utf8.count), as: UTF8.self)
            try line("CREATE TABLE IF NOT EXISTS \(rest);")
        }
    }

    /// Tables first, each with its rows. They are in the order of their names, so that equal databases have equal dumps; those
    /// of the engine come last, as it makes them for others.
    private mutating func writeTables(_ objects: [SchemaObject], isUTF8: Bool) throws {
        let tables = objects.filter { $0.type == "table" }.sorted {
            $0.isEngines != $1.isEngines ? $1.isEngines : isBefore($0.name, $1.name)
        }
        let hasVirtual = tables.contains { !$0.hasPages }
        // The row of a virtual table: its CREATE would make its shadow tables, which have statements of their own here.
        if hasVirtual { try line("PRAGMA writable_schema = ON;") }
        for table in tables {
            try writeTable(table)
            guard table.hasPages else { continue }
            summary.tables += 1
            try writeRows(of: table, isUTF8)
        }
        if hasVirtual { try line("PRAGMA writable_schema = OFF;") }
    }

    private func writeTable(_ table: SchemaObject) throws {
        switch table.name {
        // The engine makes it with the first table that has AUTOINCREMENT.
        case "sqlite_sequence": try line("DELETE FROM sqlite_sequence;")
        // The engine makes these; their rows follow.
        case "sqlite_stat1": try line("ANALYZE sqlite_master;")
        case let name where name.hasPrefix("sqlite_stat"): return
        default:
            guard let sql = table.sql else { return }
            guard !table.hasPages else { return try line(sql + ";") }
            let name = Quoting.sqlText(table.name)
            try line(
                "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)"
                    + " VALUES ('table', \(name), \(name), 0, \(Quoting.sqlText(sql)));")
        }
    }

    private mutating func writeRows(of table: SchemaObject, _ isUTF8: Bool) throws {
        do { try writeAll(of: table, isUTF8) } catch let error as DatabaseError where error.isUnknownCollation {
            // A table WITHOUT ROWID, in whose order the engine cannot read: nothing of it was written.
            throw VaultError(
                .unsupported,
                "The table '\(table.name)' is in the order of a collation that only its application defines",
                remedy: "Dump the other tables (--table), or copy the file as it is (backup).", cause: error)
        }
    }

    private mutating func writeAll(of table: SchemaObject, _ isUTF8: Bool) throws {
        let shape = try TableShape(table.name, in: connection)
        // Statistics of the source engine may have columns that another one lacks; it computes its own.
        guard table.name == "sqlite_stat1" || !table.name.hasPrefix("sqlite_stat") else { return }
        let alias = content.rowids ? shape.rowidAlias : nil
        let names = ((alias.map { [$0] } ?? []) + shape.columns.map(quoted)).joined(separator: ", ")
        let start = "INSERT INTO \(quoted(table.name)) (\(names)) VALUES ("
        // The engine's own tables have no order of their own.
        let order = table.isEngines ? " ORDER BY \(names)" : shape.rowidAlias.map { " ORDER BY \($0)" } ?? ""
        var text = SQLText(isUTF8: isUTF8)
        try connection.forEach("SELECT \(sql: names) FROM \(table: table.name, in: "main") NOT INDEXED\(sql: order)") {
            row in
            try text.set(row, 0..<row.count, after: start)
            try write(text)
            summary.rows += 1
        }
    }

    /// Indexes, views and triggers, once the rows are there: triggers must not run, and indexes are faster to build. A trigger may
    /// be on a view.
    private func writeRest(_ objects: [SchemaObject]) throws {
        for type in ["index", "view", "trigger"] {
            let found = objects.filter { $0.type == type }
            // Triggers of one event run in the order of their creation.
            for object in type == "trigger" ? found : found.sorted(by: { isBefore($0.name, $1.name) }) {
                if let sql = object.sql { try line(sql + ";") }
            }
        }
    }

    private func line(_ sql: String) throws { try write(SQLText(line: sql)) }
}

extension SchemaObject {
    /// Whether the engine makes and fills the table: `sqlite_sequence` and statistics.
    fileprivate var isEngines: Bool { name.hasPrefix("sqlite_") }
}

/// SQL text while it is put together, as bytes: text of a database need not be valid.
package struct SQLText: ~Copyable {
    private var storage: [UInt8] = []
    /// Whether the database stores text in UTF-8, so that the bytes of a text can be cast back into it.
    private let isUTF8: Bool

    init(isUTF8: Bool) { self.isUTF8 = isUTF8 }

    init(line: String) {
        self.init(isUTF8: true)
        append(line + "\n")
    }

    package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try storage.withUnsafeBytes(body)
    }

    mutating func removeAll() { storage.removeAll(keepingCapacity: true) }
    mutating func append(_ text: String) { storage.append(contentsOf: text.utf8) }

    /// Replaces the text with a statement: its start, columns of the current row as literals, and `);`.
    mutating func set(_ row: borrowing RowView, _ columns: Range<Int>, after start: String) throws {
        removeAll()
        append(start)
        for index in columns {
            if index > columns.lowerBound { append(", ") }
            try appendLiteral(row, index)
        }
        append(");\n")
    }

    /// Appends a column of the current row as a literal that stands for the same value of the same storage class.
    mutating func appendLiteral(_ row: borrowing RowView, _ index: Int) throws {
        switch try row.get(index, as: StoredLiteral.self) {
        case .null: append("NULL")
        case .integer(let number): append(String(number))
        case .real(let number): appendReal(number)
        case .blob(let bytes): appendBlob(bytes)
        case .text(let bytes): appendText(bytes)
        }
    }

    /// A literal of at most 15 digits, 4 of them decimals, or an integer multiplied or divided by powers of two. These are exact in each
    /// version. The engine's conversion of other literals is off by a bit for one in some thousands: `958242.646213` in 3.40.1.
    private mutating func appendReal(_ number: Double) {
        guard number.isFinite else { return append(number < 0 ? "-1e999" : "1e999") }
        let text = String(number)
        let decimals = text.utf8.firstIndex(of: UInt8(ascii: ".")).map { text.utf8[$0...].dropFirst().count } ?? 0
        let isShort = text.utf8.lazy.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count <= 15
        guard number != 0, !isShort || decimals > 4 || !(1e-4..<1e15).contains(number.magnitude) else {
            return append(text)
        }
        var integer = Int64(number.significand * 0x1p52)
        var exponent = Int(number.exponent) - 52
        let zeros = integer.trailingZeroBitCount
        integer >>= zeros
        exponent += zeros
        append((number < 0 ? "-" : "") + String(integer) + (exponent == 0 ? ".0" : ""))
        while exponent != 0 {
            let step = min(abs(exponent), 53)
            append((exponent > 0 ? "*" : "/") + String(Int64(1) << step) + ".0")
            exponent += exponent > 0 ? -step : step
        }
    }

    private mutating func appendBlob(_ bytes: [UInt8]) {
        storage.reserveCapacity(storage.count + 2 * bytes.count + 3)
        append("x'")
        for byte in bytes {
            storage.append(Hexadecimal.digit(byte >> 4))
            storage.append(Hexadecimal.digit(byte & 15))
        }
        append("'")
    }

    /// A quoted string. A NUL would end the statement, and SQLite's shell drops a CR at the end of a line, so they are written as `char(0)` and
    /// `char(13)`; bytes that are not UTF-8 are cast.
    private mutating func appendText(_ bytes: [UInt8]) {
        if isUTF8, !String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) {
            append("CAST(")
            appendBlob(bytes)
            append(" AS TEXT)")
            return
        }
        let special = bytes.lazy.filter { $0 == 0 || $0 == Self.carriageReturn }.count
        // Each `||` is a level of the expression, of which the engine takes 1,000.
        guard special <= Self.concatenations else { return appendReplaced(bytes) }
        storage.append(Self.quote)
        for byte in bytes {
            if byte == 0 || byte == Self.carriageReturn {
                append("' || char(\(byte)) || '")
            } else {
                appendQuoted(byte)
            }
        }
        storage.append(Self.quote)
    }

    /// A quoted string in which `replace` puts each NUL and CR back in place of a text that is not in it.
    private mutating func appendReplaced(_ bytes: [UInt8]) {
        let found = [0, Self.carriageReturn].filter(bytes.contains)
        let text = String(decoding: bytes, as: UTF8.self)
        var number = 0
        var tokens: [UInt8: String] = [:]
        for byte in found {
            while tokens[byte] == nil {
                let token = "{\(number)}"
                number += 1
                if text.firstRange(ofText: token) == nil { tokens[byte] = token }
            }
        }
        for _ in found { append("replace(") }
        storage.append(Self.quote)
        for byte in bytes {
            if let token = tokens[byte] { append(token) } else { appendQuoted(byte) }
        }
        storage.append(Self.quote)
        for byte in found { append(", '\(tokens[byte] ?? "")', char(\(byte)))") }
    }

    private mutating func appendQuoted(_ byte: UInt8) {
        if byte == Self.quote { storage.append(Self.quote) }
        storage.append(byte)
    }

    private static let concatenations = 100
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let quote = UInt8(ascii: "'")
}

/// The value of a column with the bytes of a text as they are stored.
private enum StoredLiteral: ColumnValue {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    static func read(from column: borrowing ColumnReader) throws -> StoredLiteral {
        switch column.type {
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(column.value))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(column.value))
        case SQLITE_TEXT:
            // The order matters: sqlite3_value_bytes returns the length in UTF-8 only after sqlite3_value_text.
            let bytes = UnsafeRawPointer(sqlite3_value_text(column.value))
            return .text(Self.copy(bytes, sqlite3_value_bytes(column.value)))
        case SQLITE_BLOB:
            return .blob(Self.copy(sqlite3_value_blob(column.value), sqlite3_value_bytes(column.value)))
        default: return .null
        }
    }

    private static func copy(_ bytes: UnsafeRawPointer?, _ count: Int32) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
    }

    /// Not used: literals are read only.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { SQLITE_MISUSE }
}
