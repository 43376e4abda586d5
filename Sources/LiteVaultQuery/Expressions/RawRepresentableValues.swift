internal import LiteVaultCore

/// An enum with raw values conforms by saying so: `enum Status: String, Value { case open, done }`. It is stored as its raw
/// value.
extension Value where Self: RawRepresentable, RawValue: Value, RawValue.ValueType == RawValue {
    /// That of the raw value.
    public static var declaredDatatype: String { RawValue.declaredDatatype }

    /// The case of a stored raw value.
    ///
    /// - Throws: `QueryError.malformedValue` when there is no such case, as in a file that a newer version of the
    ///   application wrote; and what reading the raw value throws.
    public static func fromDatatypeValue(_ datatypeValue: RawValue.Datatype) throws -> Self {
        guard let value = Self(rawValue: try RawValue.fromDatatypeValue(datatypeValue)) else {
            throw QueryError.malformedValue(name: "", expected: String(describing: Self.self))
        }
        return value
    }

    /// The raw value, as it is stored.
    public var datatypeValue: RawValue.Datatype { rawValue.datatypeValue }
}
