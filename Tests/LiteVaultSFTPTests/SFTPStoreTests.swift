import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: SFTPServer.isThere, "no sshd: ci/setup tests")) struct SFTPStoreTests {
    let scratch = Scratch()

    private func path(_ store: SFTPStore) throws -> String { try SFTPSettings(url: store.location).path }

    /// The names in a directory of the server, which is this machine, and below it.
    private func files(_ store: SFTPStore) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(store)).sorted()
    }

    @Test func `writers leave nothing behind, and only they may read the files`() async throws {
        let store = try SFTPServer.store()
        let tag = try await store.put("a/b", bytes: [1], condition: .absent)
        try await store.put("a/b", bytes: [2], condition: .unchanged(tag))
        try await store.put("a/b", bytes: [3], condition: .none)
        await #expect(throws: VaultError.self) { try await store.put("a/b", bytes: [4], condition: .unchanged(tag)) }
        await #expect(throws: VaultError.self) { try await store.put("a/b", bytes: [4], condition: .absent) }
        _ = try await store.attributes("a/b")  // after what was posted
        #expect(try files(store) == ["a", "a/b"])
        let attributes = try FileManager.default.attributesOfItem(atPath: path(store) + "/a/b")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileManager.default.attributesOfItem(atPath: path(store) + "/a")[.posixPermissions] as? Int == 0o700)
    }

    @Test func `a condition takes the tag of a listing`() async throws {
        let store = try SFTPServer.store()
        for name in ["leases/a", "snapshots/b", "top.json"] {
            try await store.put(name, bytes: [1], condition: .absent)
            let listed = try #require(try await store.list(name).first)
            try await store.put(name, bytes: [2, 3], condition: .unchanged(listed.tag))
            await #expect(throws: VaultError.self) {
                try await store.put(name, bytes: [4, 5, 6], condition: .unchanged(listed.tag))
            }
            #expect(try await store.get(name) == [2, 3])
        }
    }

    @Test func `writers without a condition and with one take turns`() async throws {
        let folder = try path(SFTPServer.store())
        let stores = try (0..<4).map { _ in try SFTPServer.store(folder) }
        try await stores[0].put("counter", bytes: [0, 0], condition: .absent)
        // Each adds one, ten times: no addition may be lost.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    for _ in 0..<10 {
                        while true {
                            let tag = try #require(try await store.attributes("counter")).tag
                            let value = try await store.get("counter")
                            do {
                                try await store.put("counter", bytes: [value[0] + 1, 0], condition: .unchanged(tag))
                                break
                            } catch let error as VaultError where error.code == .conflict { continue }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].get("counter") == [40, 0])
    }

    @Test func `the lock of a writer that was killed is broken once it is old`() async throws {
        let store = try SFTPServer.store { $0.lockAge = .seconds(3) }
        let tag = try await store.put("leases/a", bytes: [1], condition: .absent)
        let lock = try path(store) + "/leases/.a.lock"
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        try Data([9]).write(to: URL(fileURLWithPath: lock + "/token"))
        try await store.put("leases/a", bytes: [2], condition: .unchanged(tag))
        #expect(try await store.get("leases/a") == [2])
        _ = try await store.attributes("leases/a")
        #expect(try files(store).filter { !$0.hasSuffix(".clock") } == ["leases", "leases/a"])
    }

    @Test func `a lock that is not released in time is reported`() async throws {
        let store = try SFTPServer.store {
            $0.lockTimeout = .milliseconds(300)
            // A test that was stopped for a minute would break the lock, before it looks at the time.
            $0.lockAge = .seconds(86_400)
        }
        try await store.put("a", bytes: [1], condition: .absent)
        let lock = try path(store) + "/.a.lock"
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        try Data([9]).write(to: URL(fileURLWithPath: lock + "/token"))
        #expect(await StoreCalls.code { try await store.put("a", bytes: [2], condition: .none) } == .busy)
        #expect(try await store.get("a") == [1])
    }

    @Test(arguments: [1, 5000, 100_000])
    func `attributes are those of one version, although the object is replaced between two requests`(size: Int)
        async throws
    {
        let folder = try path(SFTPServer.store())
        let writer = try SFTPServer.store(folder)
        let isReplaced = Locked(false)
        let reader = try SFTPServer.store(folder) { settings in
            settings.observer = { name in
                guard name == "found", !isReplaced.withLock({ $0 }) else { return }
                isReplaced.withLock { $0 = true }
                _ = try? await writer.put("leases/a", bytes: [UInt8](repeating: 2, count: size), condition: .none)
            }
        }
        for isListed in [true, false] {
            try await writer.put("leases/a", bytes: [1, 1, 1], condition: .none)
            isReplaced.withLock { $0 = false }
            let found = isListed ? try await reader.list("leases/").first : try await reader.attributes("leases/a")
            #expect(isReplaced.value && found?.size == Int64(size))
            #expect(try await found == writer.attributes("leases/a"))
        }
    }

    @Test(arguments: ["locked", "compared"], [true, false])
    func `a writer that was stopped while it had the lock does not overwrite the next one`(
        step: String, isConditional: Bool
    ) async throws {
        let folder = try path(SFTPServer.store())
        let (stopped, next) = (Locked(false), Locked(false))
        let slow = try SFTPServer.store(folder) { settings in
            settings.observer = { name in
                guard name == step,
                    !stopped.withLock({ seen in
                        defer { seen = true }; return seen
                    })
                else { return }
                while !next.value { try? await Task.sleep(for: .milliseconds(20)) }
            }
        }
        let quick = try SFTPServer.store(folder) { $0.lockAge = .seconds(2) }
        let tag = try await quick.put("leases/a", bytes: [1], condition: .absent)
        async let outcome = StoreCalls.code {
            try await slow.put("leases/a", bytes: [2], condition: isConditional ? .unchanged(tag) : .none)
        }
        while !stopped.value { try await Task.sleep(for: .milliseconds(20)) }
        try await quick.put("leases/a", bytes: [3], condition: .unchanged(tag))
        next.withLock { $0 = true }
        #expect(await outcome == (isConditional ? .conflict : nil))
        #expect(try await quick.get("leases/a") == [isConditional ? 3 : 2])
    }

    @Test func `remains of interrupted writes are removed once they are old`() async throws {
        let store = try SFTPServer.store { $0.leftoverAge = .seconds(1000) }
        try await store.put("a/b", bytes: [1], condition: .absent)
        let folder = try path(store)
        for name in ["x.own", "b.lock", "y.broken"] {
            try FileManager.default.createDirectory(atPath: folder + "/a/.\(name)", withIntermediateDirectories: false)
            try Data([9]).write(to: URL(fileURLWithPath: folder + "/a/.\(name)/token"))
        }
        try Data([9]).write(to: URL(fileURLWithPath: folder + "/a/.z.tmp"))
        #expect(try await store.list("").map(\.name) == ["a/b"])
        #expect(try await store.removeLeftovers() == 0)
        for name in ["x.own", "b.lock", "y.broken", "z.tmp"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -2000)], ofItemAtPath: folder + "/a/.\(name)")
        }
        #expect(try await store.removeLeftovers() == 4)
        #expect(try files(store) == [".clock", "a", "a/b"])
    }

    @Test func `a link in place of an object is damage`() async throws {
        let store = try SFTPServer.store()
        try await store.put("a", bytes: [1], condition: .absent)
        try FileManager.default.createSymbolicLink(atPath: path(store) + "/b", withDestinationPath: "a")
        #expect(await StoreCalls.code { _ = try await store.attributes("b") } == .damaged)
        // No object of a repository has that name.
        #expect(await StoreCalls.code { _ = try await store.list("") } == .damaged)
        #expect(try await store.list("a").map(\.name) == ["a"])
    }

    @Test func `a cancelled read ends`() async throws {
        let store = try SFTPServer.store { $0.command = "exec sleep 900" }
        let task = Task { try await store.get("a") }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        let result = await task.result
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test func `H-SEC-13 what a remedy says to type quotes the host and user of the URL`() async throws {
        var settings = try SFTPSettings(url: "sftp://a'$(touch;x)@b'$(touch;y):2222/backups")
        settings.command = "echo 'Host key verification failed.' >&2; exit 255"
        settings.attempts = 1
        let store = SFTPStore(settings)
        let error = await #expect(throws: VaultError.self) { _ = try await store.get("a") }
        let remedy = try #require(error?.remedy)
        for word in [
            #"'a'\''$(touch;x)@b'\''$(touch;y)'"#, #"-p 2222 'b'\''$(touch;y)'"#, #"'[b'\''$(touch;y)]:2222'"#,
        ] {
            #expect(remedy.contains(word), "\(remedy)")
        }
    }

    @Test func `failures of the connection say what to do`() async throws {
        func failure(_ command: String, timeout: Duration = .seconds(600)) async throws -> VaultError {
            let store = try SFTPServer.store {
                $0.command = command
                $0.attempts = 2
                $0.timeout = timeout
            }
            do {
                _ = try await store.get("a")
            } catch let error as VaultError { return error }
            throw CancellationError()
        }
        #expect(try await failure("echo Welcome; sleep 900").description.contains("print nothing"))
        #expect(try await failure("no-such-program-here").code == .config)
        #expect(
            try await failure("echo 'Host key verification failed.' >&2; exit 255").remedy?.contains("ssh-keyscan")
                == true)
        #expect(try await failure("echo 'u@h: Permission denied (publickey).' >&2; exit 255").code == .config)
        #expect(try await failure("echo 'subsystem request failed on channel 0' >&2; exit 255").code == .unsupported)
        #expect(
            try await failure("echo 'ssh: Could not resolve hostname h: Name or service not known' >&2; exit 255").code
                == .config)
        let refused = try await failure("echo 'ssh: connect to host h: Connection refused' >&2; exit 255")
        #expect(refused.description.contains("2 times") && refused.description.contains("Connection refused"))
        #expect(try await failure("exec sleep 900", timeout: .seconds(2)).description.contains("did not answer"))
    }
}
