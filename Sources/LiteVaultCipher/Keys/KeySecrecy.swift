internal import CSystem
internal import LiteVaultCore
internal import LiteVaultSystem

/// Controls what a crash of the process reveals.
public enum CrashReports {
    /// Keeps crashes of this process from revealing memory, which may contain keys and pages of databases.
    ///
    /// * Swift's backtraces print the memory that each register points to, to standard error. They are switched off:
    ///   `SIGSEGV`, `SIGBUS`, `SIGILL`, `SIGTRAP`, `SIGFPE`, `SIGABRT` and `SIGQUIT` get their default action, in place of
    ///   any handler. The signal still ends the process.
    /// * Core dumps are switched off (`RLIMIT_CORE`; on Linux also `PR_SET_DUMPABLE`, which keeps other processes of the same
    ///   user from attaching and from reading memory and environment).
    ///
    /// This applies to the whole process, so the library never does it by itself. Call it first, before reading a key
    /// and before installing handlers of your own for these signals. Starting the process with
    /// `SWIFT_BACKTRACE=enable=no` has the effect of the first item. Best effort: if the system refuses, that is not
    /// reported.
    public static func disable() {
        cps_forbid_backtraces()
        cps_forbid_dumps()
    }
}

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children: `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

// Allocation failures are `VaultError` in this layer.
extension SecretBytes {
    /// Allocates `count` bytes and has `fill` write them.
    static func secret(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> SecretBytes {
        do {
            return try SecretBytes(count: count, fill)
        } catch let error as SecretError {
            throw VaultError(.internalFailure, "There is no memory for a key", cause: error)
        }
    }

    static func secret(_ bytes: some Collection<UInt8>) throws -> SecretBytes {
        try secret(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies several pieces, one after the other.
    static func secret(joining pieces: [UInt8]...) throws -> SecretBytes {
        try secret(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces {
                UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyBytes(from: piece)
                offset += piece.count
            }
        }
    }
}
