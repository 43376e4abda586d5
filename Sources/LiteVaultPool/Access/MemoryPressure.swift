internal import Dispatch
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// Reports when the system is short of memory: by Darwin's memory pressure events, and Linux's pressure stall information.
/// Elsewhere `releaseMemory()` has to be called.
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

        /// Checks periodically. The kernel could notify us instead, but only privileged processes on most of its versions, and by
        /// an event that Dispatch cannot wait for.
        ///
        /// - Parameters:
        ///   - stall: the source of the figure.
        ///   - interval: the seconds between two checks; the figure covers the last ten seconds.
        ///   - limit: the percentage at or above which `body` is called, once per check.
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

/// How much tasks wait for memory, as Linux reports it: pressure stall information (the kernel's
/// `Documentation/accounting/psi.rst`), of the control group if it has its own, and of the machine.
struct PressureStall: Sendable {
    /// The files with the figures. Old kernels have none of them, and some systems switch them off.
    static let files = ["/sys/fs/cgroup/memory.pressure", "/proc/pressure/memory"]

    var files = Self.files

    /// The percentage of the last ten seconds in which some task waited for memory: the highest of the files, nil without any.
    func share() -> Double? {
        files.compactMap { file in
            (try? String(contentsOfFile: file, encoding: .utf8)).flatMap(Self.share)
        }.max()
    }

    /// The value of `avg10` in the line of `some`, as in `some avg10=1.25 avg60=0.40 avg300=0.09 total=182334`.
    static func share(in text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
            let word = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") })
        else { return nil }
        return Double(word.dropFirst("avg10=".count))
    }
}
