internal import LiteVaultEngine

/// Examines the bytes of a changeset before the engine reads them.
///
/// Engines trust them too much: SQLite 3.40 loops forever on a truncated table header, and until 3.44 (CVE-2023-7104) some
/// damaged records are read beyond their end. The format is that of https://sqlite.org/session/changegroup.html: for each table
/// `T` (or `P`, a patchset), its number of columns, which of them are the key, and its name; then its changes.
struct ChangesetFormat {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Throws `VaultError` `damaged` unless the bytes are well formed.
    static func check(_ bytes: [UInt8]) throws {
        let isWellFormed = bytes.withUnsafeBytes { buffer in
            var format = ChangesetFormat(bytes: buffer)
            return buffer.count <= Int(Int32.max) && format.readAll() != nil
        }
        guard isWellFormed else {
            throw VaultError(
                .damaged, "The changeset is damaged", remedy: "Record or fetch it again. Nothing of it was applied.")
        }
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // Each function returns nil for bytes that are not well formed.

    private mutating func readAll() -> Void? {
        var table: Table?
        while offset < bytes.count {
            guard let byte = next() else { return nil }
            switch byte {
            case UInt8(ascii: "T"), UInt8(ascii: "P"):
                guard let read = readTable(isPatchset: byte == UInt8(ascii: "P")),
                    table == nil || table?.isPatchset == read.isPatchset
                else { return nil }
                table = read
            default:
                guard let table, readChange(Int32(byte), of: table) != nil else { return nil }
            }
        }
        return ()
    }

    private struct Table {
        let isPatchset: Bool
        /// Whether each column is part of the key.
        let isKey: [Bool]
    }

    private mutating func readTable(isPatchset: Bool) -> Table? {
        // The engine's highest possible limit of columns.
        guard let count = readNumber(), (1...32767).contains(count), count <= bytes.count - offset else { return nil }
        let isKey = bytes[offset..<offset + count].map { $0 != 0 }
        offset += count
        guard isKey.contains(true), let end = bytes[offset...].firstIndex(of: 0), end > offset else { return nil }
        offset = end + 1
        return Table(isPatchset: isPatchset, isKey: isKey)
    }

    private mutating func readChange(_ operation: Int32, of table: Table) -> Void? {
        guard next() != nil else { return nil }  // whether it was made by a trigger
        switch (operation, table.isPatchset) {
        case (SQLITE_INSERT, _), (SQLITE_DELETE, false): return readRecord(table.isKey.map { _ in true })
        case (SQLITE_DELETE, true): return readRecord(table.isKey.filter { $0 })
        case (SQLITE_UPDATE, true): return readRecord(table.isKey)
        case (SQLITE_UPDATE, false):
            guard readRecord(table.isKey) != nil else { return nil }
            return readRecord(table.isKey.map { _ in false })
        default: return nil
        }
    }

    /// - Parameter isRequired: for each value, whether it must be there.
    private mutating func readRecord(_ isRequired: [Bool]) -> Void? {
        for isRequired in isRequired {
            guard let type = next() else { return nil }
            let length: Int?
            switch Int32(type) {
            case 0 where !isRequired, SQLITE_NULL: length = 0
            case SQLITE_INTEGER, SQLITE_FLOAT: length = 8
            case SQLITE_TEXT, SQLITE_BLOB: length = readNumber()
            default: length = nil
            }
            guard let length, length <= bytes.count - offset else { return nil }
            offset += length
        }
        return ()
    }

    private mutating func next() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// A number of at most 31 bits: 7 bits in each byte, the highest first; all bytes but the last one have their first bit set.
    private mutating func readNumber() -> Int? {
        var number = 0
        for _ in 0..<5 {
            guard let byte = next() else { return nil }
            number = number << 7 | Int(byte & 0x7f)
            if byte < 0x80 { return number <= Int(Int32.max) ? number : nil }
        }
        return nil
    }
}
