extension ColumnDefinition {
    /// How values are converted when they are stored (https://sqlite.org/datatype3.html#type_affinity).
    public enum Affinity: String, CaseIterable, CustomStringConvertible, Sendable {
        case INTEGER
        case NUMERIC
        case REAL
        case TEXT
        case BLOB

        /// The affinity that SQLite gives to a declared type such as `VARCHAR(20)`.
        public init(_ declaredType: String) {
            let type = declaredType.uppercased()
            if type.contains("INT") {
                self = .INTEGER
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                self = .TEXT
            } else if type.contains("BLOB") || type.allSatisfy(\.isWhitespace) {
                self = .BLOB
            } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                self = .REAL
            } else {
                self = .NUMERIC
            }
        }

        /// Its name.
        public var description: String { rawValue }
    }

    /// What happens to a row that violates the constraint (https://sqlite.org/lang_conflict.html).
    public enum OnConflict: String, CaseIterable, Sendable {
        case ROLLBACK
        case ABORT
        case FAIL
        case IGNORE
        case REPLACE
    }
}
