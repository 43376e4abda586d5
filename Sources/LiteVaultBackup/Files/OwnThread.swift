internal import Foundation

/// Work that blocks for long, on a thread of its own: the threads of Swift's tasks are few, and leases have to be renewed by
/// one of them meanwhile.
enum OwnThread {
    static func run<T: Sendable>(_ body: @escaping () throws -> T) async throws -> T {
        // Nobody else touches what the body uses: the caller waits.
        let work = Work(body: body)
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try work.body() }) }
            thread.stackSize = 2 << 20
            thread.start()
        }
    }

    private struct Work<T>: @unchecked Sendable {
        let body: () throws -> T
    }
}
