internal import DurableFile
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSupport

/// The journal of a change to many databases: which are begun, and which are done. A run that was killed is continued from it.
///
/// A text file: its first line says which change it is of, each other one is a JSON object. A line is durable before the work
/// continues. It has no secret. Correctness does not rest on it: a database that is done, but not in the journal because of
/// a kill in between, is recognized by its key, and one that is done by the journal counts as done if its key is the new one.
final class FleetJournal: Sendable {
    /// What is known of a member.
    struct Entry: Codable, Sendable {
        enum State: String, Codable, Sendable { case begun, done }

        let path: String
        let state: State
        /// When it is done: what tells the file from one that was written since, its first 16 bytes.
        var mark: String?
        /// The identifier of the newest key that the keyring has: when it is begun, that of before.
        var key: String?
    }

    private struct Content {
        var descriptor: Int32
        var entries: [ExactText: Entry]
    }

    let path: String
    /// Whether an earlier run had begun it.
    let isContinued: Bool
    private let content: Locked<Content>

    /// Opens the journal of a change, or creates it.
    ///
    /// - Parameter change: what is done: a journal of something else is not continued.
    /// - Throws: `busy` when another process uses it, `usage` when it is of another change, `damaged`, `io`, `no-space`.
    init(_ path: String, of change: String) throws {
        self.path = path
        let descriptor = try Self.locked(path)
        do {
            let header = "litevault-fleet 1 \(change)\n"
            let lines = try Self.lines(descriptor, after: header, path)
            isContinued = lines != nil
            if lines == nil { try Self.append(header, descriptor, path) }
            // Also if it existed: the run that created it may have been killed before this.
            try LocalDirectory.sync(LocalDirectory.parent(of: path))
            let entries = try Self.entries(lines ?? Data(), path)
            content = Locked(Content(descriptor: descriptor, entries: entries))
        } catch {
            LiteVaultFoundation.close(descriptor)
            throw error
        }
    }

    deinit {
        content.withLock { content in
            if content.descriptor >= 0 { LiteVaultFoundation.close(content.descriptor) }
        }
    }

    /// What is known of a member; nil if it was not begun.
    func entry(_ member: FleetMember) -> Entry? { content.withLock { $0.entries[ExactText(member.id)] } }

    /// The members that are done.
    func done(of members: [FleetMember]) -> [FleetMember] {
        content.withLock { content in members.filter { content.entries[ExactText($0.id)]?.state == .done } }
    }

    /// Records what was reached. It is durable afterwards.
    func record(_ member: FleetMember, _ state: Entry.State, mark: String? = nil, key: String? = nil) throws {
        let entry = Entry(path: member.id, state: state, mark: mark, key: key)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = String(decoding: try encoder.encode(entry), as: UTF8.self) + "\n"
        try content.withLock { content in
            guard content.descriptor >= 0 else { return }
            try Self.append(line, content.descriptor, path)
            content.entries[ExactText(member.id)] = entry
        }
    }

    /// Removes the journal: everything is done.
    func remove() {
        content.withLock { content in
            guard content.descriptor >= 0 else { return }
            // In this order: nobody else can lock a file that still has the name.
            unlink(path)
            try? LocalDirectory.sync(LocalDirectory.parent(of: path))
            LiteVaultFoundation.close(content.descriptor)
            content.descriptor = -1
        }
    }

    // MARK: The file

    /// Bytes of a journal at most: 256 MiB, a line for each of a million databases.
    private static let limit = 1 << 28

    private static func locked(_ path: String) throws -> Int32 {
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else {
                throw Failure(
                    .cannotCreate, "the journal cannot be opened: \(String(cString: strerror(errno)))", path: path,
                    remedy: "Name another one with --journal.")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                LiteVaultFoundation.close(descriptor)
                throw Failure(.busy, "another process works by this journal", path: path, remedy: "Wait until it ends.")
            }
            // A run that was just finished may have removed it before we locked it.
            var (ours, named) = (stat(), stat())
            if fstat(descriptor, &ours) == 0, lstat(path, &named) == 0, ours.st_ino == named.st_ino,
                ours.st_dev == named.st_dev
            {
                guard ours.st_mode & S_IFMT == S_IFREG else {
                    LiteVaultFoundation.close(descriptor)
                    throw Failure(.wrongKind, "not a regular file", path: path, remedy: "Name another journal.")
                }
                return descriptor
            }
            LiteVaultFoundation.close(descriptor)
        }
        throw Failure(.busy, "the journal is replaced again and again", path: path, remedy: "Try again.")
    }

    /// The lines that were completed, after the first; nil in a new file. A last line that was not completed, by a kill, a
    /// full disk or a power failure, is truncated; any other file stays as it is.
    private static func lines(_ descriptor: Int32, after header: String, _ path: String) throws -> Data? {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError(code: errno) }
        let all = Data(try InputFile(descriptor: descriptor).read(upTo: Self.limit + 1))
        let first = Data(header.utf8)
        let start = all.prefix { $0 != 0 }
        // A first line that is not complete is all that there is, with zeros in the place of the rest after a power failure.
        let isBegun = first.starts(with: start) && all.count <= first.count && (try? beforeZeros(all, path)) != nil
        guard all.count <= Self.limit else { throw damaged(path) }
        guard start.starts(with: first) || isBegun else {
            throw Failure(
                .usage, "this is not the journal of this change ('\(header.dropLast())')", path: path,
                remedy: "Name another one with --journal, or remove it if the change that it is of is over.")
        }
        let data = try beforeZeros(all, path)
        let whole = data.lastIndex(of: UInt8(ascii: "\n")).map { data[...$0] } ?? Data()
        if whole.count < all.count, ftruncate(descriptor, off_t(whole.count)) != 0 {
            throw Failure(.inputOutput, "the journal cannot be truncated", path: path, remedy: "Check its disk.")
        }
        return whole.isEmpty ? nil : whole.dropFirst(first.count)
    }

    /// What precedes the zeros of a line that was being appended when the power failed: the file has its new size, and not all of
    /// its new content. Zeros before a further line are damage: each line is durable before the next is written.
    private static func beforeZeros(_ data: Data, _ path: String) throws -> Data {
        guard let zeros = data.firstIndex(of: 0) else { return data }
        let end = data[zeros...].firstIndex(of: UInt8(ascii: "\n")) ?? data.endIndex
        guard data[end...].dropFirst().allSatisfy({ $0 == 0 }) else { throw damaged(path) }
        return data[..<zeros]
    }

    private static func entries(_ lines: Data, _ path: String) throws -> [ExactText: Entry] {
        var entries: [ExactText: Entry] = [:]
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line)) else { throw damaged(path) }
            entries[ExactText(entry.path)] = entry
        }
        return entries
    }

    private static func append(_ text: String, _ descriptor: Int32, _ path: String) throws {
        let start = lseek(descriptor, 0, SEEK_END)
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let length = bytes.withUnsafeBytes {
                write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { throw failed(errno, "write", descriptor, start, path) }
            done += length
        }
        guard fsync(descriptor) == 0 else { throw failed(errno, "fsync", descriptor, start, path) }
    }

    /// Takes back what was written: the next line must not follow half of one.
    private static func failed(_ code: Int32, _ call: String, _ file: Int32, _ start: off_t, _ path: String) -> Failure
    {
        if start >= 0 { ftruncate(file, start) }
        return Failure(
            code == ENOSPC || code == EDQUOT ? .noSpace : .inputOutput,
            "the journal: \(call) failed: \(String(cString: strerror(code)))", path: path,
            remedy: "Run the same command again once there is space: what is done is not done twice.")
    }

    private static func damaged(_ path: String) -> Failure {
        Failure(
            .damaged, "this is not a journal, or it is damaged", path: path,
            remedy: "Move it away and run the command again: what is done is recognized by its key.")
    }
}
