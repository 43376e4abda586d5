import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// Servers that speak the protocol, and mean no good: each behaves in one way that keeps a client busy.
@Suite struct HostileSFTPTests {
    let scratch = Scratch()

    /// Answers as its argument says: `size` (an object of 2^62 bytes), `endless` (a listing), `deep` (directories in directories),
    /// `drip` (twenty bytes per second), `empty` (no names in an answer), `sizes` (a listing of objects of 2^62 bytes), `long` (names of
    /// 500 KB), `own` (a writer's directory is never there), `old` (a lock that is old, and is back whenever it is broken), `lie` (a
    /// directory is made, and is not there), `mute` (no answer but the first, for a minute; then there is a file `ended` beside the program).
    private static let program = """
        import os, struct, sys, time
        mode = sys.argv[1]
        def text(b): return struct.pack('>I', len(b)) + b
        def send(kind, body):
            packet = bytes([kind]) + body
            packet = struct.pack('>I', len(packet)) + packet
            if mode == 'drip' and kind == 103:
                for start in range(0, len(packet), 2):
                    os.write(1, packet[start:start + 2]); time.sleep(0.1)
                return
            while packet: packet = packet[os.write(1, packet):]
        def take(n):
            found = b''
            while len(found) < n:
                more = os.read(0, n - len(found))
                if not more: sys.exit()
                found += more
            return found
        SIZE = 1 << 62 if mode in ('size', 'sizes') else 4000
        def attributes(directory): return struct.pack('>IQIII', 1 | 4 | 8, SIZE, 0o40700 if directory else 0o100600, 5, 5)
        listed = 0
        def status(code): send(101, number + struct.pack('>I', code) + text(b'') + text(b''))
        def word(body): return body[4:4 + struct.unpack('>I', body[:4])[0]]
        while True:
            packet = take(struct.unpack('>I', take(4))[0])
            kind, number, rest = packet[0], packet[1:5], packet[5:]
            if kind == 1:
                send(2, struct.pack('>I', 3) + b''.join(
                    text(name) + text(b'1') for name in (b'posix-rename@openssh.com', b'hardlink@openssh.com')))
                continue
            if mode == 'mute': time.sleep(60); open(sys.argv[0] + '.ended', 'w'); sys.exit()
            extension = word(rest) if kind == 200 else b''
            if extension == b'hardlink@openssh.com' and mode in ('own', 'old'): status(4); continue
            if extension == b'posix-rename@openssh.com' and mode in ('own', 'old'):
                old = word(rest[4 + len(extension):])
                if old.endswith(b'.own'): status(2 if mode == 'own' else 4); continue
            if mode == 'lie' and kind in (3, 7, 17): status(2); continue
            if mode == 'lie' and kind == 14: status(2 if b'/data' in word(rest) else 0); continue
            if kind in (3, 11): listed = 0; send(102, number + text(b'h'))
            elif kind in (7, 8, 17): send(105, number + attributes(False))
            elif kind == 5:
                offset, count = struct.unpack('>QI', rest[4 + 1:])
                send(103, number + text(bytes(min(count, 4000))))
            elif kind == 12:
                listed += 1
                if mode == 'empty': send(104, number + struct.pack('>I', 0))
                elif listed > 1 and mode != 'endless': send(101, number + struct.pack('>I', 1) + text(b'') + text(b''))
                else:
                    names = [b'%032x' % (listed * 100 + i) for i in range(100)] if mode == 'endless' else [b'd']
                    if mode == 'long': names = [b'n' * 500_000, b'd']
                    entry = attributes(mode == 'deep')
                    send(104, number + struct.pack('>I', len(names)) + b''.join(text(n) + text(n) + entry for n in names))
            else: send(101, number + struct.pack('>I', 0) + text(b'') + text(b''))
        """

    private func store(
        _ mode: String, timeout: Duration = .seconds(600), _ change: (inout SFTPSettings) -> Void = { _ in }
    ) throws -> SFTPStore {
        let program = scratch.path("server.py")
        try Data(Self.program.utf8).write(to: URL(fileURLWithPath: program))
        var settings = try SFTPSettings(url: "sftp://nobody/vaults")
        settings.command = "exec python3 '\(program)' \(mode)"
        (settings.attempts, settings.timeout) = (1, timeout)
        settings.listedEntries = 20_000
        change(&settings)
        return SFTPStore(settings)
    }

    private func failure(_ body: () async throws -> Void) async throws -> VaultError {
        do { try await body() } catch let error as VaultError { return error }
        Issue.record("it succeeded")
        throw CancellationError()
    }

    @Test func `H-SEC-08: a claimed size of 2^62 bytes is damage, and no piece of it is requested`() async throws {
        let store = try store("size")
        let path = scratch.path("fetched")
        let bodies: [() async throws -> Void] = [
            { try await store.fetch("data/00/x", into: path) },
            { try await store.fetch("data/00/x", into: path, upTo: 1 << 20) },
            { _ = try await store.get("data/00/x") },
            { _ = try await store.get("data/00/x", range: 0..<10) },
            { _ = try await store.attributes("data/00/x") },
        ]
        for body in bodies { #expect(try await failure(body).code == .damaged) }
        #expect(!FileManager.default.fileExists(atPath: path))
        let listing = try self.store("sizes")
        #expect(try await failure { _ = try await listing.list("data/") }.code == .damaged)
    }

    @Test(arguments: ["endless", "deep"])
    func `H-SEC-08: a listing that does not end is an error of the store`(mode: String) async throws {
        let store = try store(mode)
        let error = try await failure { _ = try await store.list("") }
        #expect(error.code == .io && error.message.contains("does not end"), "\(error)")
        #expect(try await failure { _ = try await store.removeLeftovers() }.message.contains("does not end"))
    }

    @Test func `H-SEC-08: a server that sends a few bytes per second counts as silent`() async throws {
        let store = try store("drip", timeout: .seconds(2))
        // The whole answer would come, after 200 s.
        _ = try await failure { _ = try await store.get("data/00/x") }
    }

    @Test func `H-SEC-28 names that no object has do not fill the memory`() async throws {
        let store = try store("long")
        #expect(try await store.list("").map(\.name) == ["d"])
    }

    @Test(arguments: ["own", "old"])
    func `H-SEC-28 a lock that can never be taken is busy after its time`(mode: String) async throws {
        let store = try store(mode) { $0.lockTimeout = .seconds(2) }
        let error = try await failure { _ = try await store.put("leases/x", bytes: [1], condition: .none) }
        #expect(error.code == .busy, "\(error)")
    }

    @Test func `H-SEC-28 a directory that is made and is not there is an error`() async throws {
        let store = try store("lie")
        let error = try await failure { _ = try await store.put("data/00/x", bytes: [1], condition: .absent) }
        #expect(error.code == .io || error.code == .cannotCreate, "\(error)")
    }

    @Test func `H-SEC-43 a silent server is left after its time, also if the program that connects has closed standard error`()
        async throws
    {
        let program = scratch.path("server.py")
        let store = try store("mute", timeout: .seconds(1)) {
            $0.command = "exec python3 '\(program)' mute 2>/dev/null"
        }
        let error = try await failure { _ = try await store.get("data/00/x") }
        #expect(error.code == .io && error.message.contains("did not answer"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: program + ".ended"), "it was waited for")
    }

    @Test func `an answer of no names ends the connection`() async throws {
        let store = try store("empty")
        _ = try await failure { _ = try await store.list("") }
    }
}
