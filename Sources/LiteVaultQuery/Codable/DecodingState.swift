internal import Foundation
internal import LiteVaultCore

/// What a container needs to read the columns of a statement.
///
/// A container is copied at each of its calls, and a reference would be counted each time. So it holds an address, and the
/// number of the query that the memory served when it was made. The memory is never given back, only used again: a
/// container that somebody kept finds another number there, and throws.
struct DecodingState {
    /// Counts the queries that were served.
    private(set) var query = 0
    /// Not after the query: nothing that leads here does so without its number.
    private(set) var execution: Execution
    /// The decoder, for what is not asked for often. As long as the query runs.
    private(set) var decoder: Unmanaged<QueryDecoder>
    /// For keys of one byte, as those of an enum are: the position of each one's column, once it is known, else -1. The
    /// last one belongs to no byte, and stays -1.
    let positions: UnsafeMutablePointer<Int32>

    /// The number of positions.
    private static let count = 257
    private static let lock = NSLock()
    /// The memory of queries that are over. Under the lock.
    nonisolated(unsafe) private static var idle: [UnsafeMutablePointer<DecodingState>] = []

    /// Memory for a query.
    static func begin(_ execution: Execution, _ decoder: QueryDecoder) -> UnsafeMutablePointer<DecodingState> {
        lock.lock()
        defer { lock.unlock() }
        if let state = idle.popLast() {
            state.pointee.execution = execution
            state.pointee.decoder = .passUnretained(decoder)
            return state
        }
        let positions = UnsafeMutablePointer<Int32>.allocate(capacity: count)
        positions.initialize(repeating: -1, count: count)
        let state = UnsafeMutablePointer<DecodingState>.allocate(capacity: 1)
        state.initialize(
            to: DecodingState(execution: execution, decoder: .passUnretained(decoder), positions: positions))
        return state
    }

    /// Ends the query that the memory served.
    static func end(_ state: UnsafeMutablePointer<DecodingState>) {
        lock.lock()
        defer { lock.unlock() }
        state.pointee.query += 1
        state.pointee.positions.update(repeating: -1, count: count)
        idle.append(state)
    }

    private init(execution: Execution, decoder: Unmanaged<QueryDecoder>, positions: UnsafeMutablePointer<Int32>) {
        self.execution = execution
        self.decoder = decoder
        self.positions = positions
    }
}
