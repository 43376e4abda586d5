internal import Foundation
internal import LiteVault

/// What the process does about itself before it touches a key.
enum Hardening {
    /// No backtrace and no core dump, which would show keys and pages of the database, and no debugger of the same user;
    /// keys of the environment are then out of `/proc/PID/environ`'s reach too. Best effort: a refusal is no reason to stop.
    static func apply() {
        CrashReports.disable()
        // A closed pipe is an error of write(2), handled there; as a signal it would kill an operation half-way.
        _ = signal(SIGPIPE, SIG_IGN)
        openStandardStreams()
    }

    /// A process started with a closed standard stream would get that number for its database: then a message printed to
    /// "standard error" would be written into the database. SQLite guards itself the same way.
    private static func openStandardStreams() {
        for descriptor in 0...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            let opened = open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
            if opened >= 0, opened != descriptor {
                dup2(opened, descriptor)
                close(opened)
            }
        }
    }
}
