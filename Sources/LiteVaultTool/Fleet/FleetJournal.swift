internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

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
        /// The journal itself; nil once it was removed.
        var file: LockFile?
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
        let file = try Self.locked(path)
        let header = "litevault-fleet 1 \(change)\n"
        let lines = try Self.lines(file.descriptor, after: header, path)
        isContinued = lines != nil
        if lines == nil { try Self.append(header, file.descriptor, path) }
        // Also if it existed: the run that created it may have been killed before this.
        try LocalDirectory.sync(LocalDirectory.parent(of: path))
        content = Locked(Content(file: file, entries: try Self.entries(lines ?? Data(), path)))
    }

    /// What is known of a member; nil if it was not begun.
    func entry(_ member: FleetMember) -> Entry? { content.withLock { $0.entries[ExactText(member.id)] } }

    func done(of members: [FleetMember]) -> [FleetMember] {
        content.withLock { content in members.filter { content.entries[ExactText($0.id)]?.state == .done } }
    }

    /// Records what was reached. It is durable afterwards.
    ///
    /// - Throws: ``JournalFailure``.
    func record(_ member: FleetMember, _ state: Entry.State, mark: String? = nil, key: String? = nil) throws {
        let entry = Entry(path: member.id, state: state, mark: mark, key: key)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let line = String(decoding: try encoder.encode(entry), as: UTF8.self) + "\n"
            try content.withLock { content in
                guard let file = content.file else { return }
                try Self.append(line, file.descriptor, path)
                content.entries[ExactText(member.id)] = entry
            }
        } catch { throw JournalFailure(cause: error) }
    }

    /// Removes the journal: everything is done.
    func remove() {
        content.withLock { content in
            content.file?.remove()
            content.file = nil
            try? LocalDirectory.sync(LocalDirectory.parent(of: path))
        }
    }

    // MARK: The file

    /// Bytes of a journal at most: 256 MiB, a line for each of a million databases.
    private static let limit = 1 << 28

    private static func locked(_ path: String) throws -> LockFile {
        do throws(LockFile.Failure) { return try LockFile(path, appending: true) } catch {
            switch error {
            case .busy:
                throw Failure(.busy, "another process works by this journal", path: path, remedy: "Wait until it ends.")
            case .notRegular:
                throw Failure(.wrongKind, "not a regular file", path: path, remedy: "Name another journal.")
            case .cannotOpen(let cause), .cannotLock(let cause):
                throw Failure(
                    .cannotCreate, "the journal cannot be opened: \(cause)", path: path,
                    remedy: "Name another one with --journal.")
            }
        }
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
        try Array(text.utf8).withUnsafeBytes { bytes in
            do throws(SystemError) { try OpenFile.write(bytes, to: descriptor) } catch {
                throw failed(error.code, "write", descriptor, start, path)
            }
        }
        do throws(SystemError) { try OpenFile.sync(descriptor) } catch {
            throw failed(error.code, "fsync", descriptor, start, path)
        }
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
