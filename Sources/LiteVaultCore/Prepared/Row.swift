public import CEngineSupport
internal import LiteVaultEngine

/// A self-contained, `Sendable` copy of a row. It holds no lock and no statement.
///
/// The memory of a row that was not kept is reused for the next one.
public struct Row: Sendable {
    /// The values. Never changed while a row refers to them.
    @usableFromInline package let storage: RowCells

    package init(_ storage: RowCells) { self.storage = storage }

    package init(columns: RowColumns, cells: [StoredValue]) { storage = RowCells(columns, cells) }

    /// The names of the columns, shared by the rows of a query.
    package var columns: RowColumns { storage.columns }

    package var cells: [StoredValue] { (0..<storage.count).map(storage.stored) }

    /// The names of the columns, in order, as the query gives them.
    public var names: [String] { columns.names }

    /// The values, each as the type of its storage class, or nil for NULL.
    public var values: [(any Binding)?] { (0..<storage.count).map { storage.stored($0).binding } }

    /// The value of a column by its position from 0; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`
    public func value(at index: Int) throws -> (any Binding)? {
        guard index >= 0, index < storage.count else {
            throw QueryError.noSuchColumn(name: "#\(index)", columns: names)
        }
        return storage.stored(index).binding
    }

    /// The value of a column by its name; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`, or `.ambiguousColumn` when two columns have the name.
    public func value(named name: String) throws -> (any Binding)? {
        let matches = names.indices.filter { isSameText(names[$0], name) }
        guard let index = matches.first else { throw QueryError.noSuchColumn(name: name, columns: names) }
        guard matches.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: matches.map { names[$0] })
        }
        return try value(at: index)
    }
}

/// The values of one row, in memory of its own.
///
/// It is written by the statement that reads the row, while nobody else refers to it: a kept row keeps its cells, and
/// the next one gets new ones.
@usableFromInline
package final class RowCells: @unchecked Sendable {  // written only while there is one reference
    @usableFromInline package let columns: RowColumns
    @usableFromInline package let count: Int
    @usableFromInline let cells: UnsafeMutablePointer<lv_cell>
    /// The bytes of texts and blobs.
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0

    init(_ columns: RowColumns) {
        self.columns = columns
        count = columns.count
        cells = .allocate(capacity: Swift.max(count, 1))
        cells.initialize(repeating: lv_cell(bits: 0, length: 0, type: SQLITE_NULL), count: Swift.max(count, 1))
    }

    deinit {
        cells.deallocate()
        memory?.deallocate()
    }

    /// Copies the current row of a statement. Called under the connection's lock, and without another reference to the
    /// cells.
    func read(_ statement: OpaquePointer) {
        // A position beyond the statement's columns reads as NULL.
        let length = lv_read_cells(statement, cells, Int32(truncatingIfNeeded: count))
        guard length > 0 else { return }
        reserve(length)
        lv_copy_cells(cells, Int32(truncatingIfNeeded: count), memory)
    }

    private func reserve(_ length: Int) {
        guard length > capacity else { return }
        memory?.deallocate()
        capacity = Swift.max(length, Swift.min(capacity * 2, 1 << 16))
        memory = .allocate(byteCount: capacity, alignment: 8)
    }

    /// Whether the value is NULL. `index` is below `count`, as in all functions here.
    @inlinable
    @inline(__always)
    package func isNull(_ index: Int) -> Bool { cells[index].type == 5 }

    @inlinable
    @inline(__always)
    package func integer(_ index: Int) -> Int64? { cells[index].type == 1 ? cells[index].bits : nil }

    @inlinable
    @inline(__always)
    package func real(_ index: Int) -> Double? {
        cells[index].type == 2 ? Double(bitPattern: UInt64(bitPattern: cells[index].bits)) : nil
    }

    @inlinable
    @inline(__always)
    package func text(_ index: Int) -> String? {
        cells[index].type == 3 ? String(decoding: bytes(index), as: UTF8.self) : nil
    }

    /// The bytes of a TEXT or a BLOB: valid while there is a reference to the cells.
    @inlinable
    @inline(__always)
    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: Int(truncatingIfNeeded: cells[index].bits)),
            count: Int(cells[index].length))
    }

    package func stored(_ index: Int) -> StoredValue {
        switch cells[index].type {
        case SQLITE_INTEGER: .integer(cells[index].bits)
        case SQLITE_FLOAT: .real(Double(bitPattern: UInt64(bitPattern: cells[index].bits)))
        case SQLITE_TEXT: .text(String(decoding: bytes(index), as: UTF8.self))
        case SQLITE_BLOB: .blob([UInt8](bytes(index)))
        default: .null
        }
    }

    fileprivate convenience init(_ columns: RowColumns, _ values: [StoredValue]) {
        self.init(columns)
        let length = values.prefix(count).reduce(0) { sum, value in
            switch value {
            case .text(let text): sum + text.utf8.count
            case .blob(let bytes): sum + bytes.count
            default: sum
            }
        }
        reserve(length)
        var end = memory
        for (index, value) in values.prefix(count).enumerated() {
            switch value {
            case .null: break
            case .integer(let number): cells[index] = lv_cell(bits: number, length: 0, type: SQLITE_INTEGER)
            case .real(let number):
                cells[index] = lv_cell(
                    bits: Int64(bitPattern: number.bitPattern), length: 0, type: SQLITE_FLOAT)
            case .text(let text): write(Array(text.utf8), SQLITE_TEXT, index, &end)
            case .blob(let bytes): write(bytes, SQLITE_BLOB, index, &end)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ type: Int32, _ index: Int, _ end: inout UnsafeMutableRawPointer?) {
        cells[index] = lv_cell(
            bits: Int64(Int(bitPattern: end)), length: Int32(clamping: bytes.count), type: type)
        guard let start = end, !bytes.isEmpty else { return }
        start.copyMemory(from: bytes, byteCount: bytes.count)
        end = start + bytes.count
    }
}

@usableFromInline
package final class RowColumns: @unchecked Sendable {  // constants, and words that are read and written atomically
    /// As in the query.
    package let names: [String]
    /// How the connection stores dates. Set before the columns are shared.
    package var dates = DateStorage.text
    private let givenKeys: [String]?
    /// Whether each key is one quoted name that no later column repeats: the last one is used then.
    private let isPlain: [Bool]
    @usableFromInline let count: Int
    /// The position that is tried first, then for each column the identity of an expression found to refer to it.
    @usableFromInline let words: UnsafeMutablePointer<UInt>
    /// Retains these expressions.
    private let owners: UnsafeMutablePointer<UInt>

    package init(names: [String], keys: [String]? = nil) {
        self.names = names
        givenKeys = keys
        count = names.count
        var later: Set<ExactText> = []
        var isPlain = [Bool](repeating: false, count: names.count)
        for index in names.indices.reversed() where keys.map({ isSameText($0[index], quoted(names[index])) }) ?? true {
            isPlain[index] = later.insert(ExactText(names[index])).inserted
        }
        self.isPlain = isPlain
        words = .allocate(capacity: count + 2)
        words.initialize(repeating: 0, count: count + 2)
        owners = .allocate(capacity: count + 1)
        owners.initialize(repeating: 0, count: count + 1)
    }

    deinit {
        for index in 0..<count {
            ObjectAddress.release(UnsafeMutableRawPointer(bitPattern: owners[index]))
        }
        words.deallocate()
        owners.deallocate()
    }

    /// As expressions refer to them: quoted, and with the table if the query has it.
    package var keys: [String] { givenKeys ?? names.map(quoted) }

    /// The position of each key; if several columns have it, that of the last one.
    package var positions: [String: Int] {
        Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
    }

    /// The position of a column without its table, by its unquoted name.
    ///
    /// Rows are usually read in the same order: the column after the last one found is tried first.
    package func plainPosition(of name: String) -> Int? {
        // Another thread may write the hint meanwhile: it is read once, and never trusted.
        let hint = Int(bitPattern: lv_word_load(words))
        if hint < count, isPlain[hint], isSameText(names[hint], name) {
            lv_word_store(words, UInt(bitPattern: hint + 1 < count ? hint + 1 : 0))
            return hint
        }
        for index in 0..<count where isPlain[index] && isSameText(names[index], name) {
            lv_word_store(words, UInt(bitPattern: index + 1 < count ? index + 1 : 0))
            return index
        }
        return nil
    }

    /// The position of a column by an expression that was found before.
    ///
    /// - Parameter identity: the address of the expression's tree. It can be trusted: a tree that was found is retained
    ///   for the lifetime of these columns, so no other can have its address.
    @inlinable
    @inline(__always)
    package func position(ofIdentity identity: UInt) -> Int? {
        // A hint that is out of bounds cannot be stored: every store is of a position, or 0. One more word always
        // follows, which is 0 if there is no column.
        let hint = Int(bitPattern: lv_word_load(words))
        guard lv_word_load(words + hint + 1) == identity else { return positionElsewhere(ofIdentity: identity) }
        lv_word_store(words, UInt(bitPattern: hint + 1 < count ? hint + 1 : 0))
        return hint
    }

    @usableFromInline
    func positionElsewhere(ofIdentity identity: UInt) -> Int? {
        for index in 0..<count where lv_word_load(words + index + 1) == identity {
            lv_word_store(words, UInt(bitPattern: index + 1 < count ? index + 1 : 0))
            return index
        }
        return nil
    }

    /// Records the expression that refers to a column, the first one for each.
    package func remember(_ owner: AnyObject, identity: UInt, at index: Int) {
        guard index >= 0, index < count, lv_word_load(words + index + 1) == 0 else { return }
        let address = ObjectAddress.retained(owner)
        guard lv_word_claim(owners + index, UInt(bitPattern: address)) else { return ObjectAddress.release(address) }
        // Only the thread that claimed the slot gets here, and the owner is retained already.
        lv_word_store(words + index + 1, identity)
    }
}
