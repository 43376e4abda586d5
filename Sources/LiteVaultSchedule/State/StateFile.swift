internal import Crypto
internal import DurableFile
internal import Foundation
internal import LiteVaultBackup

/// Where a configuration's state is kept: one file, written anew each time, and a lock beside it that whoever runs jobs
/// holds.
package final class StateFile: @unchecked Sendable {  // its lock guards `state`
    package let path: String
    private let mutex = NSLock()
    private var state: ScheduleState
    private var descriptor: Int32 = -1

    /// The state of the configuration at `configuration`, in the folder.
    ///
    /// - Throws: ``BackupError`` `damaged` for a file that is none of ours.
    package init(folder: String, configuration: String) throws {
        let name = SHA256.hash(data: Array(configuration.utf8)).prefix(8)
        path = "\(folder)/schedule-\(Array(name).hex).json"
        state = try Self.read(path)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func read(_ path: String) throws -> ScheduleState {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: ScheduleState.byteLimit)
            return try Decoding.value(ScheduleState.self, from: bytes, path: path)
        } catch let error as BackupError where error.code == .missing {
            return ScheduleState()
        } catch let error as BackupError where error.code == .damaged {
            throw BackupError(
                .damaged, "is no state of a schedule", path: path,
                remedy: "Remove it: what was backed up is then looked up in the repositories.", cause: error)
        }
    }

    /// Keeps others from running the same jobs, until the process ends.
    ///
    /// - Throws: ``BackupError`` `busy` when somebody does.
    package func lock() throws {
        try LocalDirectory.create(LocalDirectory.parent(of: path))
        let lockPath = path + ".lock"
        let opened = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw BackupError(errno: errno, "open", path: lockPath) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            close(opened)
            throw BackupError(
                .busy, "the jobs of this configuration are being run by another process", path: lockPath,
                remedy: "Wait until it has ended; 'litevault schedule status' tells what it does.")
        }
        descriptor = opened
        // Somebody may have run between our reading and our lock.
        let fresh = try Self.read(path)
        mutex.withLock { state = fresh }
    }

    /// What is remembered of a job.
    package func job(_ name: String) -> JobState? { mutex.withLock { state.jobs[name] } }

    /// Remembers, durably.
    package func set(_ name: String, _ job: JobState) throws { try update(name) { $0 = job } }

    /// Changes what is remembered of a job, durably.
    package func update(_ name: String, _ change: (inout JobState) -> Void) throws {
        try mutex.withLock {
            change(&state.jobs[name, default: JobState()])
            let bytes = try Decoding.bytes(state, path: path)
            try LocalDirectory.create(LocalDirectory.parent(of: path))
            try BackupError.withPath(path) {
                let file = try ReplacementFile(destination: path)
                try LocalFile(updating: file.path).write(bytes, at: 0)
                try file.publish(replacing: true)
            }
        }
    }
}
