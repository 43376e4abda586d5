public import LiteVaultEngine

// Every shortcut around Swift's references in this target, each with the invariant that makes it sound. The first exists for speed:
// counting references costs more than everything else that is added to the engine for a row (`Benchmarks/run`, select). The others
// exist because C takes addresses.

// MARK: References that are not counted

/// A reference that is not counted.
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

    /// Runs a body with the object.
    @inlinable
    @inline(__always)
    package func withObject<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    /// The object, as a reference that is counted.
    package var object: Object { reference.takeUnretainedValue() }

    /// Counts one reference, until ``release()``.
    func retain() { _ = reference.retain() }

    /// Gives up the reference that ``retain()`` counted.
    func release() { reference.release() }
}

// MARK: Objects in the hands of C

/// The address of an object, as a callback of the engine or a word that is read atomically holds it.
enum ObjectAddress {
    /// The address of an object that its owner keeps.
    ///
    /// Invariant: the owner, the connection, takes the callback away before it gives the object up, and when it closes.
    static func unretained(_ object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    /// The address of an object that is kept until ``release``, which the engine calls, or the owner of the word.
    static func retained(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

    /// The object at an address.
    ///
    /// Invariants: it was made here, of an object of this type; the engine hands back the address only that it was given
    /// together with the callback that asks.
    static func object<Object: AnyObject>(
        _ address: UnsafeMutableRawPointer, as type: Object.Type = Object.self
    ) -> Object {
        Unmanaged<Object>.fromOpaque(address).takeUnretainedValue()
    }

    /// Gives up an object that ``retained(_:)`` keeps. The engine calls it when a function or a collation is replaced, and when
    /// the connection closes.
    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { address in
        if let address { Unmanaged<AnyObject>.fromOpaque(address).release() }
    }
}

/// `SQLITE_TRANSIENT`: the engine copies the bytes. A cast macro, which is not imported into Swift.
///
/// Invariant: the engine compares this address and never calls it.
@usableFromInline
package var transient: sqlite3_destructor_type {
    @inlinable get { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
