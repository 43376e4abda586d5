internal import CEngineSupport
public import LiteVaultEngine

// Every shortcut around Swift's references in this target, each with the invariant that makes it sound. The first
// exists for speed: counting references costs more than all other overhead over the engine for a row (`Benchmarks/run`,
// select). The others exist because C takes addresses.

// MARK: Uncounted references

/// An uncounted reference.
///
/// Invariant: something else keeps the object for as long as this is used. For a statement in use that is the cache, or the
/// reference that `Execution` takes of one that is not cached; for a connection it is the caller; for a row the
/// execution, which it cannot outlive.
@usableFromInline
package struct Uncounted<Object: AnyObject> {
    @usableFromInline let reference: Unmanaged<Object>

    @inlinable
    @inline(__always)
    package init(_ object: Object) { reference = .passUnretained(object) }

    @inlinable
    @inline(__always)
    package func withObject<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    package var object: Object { reference.takeUnretainedValue() }

    /// Counts one reference, until ``release()``.
    func retain() { _ = reference.retain() }

    func release() { reference.release() }
}

// MARK: Bound texts

/// Memory of a statement for the texts that are bound to its parameters, where the engine leaves them (`SQLITE_STATIC`). A copy
/// of the engine's own takes an allocation, and a lock to count it.
///
/// Invariants: a statement has one execution at a time, which fills its memory once and from the front, so a text stays as it
/// is until the execution ends. Its end clears the bindings. The memory lives as long as the statement, and does not move.
@usableFromInline
package struct TextSpace {
    private var next: UnsafeMutablePointer<CChar>?
    private var room: Int

    init(_ memory: UnsafeMutableBufferPointer<CChar>?) {
        next = memory?.baseAddress
        room = memory?.count ?? 0
    }

    /// No memory.
    @usableFromInline package init() { self.init(nil) }

    /// Binds a text to a parameter, from 1. Returns the engine's result code; nil when there is no room left, and nothing is bound.
    @usableFromInline
    package mutating func bind(_ text: String, to statement: OpaquePointer, at index: Int32) -> Int32? {
        let bound = text.utf8.withContiguousStorageIfAvailable { utf8 -> Int32? in
            guard utf8.count <= room, let target = next, let source = utf8.baseAddress else { return nil }
            UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: utf8.count)
            next = target + utf8.count
            room -= utf8.count
            return sqlite3_bind_text64(statement, index, target, UInt64(utf8.count), nil, UInt8(SQLITE_UTF8))
        }
        return bound ?? nil
    }
}

// MARK: Objects passed to C

/// The address of an object, for a callback of the engine or a word that is read atomically.
enum ObjectAddress {
    /// The address of an object that its owner retains.
    ///
    /// Invariant: the owner, the connection, removes the callback before it releases the object, and when it closes.
    static func unretained(_ object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    /// The address of an object that is kept until ``release``, which the engine calls, or the owner of the word.
    static func retained(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

    /// The object at an address.
    ///
    /// Invariants: it was created here, from an object of this type; the engine passes a callback only the address that
    /// was registered with it.
    static func object<Object: AnyObject>(
        _ address: UnsafeMutableRawPointer, as type: Object.Type = Object.self
    ) -> Object {
        Unmanaged<Object>.fromOpaque(address).takeUnretainedValue()
    }

    /// Releases an object retained by ``retained(_:)``. The engine calls it when a function or a collation is replaced,
    /// and when the connection closes.
    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { address in
        if let address { Unmanaged<AnyObject>.fromOpaque(address).release() }
    }
}

/// `SQLITE_TRANSIENT`: the engine copies the bytes. The macro contains a cast, and is not imported into Swift.
///
/// Invariant: the engine compares this address and never calls it.
@usableFromInline
package var transient: sqlite3_destructor_type {
    @inlinable get { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

// MARK: Flags

/// A flag that any thread may read and set, without a lock.
final class AtomicFlag: @unchecked Sendable {  // it is read and set atomically
    private let flag: UnsafeMutablePointer<Bool>

    init() {
        flag = .allocate(capacity: 1)
        flag.initialize(to: false)
    }

    deinit { flag.deallocate() }

    var isRaised: Bool { lv_flag_is_raised(flag) }

    func set(_ raised: Bool) { lv_flag_set(flag, raised) }
}
