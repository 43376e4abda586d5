import Foundation

/// Waits for asynchronous work in synchronous code: a capture.
enum Waiting {
    private final class Box<T: Sendable>: @unchecked Sendable {  // written before the signal, read after it
        var value: T?
    }

    static func result<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T? {
        let box = Box<T>()
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            box.value = await body()
            done.signal()
        }
        done.wait()
        return box.value
    }
}
