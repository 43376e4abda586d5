internal import Foundation
internal import LiteVaultSupport

/// Tells when the system is short of memory, where the system says so: Darwin's memory pressure events, and Linux's pressure
/// stall information. Elsewhere `releaseMemory()` has to be called.
final class MemoryPressure: Sendable {
    #if canImport(Darwin)
        private let source = Locked<(any DispatchSourceMemoryPressure)?>(nil)

        func start(_ body: @escaping @Sendable () -> Void) {
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
            source.setEventHandler(handler: body)
            source.activate()
            self.source.withLock { $0 = source }
        }
    #else
        private let source = Locked<(any DispatchSourceTimer)?>(nil)

        /// Looks at it from time to time. The kernel could wake us instead, but only for privileged processes on most of
        /// its versions, and by an event that Dispatch cannot wait for.
        ///
        /// - Parameters:
        ///   - stall: where it is told.
        ///   - interval: seconds between two looks; the figure is of the last ten seconds.
        ///   - limit: from which percentage on `body` is called, once for each look.
        func start(
            of stall: PressureStall = PressureStall(), every interval: Double = 10, limit: Double = 10,
            _ body: @escaping @Sendable () -> Void
        ) {
            guard stall.share() != nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
            timer.schedule(
                deadline: .now() + interval, repeating: interval, leeway: .milliseconds(Int(interval * 500)))
            timer.setEventHandler {
                if let share = stall.share(), share >= limit { body() }
            }
            timer.activate()
            source.withLock { $0 = timer }
        }
    #endif

    func stop() { source.withLock { $0?.cancel() } }

    deinit { stop() }
}
