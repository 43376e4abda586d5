import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// What is requested of a server before a call of the store ends, where it finds its work done.
@Suite(.enabled(if: SFTPServer.isThere, "no sshd: ci/setup tests")) struct SFTPDurabilityTests {
    let scratch = Scratch()
    let name = "leases/a"
    private var directory: String { scratch.path("store") + "/leases" }

    /// Passes on what is said to a real server, and notes what is opened and removed, and the requests that extend the protocol. The answer to
    /// the first request of its last argument is lost with the connection.
    private static let program = """
        import os, struct, subprocess, sys, threading
        place, cut = sys.argv[1:]
        server = subprocess.Popen(['/usr/lib/openssh/sftp-server'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        log = open(place + '/log', 'a', buffering=1)
        lost = []
        def packets(source):
            while True:
                head = source.read(4)
                if len(head) < 4: return
                yield head, source.read(struct.unpack('>I', head)[0])
        def answers():
            for head, body in packets(server.stdout):
                if body[1:5] in lost: os._exit(0)
                sys.stdout.buffer.write(head + body); sys.stdout.buffer.flush()
        threading.Thread(target=answers, daemon=True).start()
        for head, body in packets(sys.stdin.buffer):
            kind, rest = body[0], body[5:]
            if kind in (3, 13, 200):
                word = rest[4:4 + struct.unpack('>I', rest[:4])[0]].decode()
                line = {3: 'open ', 13: 'remove ', 200: ''}[kind] + word
                log.write(line + '\\n')
                if line == cut and not os.path.exists(place + '/cut'):
                    open(place + '/cut', 'w').close()
                    lost.append(body[1:5])
            server.stdin.write(head + body); server.stdin.flush()
        server.stdin.close(); server.wait()
        """

    /// A store whose requests are noted.
    ///
    /// - Parameter request: the one whose first answer is lost; none for a connection that stays.
    private func store(losing request: String = "none") throws -> SFTPStore {
        let program = scratch.path("proxy.py")
        try Data(Self.program.utf8).write(to: URL(fileURLWithPath: program))
        var settings = try SFTPSettings(url: "sftp://nobody\(scratch.path("store"))")
        settings.command = "exec python3 '\(program)' '\(scratch.directory)' '\(request)'"
        settings.firstPause = .milliseconds(10)
        (settings.timeout, settings.retryTimeLimit) = (.seconds(600), .seconds(3600))
        return SFTPStore(settings)
    }

    /// Whether the directory was synced after the last request of that kind.
    private func isSynced(after request: String) throws -> Bool {
        let text = try String(contentsOf: URL(fileURLWithPath: scratch.path("log")), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        let last = try #require(lines.lastIndex(of: request), "\(lines)")
        guard let opened = lines[last...].lastIndex(of: "open \(directory)") else { return false }
        return lines[opened...].contains("fsync@openssh.com")
    }

    @Test func `H-BAK-13 a store on an SSH server syncs the directory of an object that it stored before the connection was lost`()
        async throws
    {
        let link = "hardlink@openssh.com"
        let store = try store(losing: link)
        try await store.put(name, bytes: [1], condition: .absent)
        #expect(FileManager.default.fileExists(atPath: scratch.path("cut")), "no connection was lost")
        #expect(try isSynced(after: link))
        #expect(try await store.get(name) == [1])
    }

    @Test func `H-BAK-13 a store on an SSH server syncs the directory of an object before it reports a conflict`() async throws {
        let store = try store()
        try await store.put(name, bytes: [1], condition: .absent)
        #expect(await StoreCalls.code { try await store.put(name, bytes: [2], condition: .absent) } == .conflict)
        #expect(try isSynced(after: "hardlink@openssh.com"))
        let other = ETag("another")
        #expect(await StoreCalls.code { try await store.put(name, bytes: [2], condition: .unchanged(other)) } == .conflict)
        #expect(try isSynced(after: "posix-rename@openssh.com"))
    }

    @Test func `a removal whose answer was lost is durable, too`() async throws {
        try await store().put(name, bytes: [1], condition: .absent)
        let removal = "remove \(directory)/a"
        let store = try store(losing: removal)
        try await store.remove(name)
        #expect(FileManager.default.fileExists(atPath: scratch.path("cut")), "no connection was lost")
        #expect(try isSynced(after: removal))
        #expect(try await store.attributes(name) == nil)
        // What has no directory is ignored as well.
        try await store.remove("none/a")
    }
}
