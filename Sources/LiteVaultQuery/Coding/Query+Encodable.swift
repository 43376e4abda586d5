extension QueryType {
    /// Returns an INSERT of a value, with a column for each coding key. A nil property is left out, so that its column gets
    /// the default value.
    ///
    /// Numbers, strings, `Bool`, `Data`, `Date`, `UUID` and `URL` are stored natively, enums as their raw value, and all other
    /// types as JSON.
    ///
    /// - Parameters:
    ///   - encodable: the value.
    ///   - userInfo: passed to the value's `encode(to:)`.
    ///   - otherSetters: assignments to columns the value does not have.
    /// - Throws: what encoding throws.
    public func insert(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Insert {
        let setters = try RowEncoder.encoded(encodable, in: clauses.from, userInfo: userInfo, writesNil: false).setters
        return insert(otherSetters.isEmpty ? setters : setters + otherSetters)
    }

    /// Returns an INSERT of a value with a conflict clause; see ``insert(_:userInfo:otherSetters:)``.
    ///
    /// - Throws: what encoding throws.
    public func insert(
        or onConflict: OnConflict, encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:],
        otherSetters: [Setter] = []
    ) throws -> Insert {
        let setters = try RowEncoder.encoded(encodable, in: clauses.from, userInfo: userInfo, writesNil: false).setters
        return insert(or: onConflict, setters + otherSetters)
    }

    /// Returns an INSERT of several values.
    ///
    /// A column that is nil in all values gets its default value. One that is nil in some values becomes NULL in them, or gets
    /// its default value if it is NOT NULL; see ``insertMany(or:_:)``.
    ///
    /// - Throws: what encoding throws.
    public func insertMany(
        _ encodables: [any Encodable], userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Insert {
        let table = clauses.from
        let encoders = try encodables.map {
            try RowEncoder.encoded($0, in: table, userInfo: userInfo, writesNil: true)
        }
        let rows = encoders.map { $0.presentSetters + otherSetters }
        // A column that is nil in all values is left out of the text.
        let isSame = Set(encoders.map(\.absentColumns)).count == 1
        return insertingMany(nil, rows, printed: isSame ? rows : encoders.map { $0.setters + otherSetters })
    }

    /// Returns an INSERT of a value that updates the existing row if there is one with the same value of a column.
    ///
    /// - Parameters:
    ///   - encodable: the value. Its nil properties are left out.
    ///   - userInfo: passed to the value's `encode(to:)`.
    ///   - otherSetters: assignments to columns the value does not have.
    ///   - conflicting: the column or expression of the UNIQUE or PRIMARY KEY constraint.
    /// - Throws: what encoding throws.
    public func upsert(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = [],
        onConflictOf conflicting: any Expressible
    ) throws -> Insert {
        let setters = try RowEncoder.encoded(encodable, in: clauses.from, userInfo: userInfo, writesNil: false).setters
        return upsert(setters + otherSetters, onConflictOf: conflicting)
    }

    /// Returns an UPDATE of the rows of the query to a value. A nil property becomes NULL.
    ///
    /// - Parameters:
    ///   - encodable: the value. Every row of the query gets all of its properties: filter by the key first.
    ///   - userInfo: passed to the value's `encode(to:)`.
    ///   - otherSetters: assignments to columns the value does not have.
    /// - Throws: what encoding throws.
    @_disfavoredOverload  // module SQLite has one that prints as SQLite.swift's does
    public func update(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Update {
        let setters = try RowEncoder.encoded(encodable, in: clauses.from, userInfo: userInfo, writesNil: true).setters
        return update(setters + otherSetters)
    }

    /// An UPDATE that writes nil properties as NULL, but leaves them out of `asSQL()`, as SQLite.swift does; or leaves them out
    /// altogether.
    package func updatePrintingValues(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any], otherSetters: [Setter], writesNil: Bool
    ) throws -> Update {
        let encoder = try RowEncoder.encoded(encodable, in: clauses.from, userInfo: userInfo, writesNil: true)
        guard writesNil else { return update(encoder.presentSetters + otherSetters) }
        var whole = update(encoder.setters + otherSetters)
        let values = encoder.presentSetters
        if values.count < encoder.setters.count, !values.isEmpty { whole.printed = update(values + otherSetters).root }
        return whole
    }
}
