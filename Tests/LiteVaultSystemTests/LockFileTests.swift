import LiteVaultSystem
import LiteVaultTestSupport
import Testing

@Suite struct LockFileTests {
    let scratch = Scratch()

    private var path: String { scratch.path("lock") }

    private static func failure(_ body: () throws -> LockFile) -> LockFile.Failure? {
        do {
            _ = try body()
            return nil
        } catch { return error as? LockFile.Failure }
    }

    @Test func `one at a time has the lock, also within a process`() throws {
        let first = try LockFile(path)
        let failure = Self.failure { try LockFile(path) }
        guard case .busy? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        first.remove()
        #expect(access(path, F_OK) != 0)
        _ = try LockFile(path)
    }

    @Test func `a lock ends with its owner, and the file stays`() throws {
        do { _ = try LockFile(path) }
        #expect(access(path, F_OK) == 0)
        let second = try LockFile(path)
        var status = stat()
        #expect(fstat(second.descriptor, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a waiting process gets the lock of a new file once the holder has removed its own`() throws {
        let path = path
        let first = try LockFile(path)
        SystemThread.start {
            SystemThread.sleep(seconds: 0.1)
            first.remove()
        }
        let second = try LockFile(path, timeout: .seconds(60))
        var (ours, named) = (stat(), stat())
        #expect(fstat(second.descriptor, &ours) == 0 && lstat(path, &named) == 0 && ours.st_ino == named.st_ino)
    }

    @Test func `what is not a regular file is not locked, and nothing waits for it`() throws {
        #expect(mkfifo(path, 0o600) == 0)
        let failure = Self.failure { try LockFile(path, timeout: .seconds(60)) }
        guard case .notRegular? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func `a link is not followed, and a missing directory is an error of the system`() throws {
        #expect(symlink("/nowhere", path) == 0)
        for name in [path, scratch.path("missing/lock")] {
            let failure = Self.failure { try LockFile(name) }
            guard case .cannotOpen(let cause)? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(cause.code == ELOOP || cause.code == ENOENT)
        }
    }
}

@Suite struct ProcessGroupTests {
    private func started(_ text: String) throws -> ChildProcess {
        var command = ShellCommand(text)
        command.leadsGroup = true
        return try command.spawn()
    }

    @Test func `a child is waited for without a thread`() async throws {
        let child = try started("exit 3")
        let hasEnded = await child.hasEnded(by: Deadline(in: .seconds(60)))
        #expect(hasEnded)
        #expect(try child.wait() == .status(3))
    }

    @Test func `the wait ends at its deadline, and when the task is cancelled`() async throws {
        let child = try started("exec sleep 600")
        let early = await child.hasEnded(by: Deadline(in: .milliseconds(20)))
        #expect(!early)
        let waiting = Task { await child.hasEnded(by: Deadline(in: .seconds(600))) }
        waiting.cancel()
        let late = await waiting.value
        #expect(!late)
        await child.terminateGroup(grace: .seconds(60))
        #expect(kill(child.signalTarget, 0) != 0)
    }

    @Test func `what ignores SIGTERM is killed, also when its leader has ended`() async throws {
        for text in ["trap '' TERM; sleep 600; sleep 600", "(trap '' TERM; sleep 600; sleep 600) & exec sleep 600"] {
            let child = try started(text)
            SystemThread.sleep(seconds: 0.2)
            await child.terminateGroup(grace: .milliseconds(300))
            #expect(kill(child.signalTarget, 0) != 0)
        }
    }
}
