public import LiteVaultCore

extension Int64: Value {
    /// `INTEGER`
    public static let declaredDatatype = "INTEGER"
    /// The number as it is.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Int64 { datatypeValue }
    /// The number as it is.
    @inlinable
    public var datatypeValue: Int64 { self }
}

extension Int: Value {
    /// `INTEGER`
    public static let declaredDatatype = Int64.declaredDatatype
    /// The number; on platforms with 32 bits one that does not fit is cut to the nearest that does.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Int { Int(clamping: datatypeValue) }
    /// The number as 64 bits.
    @inlinable
    public var datatypeValue: Int64 { Int64(self) }
}

extension Double: Value {
    /// `REAL`
    public static let declaredDatatype = "REAL"
    /// The number as it is.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Double) -> Double { datatypeValue }
    /// The number as it is.
    @inlinable
    public var datatypeValue: Double { self }
}

extension Bool: Value {
    /// `INTEGER`
    public static let declaredDatatype = Int64.declaredDatatype
    /// 0 is false, everything else true.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Bool { datatypeValue != 0 }
    /// 0 or 1.
    @inlinable
    public var datatypeValue: Int64 { self ? 1 : 0 }
}

extension String: Value {
    /// `TEXT`
    public static let declaredDatatype = "TEXT"
    /// The text as it is.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: String) -> String { datatypeValue }
    /// The text as it is.
    @inlinable
    public var datatypeValue: String { self }
}

extension Blob: Value {
    /// `BLOB`
    public static let declaredDatatype = "BLOB"
    /// The bytes as they are.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Blob) -> Blob { datatypeValue }
    /// The bytes as they are.
    @inlinable
    public var datatypeValue: Blob { self }
}
