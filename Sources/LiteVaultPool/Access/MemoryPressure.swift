internal import Foundation

/// Tells when the system is short of memory, where the system says so. Elsewhere `releaseMemory()` has to be called.
final class MemoryPressure: Sendable {
    #if canImport(Darwin)
        private let source = Protected<(any DispatchSourceMemoryPressure)?>(nil)

        func start(_ body: @escaping @Sendable () -> Void) {
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
            source.setEventHandler(handler: body)
            source.activate()
            self.source.withLock { $0 = source }
        }

        func stop() { source.withLock { $0?.cancel() } }

        deinit { stop() }
    #else
        func start(_ body: @escaping @Sendable () -> Void) {}
        func stop() {}
    #endif
}
