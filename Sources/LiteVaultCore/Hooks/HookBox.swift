/// A closure that the engine calls through a pointer. The connection keeps it as long as the engine may call it.
final class HookBox<Argument, Result> {
    // Not retained: the connection owns the box.
    private unowned let connection: Connection
    private let body: (Argument) -> Result

    init(_ connection: Connection, _ body: @escaping (Argument) -> Result) {
        self.connection = connection
        self.body = body
    }

    /// What the engine hands back to the callback.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Runs the closure that belongs to a pointer; the connection refuses to be used meanwhile.
    static func call(_ pointer: UnsafeMutableRawPointer?, _ argument: Argument) -> Result {
        // The engine only ever passes what it was given together with this callback, and that is never null.
        let box = Unmanaged<HookBox>.fromOpaque(pointer.unsafelyUnwrapped).takeUnretainedValue()
        return box.connection.insideCallback { box.body(argument) }
    }
}

/// The closures that are installed on a connection.
struct Hooks {
    var busy: AnyObject?
    var trace: ((String) -> Void)?
    var update: ((Connection.Operation, String, String, Int64) -> Void)?
    var commit: (() throws -> Void)?
    var rollback: (() -> Void)?
    /// What the engine was given for each of them. Kept as long as it may call it.
    var tracing: AnyObject?
    var updating: AnyObject?
    var committing: AnyObject?
    var rollingBack: HookBox<Void, Void>?
    /// What checkpoints after commits, instead of the engine.
    var checkpoints: GuardedCheckpoints?
    /// Told of everything before the closures above, which are the user's.
    var observer: (any ConnectionObserver)?
}
