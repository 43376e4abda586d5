public import LiteVaultCore

extension VaultError.Code {
    /// A schema change that was rejected because it would lose data or break another object. Nothing is changed.
    public static let schemaChangeRefused = Self(rawValue: "schema-change-refused")
}

/// The views and triggers that mention a table. They are compiled before and after a change, so that a change that
/// breaks one is rejected.
struct DependentObjects {
    private let table: String
    private let connection: Connection
    /// The objects that did not compile before the change.
    private let broken: Set<ExactText>

    init(on table: String, _ connection: Connection) throws {
        self.table = table
        self.connection = connection
        broken = try Self.broken(Self.mentioning(table, connection), connection)
    }

    /// Requires that a change broke no view or trigger, and that none mentions a column that no longer exists.
    ///
    /// - Throws: `VaultError` `schemaChangeRefused`
    func check(change: String, column: String? = nil) throws {
        let objects = try Self.mentioning(table, connection)
        if let object = try Self.broken(objects, connection).subtracting(broken).map(\.text).min() {
            throw VaultError(
                .schemaChangeRefused, "\(change) would break \(object)", remedy: "Drop or change it first.")
        }
        guard let column else { return }
        // To the engine, "name" in double quotes is a string if it is not the name of a column, without any error.
        let literal = quoted(column)
        for object in objects where SQLTokens(object.sql ?? "").contains(where: { isSameName($0.text, literal) }) {
            let name = "\(object.type.rawValue) \(quoted(object.name))"
            throw VaultError(
                .schemaChangeRefused, "\(change): \(name) mentions \(quoted(column))",
                remedy: "Drop or change it first.")
        }
    }

    private static func mentioning(_ table: String, _ connection: Connection) throws -> [ObjectDefinition] {
        let reader = SchemaReader(connection: connection)
        let stored = try reader.objectDefinitions(temp: false)
        let temporary = try reader.objectDefinitions(temp: true)
        let objects = (stored + temporary).filter { $0.type == .view || $0.type == .trigger }
        // A view on a view that mentions the table depends on it as well.
        var names = [table]
        var found: [ObjectDefinition] = []
        var isComplete = false
        while !isComplete {
            let more = objects.filter { object in
                !found.contains(object)
                    && SQLTokens(object.sql ?? "").contains { token in names.contains(where: token.isName) }
            }
            found += more
            for view in more where view.type == .view { names.append(view.name) }
            isComplete = more.isEmpty
        }
        return found
    }

    /// The objects that do not compile. A trigger is compiled with each statement that fires it.
    private static func broken(_ objects: [ObjectDefinition], _ connection: Connection) throws -> Set<ExactText> {
        var broken: Set<ExactText> = []
        // The cache would return a statement that was prepared before the change.
        try connection.withLock { connection.finalizeCache() }
        for object in objects {
            for sql in try probes(object, connection) where (try? connection.prepare(sql)) == nil {
                broken.insert(ExactText("\(object.type.rawValue) \(quoted(object.name))"))
            }
        }
        return broken
    }

    /// Statements that compile only if the object does.
    private static func probes(_ object: ObjectDefinition, _ connection: Connection) throws -> [String] {
        guard object.type == .trigger else { return ["SELECT * FROM \(quoted(object.name))"] }
        let target = quoted(object.tableName)
        let words = SQLTokens(object.sql ?? "").filter { $0.isSignificant }
        // The event comes before the table: CREATE TRIGGER name BEFORE INSERT ON table.
        let event = words.prefix { !$0.isKeyword("ON") }.last { $0.isKeyword(in: ["INSERT", "DELETE", "UPDATE"]) }
        if event?.isKeyword("INSERT") == true { return ["INSERT INTO \(target) DEFAULT VALUES"] }
        if event?.isKeyword("DELETE") == true { return ["DELETE FROM \(target)"] }
        let columns = try connection.all("PRAGMA table_info(\(sql: target))") { quoted(try $0.get(1, as: String.self)) }
        return ["UPDATE \(target) SET " + columns.map { "\($0) = \($0)" }.joined(separator: ", ")]
    }
}
