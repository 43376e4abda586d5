internal import Foundation
internal import LiteVaultCore

/// What decoding needs of a query that is being read.
///
/// Decoders and containers are copied at each of their calls, and a reference would be counted each time. So they hold an
/// address, and the number of the query that the memory served when they were made. The memory is never given back, only
/// used again: who kept a container finds another number there, and the container throws.
@usableFromInline
struct DecodingState {
    /// Counts the queries that were served.
    private(set) var query = 0
    /// Not after the query: nothing that leads here does so without its number. So are the next two.
    private(set) var execution: Execution
    /// What is not asked for often.
    private(set) var rows: Unmanaged<DecodedRows>
    /// The container that was made first. A value asks for the same one in every row.
    var container: Unmanaged<AnyObject>?
    /// For which keys it is.
    var keyType: ObjectIdentifier?
    /// For keys of one byte, as those of an enum are: the position of each one's column, once it is known, else -1. The
    /// last one belongs to no byte, and stays -1.
    let positions: UnsafeMutablePointer<Int32>

    /// The number of positions.
    private static let count = 257
    private static let lock = NSLock()
    /// The memory of queries that are over. Under the lock.
    nonisolated(unsafe) private static var idle: [UnsafeMutablePointer<DecodingState>] = []

    /// Memory for a query.
    static func begin(_ execution: Execution, _ rows: DecodedRows) -> UnsafeMutablePointer<DecodingState> {
        lock.lock()
        defer { lock.unlock() }
        if let state = idle.popLast() {
            state.pointee.execution = execution
            state.pointee.rows = .passUnretained(rows)
            return state
        }
        let positions = UnsafeMutablePointer<Int32>.allocate(capacity: count)
        positions.initialize(repeating: -1, count: count)
        let state = UnsafeMutablePointer<DecodingState>.allocate(capacity: 1)
        state.initialize(to: DecodingState(execution, .passUnretained(rows), positions))
        return state
    }

    /// Ends the query that the memory served.
    static func end(_ state: UnsafeMutablePointer<DecodingState>) {
        lock.lock()
        defer { lock.unlock() }
        state.pointee.query += 1
        state.pointee.container?.release()
        state.pointee.container = nil
        state.pointee.keyType = nil
        state.pointee.positions.update(repeating: -1, count: count)
        idle.append(state)
    }

    private init(_ execution: Execution, _ rows: Unmanaged<DecodedRows>, _ positions: UnsafeMutablePointer<Int32>) {
        self.execution = execution
        self.rows = rows
        self.positions = positions
    }
}
