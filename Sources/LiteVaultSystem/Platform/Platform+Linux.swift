#if !canImport(Darwin)
    internal import Dispatch

    /// What differs between operating systems: this is Linux, and what runs on its kernel. `Platform+Darwin.swift` has the same for Apple's. Other
    /// files have no conditions on the platform, apart from the imports in `Imports.swift` and the C targets.
    package enum Platform {
        // MARK: Threads

        /// Starts a thread that runs `SystemThread.run(argument)`, and returns the code of `pthread_create`.
        static func createThread(_ attributes: inout pthread_attr_t, _ argument: UnsafeMutableRawPointer) -> Int32 {
            var thread = pthread_t()
            return pthread_create(
                &thread, &attributes,
                { argument in
                    if let argument { SystemThread.run(argument) }
                    return nil
                }, argument)
        }

        /// Initializes a condition whose waits do not depend on the time of day, which may be set meanwhile.
        static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        }

        /// Waits for such a condition, and returns false after `span`.
        static func wait(
            for condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
            _ span: timespec
        ) -> Bool {
            var (time, now) = (span, timespec())
            clock_gettime(CLOCK_MONOTONIC, &now)
            time.tv_sec += now.tv_sec
            time.tv_nsec += now.tv_nsec
            if time.tv_nsec >= 1_000_000_000 {
                (time.tv_sec, time.tv_nsec) = (time.tv_sec + 1, time.tv_nsec - 1_000_000_000)
            }
            return pthread_cond_timedwait(condition, mutex, &time) == 0
        }

        // MARK: Processes

        static var spawnActions: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }

        static var spawnAttributes: posix_spawnattr_t { posix_spawnattr_t() }

        /// The absolute path of the running program; nil if the system does not say.
        package static var programPath: String? {
            guard let path = realpath("/proc/self/exe", nil) else { return nil }
            defer { free(path) }
            return String(cString: path)
        }

        /// The first 32 bits of the boot's identifier; 0 if there is none.
        package static let boot: UInt32 = {
            let text = contents(of: "/proc/sys/kernel/random/boot_id") ?? ""
            return UInt32(text.prefix(8), radix: 16) ?? 0
        }()

        /// The namespace of this process's ID; 0 if the system has none.
        package static let processNamespace: UInt32 = {
            var status = stat()
            return stat("/proc/self/ns/pid", &status) == 0 ? UInt32(truncatingIfNeeded: status.st_ino) : 0
        }()

        /// When a process started, in kernel ticks since boot; nil if that is unknown.
        package static func startTime(of process: Int32) -> UInt64? {
            // The 22nd of all fields.
            guard let fields = Self.fields(of: process), fields.count > 20 else { return nil }
            return UInt64(fields[20])
        }

        /// Whether a process is stopped (SIGSTOP, SIGTSTP, a debugger); false if that is unknown.
        package static func isStopped(_ process: Int32) -> Bool {
            ["T", "t"].contains(fields(of: process)?.dropFirst().first)
        }

        /// The fields of `/proc/PID/stat` from the end of the second one on: that is the command in parentheses, which may contain anything.
        private static func fields(of process: Int32) -> [Substring]? {
            guard let text = contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
                return nil
            }
            return text[end...].split(separator: " ")
        }

        private static func contents(of path: String) -> String? {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(file, &bytes, bytes.count)
            return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        }

        // MARK: Memory

        /// Leaves pages out of core dumps, where the system can.
        static func excludeFromCoreDumps(_ memory: UnsafeMutableRawPointer, _ length: Int) {
            _ = madvise(memory, length, MADV_DONTDUMP)
        }

        // MARK: Files

        /// Whether the kernel grants write leases (`F_SETLEASE`): some file systems do not.
        package static let hasWriteLeases = true

        /// The open descriptors of this process whose files fulfil a condition; none where the system does not list them.
        package static func openDescriptors(where isWanted: (stat) -> Bool) -> [Int32] {
            guard let stream = opendir("/proc/self/fd") else { return [] }
            defer { closedir(stream) }
            var found: [Int32] = []
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                var status = stat()
                guard let number = Int32(name), fstat(number, &status) == 0 else { continue }
                if isWanted(status) { found.append(number) }
            }
            return found
        }

        /// The file with the mounted file systems, in the format of proc(5); nil if there is none: each is mounted once then.
        package static let mountTable: String? = "/proc/self/mountinfo"

        /// Whether root certificates are in files, which TLS libraries have to find.
        package static let hasCertificateFiles = true

        // MARK: Network

        /// The option of a TCP socket that acknowledges at once what has arrived; nil if the system has none.
        package static let quickAcknowledgement: CInt? = TCP_QUICKACK

        // MARK: The engine

        /// Where SQLCipher writes its log, as its pragma `cipher_log` names it, so that it is seen.
        package static let cipherLog = "stderr"
    }

    extension JobExecutor {
        /// Takes a job as the runtime passes it.
        package func enqueue(_ job: consuming ExecutorJob) { admit(UnownedJob(job)) }
    }

    extension stat {
        package var modificationTime: timespec { st_mtim }
        package var statusChangeTime: timespec { st_ctim }
    }

    /// Reports when the system is short of memory, by Linux's pressure stall information.
    package final class MemoryPressure: Sendable {
        private let source = Locked<(any DispatchSourceTimer)?>(nil)

        package init() {}

        /// Checks periodically. The kernel could notify us instead, but only privileged processes on most of its versions, and by
        /// an event that Dispatch cannot wait for.
        ///
        /// - Parameters:
        ///   - interval: the seconds between two checks; the figure covers the last ten seconds.
        ///   - limit: the percentage at or above which `body` is called, once per check.
        package func start(
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

        package func stop() { source.withLock { $0?.cancel() } }

        deinit { stop() }
    }

    /// How much tasks wait for memory, as Linux reports it: pressure stall information (the kernel's
    /// `Documentation/accounting/psi.rst`), of the control group if it has its own, and of the machine.
    package struct PressureStall: Sendable {
        /// The files with the figures. Old kernels have none of them, and some systems switch them off.
        package static let files = ["/sys/fs/cgroup/memory.pressure", "/proc/pressure/memory"]

        package var files: [String]

        package init(files: [String] = Self.files) { self.files = files }

        /// The percentage of the last ten seconds in which some task waited for memory: the highest of the files, nil without any.
        package func share() -> Double? {
            files.compactMap { file in
                (try? String(contentsOfFile: file, encoding: .utf8)).flatMap(Self.share)
            }.max()
        }

        /// The value of `avg10` in the line of `some`, as in `some avg10=1.25 avg60=0.40 avg300=0.09 total=182334`.
        package static func share(in text: String) -> Double? {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
                let word = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") })
            else { return nil }
            return Double(word.dropFirst("avg10=".count))
        }
    }
#endif
