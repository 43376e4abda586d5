public import LiteVaultEngine

/// A sequence of bytes, as a BLOB column holds it.
public struct Blob: Sendable, Equatable, Hashable {
    /// The bytes.
    public let bytes: [UInt8]

    /// A blob of these bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// A copy of `length` bytes of memory. Empty for a length below 1.
    public init(bytes: UnsafeRawPointer, length: Int) {
        self.bytes = Array(UnsafeRawBufferPointer(start: bytes, count: Swift.max(0, length)))
    }

    /// The bytes as lower-case hexadecimal digits.
    public func toHex() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            unsafeUninitializedCapacity: bytes.count * 2,
            initializingUTF8With: { buffer in
                for (index, byte) in bytes.enumerated() {
                    buffer[index * 2] = digits[Int(byte >> 4)]
                    buffer[index * 2 + 1] = digits[Int(byte & 15)]
                }
                return bytes.count * 2
            })
    }
}

extension Blob: CustomStringConvertible {
    /// The blob as an SQL literal: `x'00ff'`.
    public var description: String { "x'\(toHex())'" }
}

extension Blob: Binding, ColumnValue {
    /// A BLOB.
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads a BLOB.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Blob {
        Blob(bytes: try [UInt8].read(from: column))
    }

    /// `sqlite3_bind_blob64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { bytes.bind(to: statement, at: index) }
}

extension Array: Binding, ColumnValue, StatementArgument where Element == UInt8 {
    /// A BLOB.
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self = bytes
    }

    /// Reads a BLOB.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> [UInt8] {
        guard column.type == SQLITE_BLOB else { throw column.mismatch(expected: "a blob") }
        return [UInt8](blob: column.value)
    }

    @inlinable
    init(blob value: OpaquePointer) {
        // As for text: first the pointer, then the length. The pointer of an empty blob is null.
        let start = sqlite3_value_blob(value)
        self = [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value))))
    }

    /// `sqlite3_bind_blob64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            // A null pointer would bind NULL instead of an empty blob.
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return sqlite3_bind_zeroblob(statement, index, 0)
            }
            return sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), transient)
        }
    }
}
