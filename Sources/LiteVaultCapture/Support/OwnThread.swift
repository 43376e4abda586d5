internal import Foundation

/// Work that blocks for long, on a thread of its own: the threads of Swift's tasks are few, and leases have to be renewed by
/// one of them meanwhile.
package enum OwnThread {
    package static func run<T: Sendable>(_ body: @escaping () throws -> T) async throws -> T {
        // Nobody else touches what the body uses: the caller waits.
        let work = Work(body: body)
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: work.run()) }
            thread.stackSize = 2 << 20
            thread.start()
        }
    }

    private final class Work<T>: @unchecked Sendable {
        private var body: (() throws -> T)?

        init(body: @escaping () throws -> T) { self.body = body }

        /// Lets go of what the body holds before the caller goes on: temporary files are removed with what holds them,
        /// and a program that ends at once would leave them.
        func run() -> Result<T, any Error> {
            defer { body = nil }
            return Result { try body.map { try $0() } ?? { throw CancellationError() }() }
        }
    }
}
