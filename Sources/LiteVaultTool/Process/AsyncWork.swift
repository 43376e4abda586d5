internal import Foundation

/// The one place where a command, which is synchronous, waits for work that is not.
enum AsyncWork {
    /// Runs `body` and waits for it.
    static func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let box = Box<T>()
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
            done.signal()
        }
        done.wait()
        guard let result = box.result else { throw Failure(.internal, "the work ended without a result") }
        return try result.get()
    }

    private final class Box<T: Sendable>: @unchecked Sendable {  // written before the signal, read after it
        var result: Result<T, any Error>?
    }
}
