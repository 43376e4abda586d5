internal import LiteVaultCore
internal import LiteVaultEngine

/// The encoding of all text in a database (`PRAGMA encoding`).
enum TextEncoding: String {
    case utf8 = "UTF-8"
    case utf16le = "UTF-16le"
    case utf16be = "UTF-16be"

    init(of connection: Connection) throws {
        let name = try connection.value("PRAGMA encoding", as: String.self)
        guard let encoding = Self(rawValue: name) else {
            throw VaultError(.unsupported, "The text encoding \(name) is not known")
        }
        self = encoding
    }

    /// The text in UTF-8, if the engine makes the same stored bytes of that again; otherwise nil.
    ///
    /// Text in a database need not be valid: `CAST(x'00d8' AS TEXT)` is half of a character of UTF-16. Of U+FFFE and U+FFFF, in UTF-8, the
    /// engine makes U+FFFD.
    func utf8(_ stored: [UInt8]) -> [UInt8]? {
        guard self != .utf8 else {
            return String(decoding: stored, as: UTF8.self).utf8.elementsEqual(stored) ? stored : nil
        }
        guard stored.count.isMultiple(of: 2) else { return nil }
        let (high, low) = self == .utf16be ? (0, 1) : (1, 0)
        let units = stride(from: 0, to: stored.count, by: 2).map {
            UInt16(stored[$0 + high]) << 8 | UInt16(stored[$0 + low])
        }
        guard !units.contains(where: { $0 >= 0xFFFE }) else { return nil }
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
    }

    /// The number of the encoding in calls of the engine.
    fileprivate var code: Int32 {
        switch self {
        case .utf8: SQLITE_UTF8
        case .utf16le: SQLITE_UTF16LE
        case .utf16be: SQLITE_UTF16BE
        }
    }

    /// A byte order mark, of which the engine takes one off a text in UTF-16 that it is given: without it, it would take the first
    /// character of a text that begins with U+FEFF, and exchange the bytes of one that begins with U+FFFE.
    fileprivate var mark: [UInt8] {
        switch self {
        case .utf8: []
        case .utf16le: [0xFF, 0xFE]
        case .utf16be: [0xFE, 0xFF]
        }
    }
}

/// The value of a column with the bytes of a text as they are stored: a `String` would be repaired, and equal to others.
enum ExactValue: ColumnValue, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    static func read(from column: borrowing ColumnReader) throws -> ExactValue {
        switch column.type {
        case SQLITE_INTEGER: .integer(sqlite3_value_int64(column.value))
        case SQLITE_FLOAT: .real(sqlite3_value_double(column.value))
        // As a blob, a text keeps the encoding of its database: sqlite3_value_text would convert it, also for later calls.
        case SQLITE_TEXT: .text([UInt8](blob: column.value))
        case SQLITE_BLOB: .blob([UInt8](blob: column.value))
        default: .null
        }
    }

    /// Not used: the encoding of a text is part of ``ExactParameter``.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { SQLITE_MISUSE }
}

/// An exact value as the parameter of a statement.
struct ExactParameter: StatementArgument, Equatable {
    let value: ExactValue
    /// The encoding of a text.
    let encoding: TextEncoding

    func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 {
        index += 1
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return number.bind(to: statement, at: index)
        case .real(let number): return number.bind(to: statement, at: index)
        case .blob(let bytes): return bytes.bind(to: statement, at: index)
        case .text(let bytes):
            return (encoding.mark + bytes).withUnsafeBytes { marked in
                guard let start = marked.baseAddress, !marked.isEmpty else {
                    return sqlite3_bind_text(statement, index, "", 0, nil)
                }
                return sqlite3_bind_text64(
                    statement, index, start.assumingMemoryBound(to: CChar.self), UInt64(marked.count), transient,
                    UInt8(encoding.code))
            }
        }
    }
}
