/// What a capture found and did.
package struct CaptureReport: Sendable, Equatable {
    /// How the image was made consistent.
    package enum Mode: String, Sendable {
        /// Under a SHARED lock, without a write-ahead log.
        case rollback
        /// Under a read mark, with the pages in the write-ahead log.
        case wal
        /// Without any lock, on a medium that nobody can write to.
        case readOnly
    }

    /// A place in a write-ahead log: which log, and how many of its frames are in the image.
    package struct Position: Sendable, Hashable {
        /// The eight bytes of salt that name one run of the log; they change when it starts over.
        package let salts: UInt64
        /// Frames 1 to this one are in the image, 0 if none is.
        package let frame: UInt32

        package init(salts: UInt64, frame: UInt32) {
            self.salts = salts
            self.frame = frame
        }
    }

    package let mode: Mode
    /// Bytes of the image.
    package let byteCount: Int64
    /// Bytes in a page, where the log, a journal or a plain header tells; a database without its key does not.
    package let pageSize: Int?
    /// Where in the log the image stands; nil without a log, and for one without a valid header.
    package let position: Position?
    /// Bytes of the `-wal` file when the capture began, 0 without one.
    package let walBytes: Int64
    /// The image's first 16 bytes, fewer if it is shorter: the salt of an encrypted database.
    package let start: [UInt8]
    /// Whether a hot journal was rolled back in the image.
    package let rolledBack: Bool
    /// Commits in the log, behind a frame that is not valid, that are not in the image; SQLite does not recover them either.
    package let unreachableCommits: Int
    /// Seconds since 1970: when the lock or mark that makes the image consistent was taken, and when it was given back.
    package let began: Double
    package let ended: Double
    /// How often a copy was begun, this one included.
    package let attempts: Int

    /// Whether the image begins as an unencrypted database does.
    package var looksPlain: Bool { start == Array("SQLite format 3\0".utf8) }
}
