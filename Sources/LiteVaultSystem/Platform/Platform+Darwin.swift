#if canImport(Darwin)
    internal import Dispatch

    /// What differs between operating systems: this is Apple's. `Platform+Linux.swift` has the same for Linux, where it is described.
    /// Nothing in this file was compiled or run yet.
    package enum Platform {
        // MARK: Threads

        static func createThread(_ attributes: inout pthread_attr_t, _ argument: UnsafeMutableRawPointer) -> Int32 {
            var thread: pthread_t?
            return pthread_create(
                &thread, &attributes,
                { argument in
                    SystemThread.run(argument)
                    return nil
                }, argument)
        }

        static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) { pthread_cond_init(condition, nil) }

        static func wait(
            for condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
            _ span: timespec
        ) -> Bool {
            var time = span
            return pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0
        }

        // MARK: Processes

        static var spawnActions: posix_spawn_file_actions_t? { nil }

        static var spawnAttributes: posix_spawnattr_t? { nil }

        package static var programPath: String? {
            var size: UInt32 = 0
            _NSGetExecutablePath(nil, &size)
            var buffer = [CChar](repeating: 0, count: Int(size) + 1)
            guard _NSGetExecutablePath(&buffer, &size) == 0, let path = realpath(buffer, nil) else { return nil }
            defer { free(path) }
            return String(cString: path)
        }

        /// The time of the boot.
        package static let boot: UInt32 = {
            var time = timeval()
            var size = MemoryLayout<timeval>.size
            let found = sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0
            return found ? UInt32(truncatingIfNeeded: time.tv_sec) : 0
        }()

        package static let processNamespace: UInt32 = 0

        package static func startTime(of process: Int32) -> UInt64? { nil }

        package static func isStopped(_ process: Int32) -> Bool { false }

        // MARK: Memory

        /// There is no such advice, and core dumps are off by default.
        static func excludeFromCoreDumps(_ memory: UnsafeMutableRawPointer, _ length: Int) {}

        // MARK: Files

        package static let hasWriteLeases = false

        package static func openDescriptors(where isWanted: (stat) -> Bool) -> [Int32] { [] }

        package static let mountTable: String? = nil

        package static let hasCertificateFiles = false

        // MARK: Network

        package static let quickAcknowledgement: CInt? = nil

        // MARK: The engine

        package static let cipherLog = "device"
    }

    extension JobExecutor {
        // `ExecutorJob` needs macOS 14.
        package func enqueue(_ job: UnownedJob) { admit(job) }
    }

    extension stat {
        package var modificationTime: timespec { st_mtimespec }
        package var statusChangeTime: timespec { st_ctimespec }
    }

    /// Reports when the system is short of memory, by its memory pressure events.
    package final class MemoryPressure: Sendable {
        private let source = Locked<(any DispatchSourceMemoryPressure)?>(nil)

        package init() {}

        package func start(_ body: @escaping @Sendable () -> Void) {
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
            source.setEventHandler(handler: body)
            source.activate()
            self.source.withLock { $0 = source }
        }

        package func stop() { source.withLock { $0?.cancel() } }

        deinit { stop() }
    }
#endif
