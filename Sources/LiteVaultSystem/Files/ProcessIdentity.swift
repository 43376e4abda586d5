/// The identity of a process: its ID alone may be reused, after a restart even by the process that checks.
package struct ProcessIdentity: Equatable, Sendable {
    /// Whether a process still runs.
    package enum State: Sendable { case alive, dead, unknown }

    /// The ID (`getpid`).
    package let process: Int32
    /// When the process started, in kernel ticks since boot; 0 if the platform does not report it.
    package let start: UInt64
    /// The first 32 bits of the boot's identifier.
    package let boot: UInt32
    /// The namespace of `process`: in another container the ID refers to another process.
    package let namespace: UInt32

    package static let current = ProcessIdentity(process: getpid())

    /// A process of this boot and this container.
    package init(process: Int32) {
        self.init(
            process: process, start: Platform.startTime(of: process) ?? 0, boot: Platform.boot,
            namespace: Platform.processNamespace)
    }

    /// A process as it was recorded, perhaps on another machine.
    package init(process: Int32, start: UInt64, boot: UInt32, namespace: UInt32) {
        self.process = process
        self.start = start
        self.boot = boot
        self.namespace = namespace
    }

    /// The state of the process, as far as it can be determined. `unknown`: it ran under another boot, machine or container.
    package var state: State {
        let current = Self.current
        guard boot == current.boot, namespace == current.namespace, process > 0 else { return .unknown }
        if kill(process, 0) != 0 && errno == ESRCH { return .dead }
        if let now = Platform.startTime(of: process), now != start { return .dead }
        return .alive
    }
}
