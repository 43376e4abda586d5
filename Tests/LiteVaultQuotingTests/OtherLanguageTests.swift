import Foundation
import LiteVault
import LiteVaultCipher
import LiteVaultQuoting
import LiteVaultSFTP
import Testing

/// What was broken by text that the next reader understood differently: commands, literals and records of files.
@Suite struct OtherLanguageTests {
    @Test func `H-SEC-13 a user or host in an SFTP URL runs no command and reaches ssh as one word`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ssh = folder.appendingPathComponent("ssh")
        try Data("#!/bin/sh\nprintf '%s\\0' \"$@\"\n".utf8).write(to: ssh)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: ssh.path)
        for text in HostileText.all + ["a'\u{301}\\$(touch x)'\u{301}"] {
            let barred = text.unicodeScalars.contains {
                $0.value < 33 || $0.value == 127 || "/@:[]".unicodeScalars.contains($0)
            }
            guard !barred, !text.isEmpty, text.utf8.first != UInt8(ascii: "-") else { continue }
            guard !text.unicodeScalars.contains(where: \.properties.isWhitespace) else { continue }
            let settings = try SFTPSettings(url: "sftp://\(text)@\(text)/srv/x")
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.currentDirectoryURL = folder
            shell.environment = ["PATH": folder.path]
            shell.arguments = ["-c", settings.shellCommand]
            let output = Pipe()
            shell.standardOutput = output
            try shell.run()
            let words = Array(output.fileHandleForReading.readDataToEndOfFile()).split(
                separator: 0, omittingEmptySubsequences: false)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            #expect(
                words.suffix(7).map(Array.init) == ["-l", text, "-s", "--", text, "sftp", ""].map { Array($0.utf8) })
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ssh"])
    }

    @Test func `a password in an SFTP URL is refused, and not repeated, whatever follows its colon`() {
        for password in ["secret", "\u{301}secret", "a@secret"] {
            let error = #expect(throws: VaultError.self) { try SFTPSettings(url: "sftp://me:\(password)@host/x") }
            #expect(error.map { !"\($0)".contains("secret") && !($0.path ?? "").contains("secret") } == true)
        }
    }

    static let hasFTS4 = (try? Connection().execute("CREATE VIRTUAL TABLE f USING fts4(x)")) != nil

    @Test(.enabled(if: hasFTS4))
    func `H-SEC-14 a dump contains every virtual table and nothing that its name could add`() throws {
        let names =
            HostileText.all.filter { !$0.isEmpty && $0.utf8.count < 100 && !$0.utf8.contains(UInt8(ascii: "]")) } + [
                "x'\u{301}); DELETE FROM keep; --", "x'\u{301}, 'y', 0, ''); DROP TABLE keep; --",
            ]
        for name in names {
            let source = try Connection()
            try source.execute("CREATE TABLE keep (x); INSERT INTO keep VALUES (1)")
            guard (try? source.execute("CREATE VIRTUAL TABLE \(quoted(name)) USING fts4(body)")) != nil else {
                continue
            }
            try source.execute("INSERT INTO \(quoted(name)) (body) VALUES ('word')")
            var text: [UInt8] = []
            _ = try source.transaction {
                try SQLDump.write(source, .init()) { $0.withBytes { text.append(contentsOf: $0) } }
            }
            let copy = try Connection()
            try copy.execute(String(decoding: text, as: UTF8.self))
            func objects(_ db: Connection) throws -> [[UInt8]] {
                try db.all("SELECT name FROM sqlite_master ORDER BY name") {
                    Array(try $0.get(0, as: String.self).utf8)
                }
            }
            #expect(try objects(copy) == objects(source), "\(name.debugDescription)")
            #expect(try copy.value("SELECT count(*) FROM keep", as: Int.self) == 1)
        }
    }

    @Test func `H-SEC-18 a super-journal is recognized by the sum of its name with and without signs`() throws {
        let name = "/tmp/b\u{FC}cher/live.db-mj123"
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        func word(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let unsigned = name.utf8.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        let signed = name.utf8.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
        #expect(unsigned != signed)
        for (sum, isKnown) in [(unsigned, true), (signed, true), (signed &+ 1, false)] {
            var bytes = magic + word(0) + word(7) + word(4) + word(512) + word(4096)
            bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
            bytes += word(0x4000_0000 / 4096 + 1) + Array(name.utf8) + word(UInt32(name.utf8.count)) + word(sum) + magic
            var asked: [String] = []
            let journal = RollbackJournal(
                size: Int64(bytes.count),
                exists: {
                    asked.append($0)
                    return false
                }, read: { Array(bytes.dropFirst(Int($0)).prefix($1)) })
            // A transaction whose super-journal is gone was committed.
            #expect((journal == nil) == isKnown)
            #expect(asked == (isKnown ? [name] : []))
        }
    }

    @Test(
        .enabled(if: CipherEngine.version != nil),
        arguments: ["?a=1&key=x", "?\u{301}a=1&key=x", "?a=1&\u{301}=2&key=x"])
    func `H-SEC-22 a key in a URI is refused, whatever follows its marks`(query: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let key = try DatabaseKey.passphrase("another")
        let error = #expect(throws: VaultError.self) { try Connection("file:\(file)\(query)", key: key) }
        #expect(error?.code == .usage)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `H-SEC-19 control characters and those that turn text around do not reach a terminal raw`() {
        let marks =
            (0x00...0x1F).map { $0 } + (0x7F...0x9F).map { $0 } + (0x202A...0x202E).map { $0 }
            + (0x2066...0x2069).map { $0 }
        for scalar in marks.compactMap({ Unicode.Scalar(UInt32($0)) }) {
            let text = "a" + String(scalar) + "b"
            #expect(Quoting.terminal(text) == "a\\u{\(String(scalar.value, radix: 16))}b")
            guard scalar != "\n", scalar != "\t" else { continue }
            #expect(Quoting.terminalLines(text) == Quoting.terminal(text))
        }
    }
}
