extension QueryType {
    /// An INSERT of a value, a column for each of its coding keys. What is nil is left out and gets the default value.
    ///
    /// Numbers, texts, `Bool`, `Data`, `Date`, `UUID` and `URL` are stored as they are, enums by their raw value, and
    /// everything else as JSON.
    ///
    /// - Parameters:
    ///   - userInfo: handed to the value's `encode(to:)`.
    ///   - otherSetters: for columns that the value does not have.
    /// - Throws: what encoding throws.
    public func insert(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Insert {
        let setters = try RowEncoder.setters(of: encodable, userInfo: userInfo, writesNil: false)
        return insert(otherSetters.isEmpty ? setters : setters + otherSetters)
    }

    /// An INSERT of a value that says what happens when a constraint is violated.
    ///
    /// - Throws: what encoding throws.
    public func insert(
        or onConflict: OnConflict, encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:],
        otherSetters: [Setter] = []
    ) throws -> Insert {
        insert(
            or: onConflict, try RowEncoder.setters(of: encodable, userInfo: userInfo, writesNil: false) + otherSetters)
    }

    /// An INSERT of several values. Columns that are nil in all are left to their default values; those that are nil in some
    /// are NULL there, or have the default value where they are NOT NULL, as of ``insertMany(_:)-([[Setter]])``.
    ///
    /// - Throws: what encoding throws.
    public func insertMany(
        _ encodables: [any Encodable], userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Insert {
        let encoders = try encodables.map { try RowEncoder.encoded($0, userInfo: userInfo, writesNil: true) }
        let rows = encoders.map { $0.presentSetters + otherSetters }
        // Columns that no value has are left out of the text; otherwise it has every column of every row.
        let isSame = Set(encoders.map(\.absentColumns)).count == 1
        return insertingMany(nil, rows, printed: isSame ? rows : encoders.map { $0.setters + otherSetters })
    }

    /// An INSERT of a value that becomes an UPDATE where a row with its value of a column is there already.
    ///
    /// - Throws: what encoding throws.
    public func upsert(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = [],
        onConflictOf conflicting: any Expressible
    ) throws -> Insert {
        upsert(
            try RowEncoder.setters(of: encodable, userInfo: userInfo, writesNil: false) + otherSetters,
            onConflictOf: conflicting)
    }

    /// An UPDATE of the rows of the query to a value. What is nil becomes NULL.
    ///
    /// - Throws: what encoding throws.
    @_disfavoredOverload  // module SQLite has one that prints as SQLite.swift's does
    public func update(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Update {
        update(try RowEncoder.setters(of: encodable, userInfo: userInfo, writesNil: true) + otherSetters)
    }

    /// An UPDATE that writes what is nil and does not print it.
    package func updatePrintingValues(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any], otherSetters: [Setter]
    ) throws -> Update {
        let encoder = try RowEncoder.encoded(encodable, userInfo: userInfo, writesNil: true)
        var whole = update(encoder.setters + otherSetters)
        let values = encoder.presentSetters
        if values.count < encoder.setters.count, !values.isEmpty { whole.printed = update(values + otherSetters).root }
        return whole
    }
}
