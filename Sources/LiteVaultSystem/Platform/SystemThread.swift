/// Threads of the system, for work that may block.
package enum SystemThread {
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, which nothing waits for.
    ///
    /// While the process has as many threads as the system allows, the caller waits until one has ended.
    ///
    /// - Parameter stackSize: in bytes; nil for the system's default.
    package static func start(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let argument = Unmanaged.passRetained(Start(body)).toOpaque()
        while Platform.createThread(&attributes, argument) != 0 { sleep(seconds: 0.01) }
    }

    static func run(_ argument: UnsafeMutableRawPointer) {
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
    }

    /// Blocks the calling thread, for at most 31 million years.
    ///
    /// - Parameter seconds: nothing happens if it is negative, zero or not a number.
    package static func sleep(seconds: Double) {
        guard seconds > 0 else { return }
        var (span, rest) = (timespec(seconds), timespec())
        while nanosleep(&span, &rest) != 0, errno == EINTR { span = rest }
    }
}

extension timespec {
    /// A span of `seconds`, at most 31 million years.
    init(_ seconds: Double) {
        let (whole, attoseconds) = Duration(seconds: seconds).components
        self.init(tv_sec: time_t(whole), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

extension Duration {
    /// The longest duration that ``init(seconds:)`` creates, in seconds: 31 million years.
    private static var longest: Double { 1e15 }

    /// Creates a duration from a number of seconds that may come from outside: it never traps.
    ///
    /// - Parameter seconds: too large or infinite values become about 31 million years, NaN becomes zero.
    package init(seconds: Double) {
        guard !seconds.isNaN else {
            self = .zero
            return
        }
        let seconds = min(max(seconds, -Self.longest), Self.longest)
        let whole = seconds.rounded(.towardZero)
        self.init(secondsComponent: Int64(whole), attosecondsComponent: Int64((seconds - whole) * 1e18))
    }

    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
