import Foundation

/// A value that threads share.
final class Shared<Value>: @unchecked Sendable {  // `stored` only under `lock`
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        lock.lock()
        defer { lock.unlock() }
        return stored
    }

    @discardableResult
    func update<T>(_ body: (inout Value) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&stored)
    }
}

/// Hands something over to a thread that takes it as its own.
struct Handed<Value>: @unchecked Sendable {  // used by one thread at a time
    var value: Value
}

/// A thread that was started; `join` waits for it.
final class BackgroundThread: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [done] in
            body()
            done.signal()
        }
        thread.start()
    }

    /// Whether it ended within this many seconds.
    func join(within seconds: Double = 600) -> Bool { done.wait(timeout: .now() + seconds) == .success }
}

/// Runs a block on this many threads at once, and says whether all of them ended within ten minutes.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) -> Bool {
    let threads = (0..<count).map { index in BackgroundThread { body(index) } }
    return threads.allSatisfy { $0.join() }
}
