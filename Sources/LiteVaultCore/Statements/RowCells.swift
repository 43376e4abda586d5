public import CEngineSupport
internal import LiteVaultEngine

/// The values of one row, in memory of its own.
///
/// It is written by the statement that reads the row, while nobody else refers to it: a row that was kept keeps its
/// cells, and the next one gets new ones.
@usableFromInline
package final class RowCells: @unchecked Sendable {  // written only while there is one reference
    @usableFromInline package let columns: RowColumns
    @usableFromInline package let count: Int
    @usableFromInline let cells: UnsafeMutablePointer<lv_cell>
    /// What texts and blobs consist of.
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

    /// Copies the current row of a statement. Under the connection's lock, and with no other reference to the cells.
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

    /// Whether the value is NULL. `index` is below `count`, as everywhere here.
    @inlinable
    @inline(__always)
    package func isNull(_ index: Int) -> Bool { cells[index].type == 5 }

    /// The value of an INTEGER.
    @inlinable
    @inline(__always)
    package func integer(_ index: Int) -> Int64? { cells[index].type == 1 ? cells[index].bits : nil }

    /// The value of a REAL.
    @inlinable
    @inline(__always)
    package func real(_ index: Int) -> Double? {
        cells[index].type == 2 ? Double(bitPattern: UInt64(bitPattern: cells[index].bits)) : nil
    }

    /// The value of a TEXT.
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

    /// The value by its storage class.
    package func stored(_ index: Int) -> StoredValue {
        switch cells[index].type {
        case SQLITE_INTEGER: .integer(cells[index].bits)
        case SQLITE_FLOAT: .real(Double(bitPattern: UInt64(bitPattern: cells[index].bits)))
        case SQLITE_TEXT: .text(String(decoding: bytes(index), as: UTF8.self))
        case SQLITE_BLOB: .blob([UInt8](bytes(index)))
        default: .null
        }
    }

    /// Cells of values that come from elsewhere.
    convenience init(_ columns: RowColumns, _ values: [StoredValue]) {
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
