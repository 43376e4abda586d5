internal import LiteVaultCore
internal import LiteVaultSystem

// Every shortcut around Swift's safety in this target, each with the invariant that makes it sound. They exist for
// speed: `Benchmarks/run` measures it (structs, structs by Codable, fetch by expression, insert by setters).

// MARK: Casts

/// The value as another type if both types are the same; otherwise nil. If the compiler knows the types, this costs
/// nothing.
///
/// Invariant: bits are cast only between identical types.
@inlinable
@inline(__always)
package func sameType<T, U>(_ value: T, as type: U.Type) -> U? {
    T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
}

/// The single byte of a coding key, as most enums have; nil for a key of any other size.
///
/// Invariants: a type of one byte holds no reference, so reading its byte is copying it. A key's name depends on its value
/// alone (`CodingKey`), so equal bytes of one type have equal names.
@inline(__always)
func byte<Key: CodingKey>(of key: Key) -> Int? {
    MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : nil
}

/// The value, declared to be Sendable: `JSONEncoder` and `JSONDecoder` accept only such values in their `userInfo`.
///
/// Invariants: the coder is used on this thread only, while the caller waits. Sendable has no representation of its own, so
/// both existential types have the same layout.
func assumingSendable(_ value: Any) -> any Sendable { unsafeBitCast(value, to: (any Sendable).self) }

// MARK: Decoding

/// A query that is being decoded, in the form that decoders and containers store: two words without a reference.
///
/// Decoders and containers are copied at each of their calls, and a reference would be counted each time. So they hold the
/// address of a state and the number of the query it served when they were made.
///
/// Invariants:
/// * The memory of a state is never freed, only reused (`idle`), so the address is always valid.
/// * `end()` increments the number. A handle that outlives its query finds another number: `isCurrent` is false, and
///   callers throw. They check before anything that follows a pointer of the state.
/// * A column position is known only while the query runs: `end()` forgets the positions. So reading a column at a known
///   position needs no further test.
/// * The owner and its execution outlive the query: `DecodedRows` calls `end()` before it gives its statement back, and
///   no later than in its deinit.
/// * A handle is used by one thread at a time, like any decoder.
struct DecodingHandle {
    private let state: UnsafeMutablePointer<DecodingState>
    private let query: Int

    /// Begins decoding the rows of an execution. Balance with `end()`.
    ///
    /// - Parameter owner: stays alive until `end()`.
    static func begin(_ execution: Execution, owner: AnyObject) -> DecodingHandle {
        let state = DecodingState.take(execution, owner)
        return DecodingHandle(state: state, query: state.pointee.query)
    }

    /// Ends the decoding: this handle and its copies are no longer current.
    func end() { DecodingState.recycle(state) }

    /// Whether the query is still being decoded.
    @inline(__always)
    var isCurrent: Bool { state.pointee.query == query }

    /// The owner passed to `begin`. Only while the handle is current.
    var owner: AnyObject { state.pointee.owner.takeUnretainedValue() }

    /// A column of the current row, at a position that was found for this query.
    @inline(__always)
    func column(_ index: Int32) -> ColumnReader { ColumnReader(state.pointee.execution, Int(index)) }

    /// The known position of a key's column, or -1.
    @inline(__always)
    func position<Key: CodingKey>(of key: Key) -> Int32 {
        state.pointee.positions[byte(of: key) ?? DecodingState.noByte]
    }

    /// Records the position of a key's column, if the key is one byte.
    func note<Key: CodingKey>(_ position: Int32, of key: Key) {
        if let byte = byte(of: key) { state.pointee.positions[byte] = position }
    }

    /// The container that was kept for a type of keys: a value requests the same one in every row.
    @inline(__always)
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key>? {
        guard isCurrent, state.pointee.keyType == ObjectIdentifier(type), let container = state.pointee.container else {
            return nil
        }
        // Sound: `keep` noted the type together with the box.
        return container._withUnsafeGuaranteedRef {
            unsafeDowncast($0, to: ContainerBox<KeyedDecodingContainer<Key>>.self).copy()
        }
    }

    var hasContainer: Bool { state.pointee.keyType != nil }

    /// Keeps the container for a type of keys until the query ends.
    func keep<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>) {
        state.pointee.container = .passRetained(ContainerBox(container))
        state.pointee.keyType = ObjectIdentifier(Key.self)
    }
}

/// The state of a query that is being decoded, in memory that is never freed. See `DecodingHandle`.
private struct DecodingState {
    /// Counts the queries served.
    private(set) var query = 0
    private(set) var execution: Execution
    private(set) var owner: Unmanaged<AnyObject>
    /// A `ContainerBox` of the container for `keyType`; retained.
    var container: Unmanaged<AnyObject>?
    var keyType: ObjectIdentifier?
    /// For keys of one byte, the position of each key's column once it is known, otherwise -1. The last element belongs
    /// to no byte and stays -1.
    let positions: UnsafeMutablePointer<Int32>

    static let noByte = 256
    /// The states of queries that have ended.
    private static let idle = Locked<[UnsafeMutablePointer<DecodingState>]>([])

    static func take(_ execution: Execution, _ owner: AnyObject) -> UnsafeMutablePointer<DecodingState> {
        if let state = idle.withLock({ $0.popLast() }) {
            state.pointee.execution = execution
            state.pointee.owner = .passUnretained(owner)
            return state
        }
        let positions = UnsafeMutablePointer<Int32>.allocate(capacity: noByte + 1)
        positions.initialize(repeating: -1, count: noByte + 1)
        let state = UnsafeMutablePointer<DecodingState>.allocate(capacity: 1)
        state.initialize(to: DecodingState(execution: execution, owner: .passUnretained(owner), positions: positions))
        return state
    }

    static func recycle(_ state: UnsafeMutablePointer<DecodingState>) {
        state.pointee.query += 1
        state.pointee.container?.release()
        state.pointee.container = nil
        state.pointee.keyType = nil
        state.pointee.positions.update(repeating: -1, count: noByte + 1)
        idle.withLock { $0.append(state) }
    }
}

private final class ContainerBox<Container> {
    private let container: Container
    init(_ container: Container) { self.container = container }

    /// The container. Not specialized for its type: the object knows the type, while a specialized caller would have to
    /// look it up by name and arguments in every row.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func copy() -> Container { container }
}
