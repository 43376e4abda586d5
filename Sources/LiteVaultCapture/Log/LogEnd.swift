internal import LiteVaultSystem

/// What a follower records with a position in a log, so that a later one can tell whether the log continues from there.
///
/// The frames up to the position have this running checksum. Commits after the position are in the log, or were copied from
/// it into the database file: the index counts commits until it is rebuilt, and the file's status shows whether anything
/// was written to it at all.
package struct LogEnd: Codable, Sendable, Equatable {
    /// The running checksum after the last frame, 16 hexadecimal digits; nil before the first frame.
    package let checksum: String?
    /// How many commits the log's index had counted. It starts over when the index is rebuilt.
    package let commits: UInt32
    /// The database file: its inode, and the time of its last status change in nanoseconds since 1970, 16 hexadecimal
    /// digits each.
    package let file: String

    /// Describes the position that a header of the index is at.
    ///
    /// - Parameters:
    ///   - sums: the checksum after the last frame; nil before the first one.
    ///   - commits: the index's counter.
    ///   - path: the database file, which the caller has locked.
    /// - Returns: nil if the file is not there.
    init?(sums: [UInt32]?, commits: UInt32, path: String) {
        guard let file = Self.status(path) else { return nil }
        self.file = file
        self.commits = commits
        checksum = sums.flatMap(Self.digits)
    }

    static func digits(_ sums: [UInt32]) -> String? {
        guard sums.count == 2 else { return nil }
        return (UInt64(sums[0]) << 32 | UInt64(sums[1])).hexadecimal
    }

    /// The words of the checksum; nil before the first frame.
    var sums: [UInt32]? {
        checksum.flatMap { UInt64($0, radix: 16) }.map {
            [UInt32(truncatingIfNeeded: $0 >> 32), UInt32(truncatingIfNeeded: $0)]
        }
    }

    /// The part of ``file`` that stays the same while the file is the same.
    static func inode(_ file: String) -> Substring { file.prefix(16) }

    /// The inode and the last change of a file, as in ``file``.
    package static func status(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return UInt64(truncatingIfNeeded: status.st_ino).hexadecimal + digits(status.statusChangeTime)
    }

    /// A time in nanoseconds since 1970, in hexadecimal digits.
    static func digits(_ time: timespec) -> String {
        let seconds = UInt64(truncatingIfNeeded: time.tv_sec)
        return (seconds &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)).hexadecimal
    }
}

/// A position in a log, with what shows whether the log continues from it.
package struct LogMark: Sendable, Equatable {
    package let position: LogPosition
    package let end: LogEnd

    package init(position: LogPosition, end: LogEnd) { (self.position, self.end) = (position, end) }
}
