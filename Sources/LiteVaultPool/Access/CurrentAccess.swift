internal import Foundation

/// Which databases the current thread is accessing: closures are synchronous, so an access never changes its thread.
enum CurrentAccess {
    private struct Frame {
        let core: ObjectIdentifier
        let outer: UnsafeMutableRawPointer?
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Runs a body as an access of `core`.
    static func within<T>(_ core: AccessCore, _ body: () throws -> T) rethrows -> T {
        let outer = pthread_getspecific(key)
        var frame = Frame(core: ObjectIdentifier(core), outer: outer)
        return try withUnsafeMutablePointer(to: &frame) { pointer in
            pthread_setspecific(key, UnsafeMutableRawPointer(pointer))
            defer { pthread_setspecific(key, outer) }
            return try body()
        }
    }

    /// Whether this thread is inside an access of `core`.
    static func isWithin(_ core: AccessCore) -> Bool {
        var next = pthread_getspecific(key)
        while let current = next {
            let frame = current.assumingMemoryBound(to: Frame.self).pointee
            if frame.core == ObjectIdentifier(core) { return true }
            next = frame.outer
        }
        return false
    }
}
