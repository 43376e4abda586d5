internal import CProcessSupport

/// What a process that crashes shows of its memory.
public enum CrashReports {
    /// Makes a crash of this process show no memory, where keys and pages of databases may lie.
    ///
    /// * The backtraces of Swift's runtime, which print the memory that each register points to, to standard error, are
    ///   switched off: `SIGSEGV`, `SIGBUS`, `SIGILL`, `SIGTRAP`, `SIGFPE`, `SIGABRT` and `SIGQUIT` get their default action
    ///   back, in place of whatever handler there was. The process still ends by the signal.
    /// * No core dump is written (`RLIMIT_CORE`; on Linux also `PR_SET_DUMPABLE`, which keeps other processes of the same
    ///   user from attaching and from reading its memory and environment).
    ///
    /// For the whole process, so the library never does it by itself. Call it first of all, before a key is read and before
    /// handlers of your own for these signals are installed. Starting the process with `SWIFT_BACKTRACE=enable=no` does the
    /// first part as well. Best effort: what the system refuses is not reported.
    public static func disable() {
        cps_forbid_backtraces()
        cps_forbid_dumps()
    }
}
