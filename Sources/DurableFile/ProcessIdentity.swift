internal import LiteVaultFoundation

/// The identity of a process: its ID alone may be reused, after a restart even by the process that checks.
package struct ProcessIdentity: Equatable, Sendable {
    package enum State: Sendable { case alive, dead, unknown }

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
            process: process, start: Self.startTime(of: process) ?? 0, boot: Self.currentBoot,
            namespace: Self.currentNamespace)
    }

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
        if let now = Self.startTime(of: process), now != start { return .dead }
        return .alive
    }

    #if os(Linux)
        private static let currentBoot: UInt32 = {
            let text = contents(of: "/proc/sys/kernel/random/boot_id") ?? ""
            return UInt32(text.prefix(8), radix: 16) ?? 0
        }()

        private static let currentNamespace: UInt32 = {
            var status = stat()
            return stat("/proc/self/ns/pid", &status) == 0 ? UInt32(truncatingIfNeeded: status.st_ino) : 0
        }()

        private static func startTime(of process: Int32) -> UInt64? {
            // The second field is the command in parentheses and may contain anything; the start time is the 22nd.
            guard let text = contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
                return nil
            }
            let fields = text[end...].split(separator: " ")
            return fields.count > 20 ? UInt64(fields[20]) : nil
        }

        /// Whether a process of this container is stopped (SIGSTOP, SIGTSTP, a debugger); false if that is unknown.
        package static func isStopped(_ process: Int32) -> Bool {
            guard let text = contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
                return false
            }
            return ["T", "t"].contains(text[end...].split(separator: " ").dropFirst().first)
        }

        private static func contents(of path: String) -> String? {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(file, &bytes, bytes.count)
            return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        }
    #else
        private static let currentBoot: UInt32 = {
            var time = timeval()
            var size = MemoryLayout<timeval>.size
            let found = sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0
            return found ? UInt32(truncatingIfNeeded: time.tv_sec) : 0
        }()
        private static let currentNamespace: UInt32 = 0
        private static func startTime(of process: Int32) -> UInt64? { nil }
        /// Unknown on this platform.
        package static func isStopped(_ process: Int32) -> Bool { false }
    #endif
}
