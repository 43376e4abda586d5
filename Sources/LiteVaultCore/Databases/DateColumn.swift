internal import LiteVaultSystem

extension DateColumn {
    /// How many dates of a column have which form, as ``DateColumn/forms()`` counts them.
    ///
    /// Dates of different forms in a column are not compared or sorted by time. If ``storage`` is nil and ``isEmpty`` is false,
    /// rewrite them with ``DateColumn/unify(as:numbers:)``, in a migration.
    public struct Forms: Sendable, Equatable {
        /// How many dates have each form. Text with milliseconds that are not 0 counts as ``DateStorage/text``.
        public fileprivate(set) var counts: [DateStorage: Int] = [:]
        /// How many texts are dates in another form that is read, such as a date alone or one with a zone.
        public fileprivate(set) var otherTexts = 0
        /// How many values are not dates.
        public fileprivate(set) var otherValues = 0
        /// How many rows have NULL.
        public fileprivate(set) var nulls = 0
        /// How many texts have both forms with a space, since their milliseconds are not 0.
        private var texts = 0

        /// The form that all values have; nil if there are several, or none.
        public var storage: DateStorage? {
            guard otherTexts == 0, otherValues == 0 else { return nil }
            if counts.count == 1 { return counts.keys.first }
            let isWithMilliseconds = counts.count == 2 && counts[.textWithMilliseconds] != nil && counts[.text] == texts
            return isWithMilliseconds ? .textWithMilliseconds : nil
        }

        /// Whether there is no value but NULL.
        public var isEmpty: Bool { counts.isEmpty && otherTexts == 0 && otherValues == 0 }

        fileprivate mutating func add(_ value: StoredValue, numbers: DateStorage) {
            guard value != .null else { return nulls += 1 }
            guard let date = numbers.date(of: value) else { return otherValues += 1 }
            guard let form = DateStorage.form(of: value) else { return otherTexts += 1 }
            if case .text(let text) = value {
                if form == .text, text.utf8.count > 19 { texts += 1 }
                counts[form, default: 0] += 1
            } else {
                // A number has the form that it is read in.
                counts[numbers.value(of: date).map(\.isNumber) == true ? numbers : form, default: 0] += 1
            }
        }
    }
}

extension StoredValue {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob: false
        }
    }
}

extension Connection {
    /// How the connection stores dates and what it compares with: ``DateStorage/text`` by default, and in module `SQLite`
    /// ``DateStorage/textWithT``, as SQLite.swift.
    ///
    /// It applies to statements that run from now on; values that are stored already stay as they are. All connections of a
    /// pool get it in `DatabaseConfiguration.dateStorage`.
    public var dateStorage: DateStorage {
        get { reading { DateStorages.storage(of: $0) } ?? .text }
        set { _ = reading { DateStorages.set(newValue, for: $0) } }
    }
}

/// A column with dates, whose forms are counted and rewritten.
public struct DateColumn: Sendable {
    private let column: String
    private let table: String
    private let db: Connection

    /// - Parameters:
    ///   - column: the name of the column.
    ///   - table: the name of its table.
    ///   - db: the connection. Nothing is read yet.
    public init(_ column: String, of table: String, in db: Connection) {
        (self.column, self.table, self.db) = (column, table, db)
    }

    /// Counts the forms of the dates. It reads the whole column.
    ///
    /// - Throws: `DatabaseError`
    public func forms() throws -> Forms {
        var forms = Forms()
        let numbers = db.dateStorage
        try db.forEach("SELECT \(column: column) FROM \(table: table)") { row in
            forms.add(try row.get(0, as: StoredValue.self), numbers: numbers)
        }
        return forms
    }

    /// Rewrites the dates that have another form, all or none. Triggers of the table run as for any UPDATE.
    ///
    /// - Parameters:
    ///   - storage: the form that all dates have afterwards. A column whose type is TEXT cannot store one that is a number.
    ///   - numbers: how to read numbers; by default as `Connection.dateStorage`.
    /// - Returns: the number of rows changed.
    /// - Throws: `QueryError` for a value that is not a date, and for a column that stores the form as another one;
    ///   `DatabaseError`. Nothing is changed then.
    @discardableResult
    public func unify(as storage: DateStorage, numbers: DateStorage? = nil) throws -> Int {
        let numbers = numbers ?? db.dateStorage
        let (name, table): (SQL, SQL) = ("\(column: column)", "\(table: table)")
        return try db.withSavepoint {
            try db.forEach("SELECT \(name) FROM \(table)") { row in
                let value = try row.get(0, as: StoredValue.self)
                guard value == .null || numbers.date(of: value).flatMap({ storage.value(of: $0) }) != nil else {
                    throw QueryError.malformedValue(name: column, expected: "date")
                }
            }
            let function = "litevault_unified_date"
            try db.defineFunction(function, argumentCount: 1, deterministic: true) { arguments in
                numbers.date(of: StoredValue(arguments[0])).flatMap { storage.value(of: $0)?.binding }
            }
            defer { try? db.removeFunction(function, argumentCount: 1) }
            let changes = try db.run(
                "UPDATE \(table) SET \(name) = \(sql: function)(\(name)) WHERE \(sql: function)(\(name)) IS NOT \(name)"
            ).changes
            let isText = storage.value(of: Date(timeIntervalSince1970: 0))?.isNumber == false
            let types = isText ? ["text"] : ["integer", "real"]
            if let found = try db.first(
                "SELECT typeof(\(name)) FROM \(table) WHERE \(name) IS NOT NULL AND typeof(\(name)) NOT IN \(types)",
                as: String.self)
            {
                throw QueryError.unexpectedType(
                    name: column, expected: isText ? "text" : "a number", found: found)
            }
            return changes
        }
    }
}
