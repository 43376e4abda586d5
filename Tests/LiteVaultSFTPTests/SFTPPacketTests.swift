import Foundation
import LiteVaultBackup
import LiteVaultSystem
import Testing

@Suite struct SFTPPacketTests {
    /// A generator that repeats itself.
    private struct Noise: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static let answers: [[UInt8]] = {
        func made(_ kind: UInt8, _ fill: (inout SFTPWriter) -> Void) -> [UInt8] {
            var packet = SFTPWriter(kind)
            packet.add(UInt32(7))
            fill(&packet)
            return packet.bytes
        }
        return [
            made(SFTPKind.answerStatus) {
                $0.add(UInt32(4)); $0.add("Failure"); $0.add("en")
            },
            made(SFTPKind.answerHandle) { $0.add([1, 2, 3, 4]) },
            made(SFTPKind.answerData) { $0.add(Array(repeating: 5, count: 300)) },
            made(SFTPKind.answerAttributes) {
                $0.add(UInt32(13)); $0.add(UInt64(9)); $0.add(UInt32(0o100600)); $0.add(UInt64(3))
            },
            made(SFTPKind.answerNames) { packet in
                packet.add(UInt32(2))
                for name in ["a", "b"] {
                    packet.add(name)
                    packet.add("-rw-------")
                    packet.add(permissions: 0o100600)
                }
            },
            made(SFTPKind.answerExtended) { for number in 0..<11 { $0.add(UInt64(number)) } },
        ]
    }()

    private func readAll(_ packet: [UInt8]) {
        var reader = SFTPReader(packet)
        guard let kind = try? reader.byte(), (try? reader.number()) != nil else { return }
        let answer = SFTPAnswer(kind: kind, bytes: Array(packet.dropFirst(5)))
        _ = try? answer.status()
        _ = try? answer.succeeded()
        _ = try? answer.names()
        var handle = try? answer.expecting(SFTPKind.answerHandle)
        _ = try? handle?.string()
        var attributes = try? answer.expecting(SFTPKind.answerAttributes)
        _ = try? attributes?.attributes()
        var text = answer.reader
        while (try? text.text()) != nil {}
    }

    @Test func `damaged packets end in an error, or in values within the packet`() throws {
        var noise = Noise(state: 45)
        for turn in 0..<20_000 {
            var bytes = Self.answers.randomElement(using: &noise) ?? []
            for _ in 0..<Int.random(in: 0...4, using: &noise) {
                let place = Int.random(in: 4..<bytes.count, using: &noise)
                bytes[place] = [0, 1, 255, UInt8.random(in: 0...255, using: &noise)].randomElement(using: &noise) ?? 0
            }
            if turn % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count - 4, using: &noise)) }
            readAll(Array(bytes.dropFirst(4)))
        }
    }

    @Test func `a stream is cut at the same places, however it arrives`() throws {
        var noise = Noise(state: 46)
        let stream = (0..<200).flatMap { _ in Self.answers.randomElement(using: &noise) ?? [] }
        var whole: [[UInt8]] = []
        var splitter = SFTPSplitter()
        stream.withUnsafeBytes { splitter.append($0) }
        while let packet = try splitter.next() { whole.append(packet) }
        #expect(whole.count == 200)
        var parts: [[UInt8]] = []
        splitter = SFTPSplitter()
        var start = 0
        while start < stream.count {
            let end = min(start + Int.random(in: 1...700, using: &noise), stream.count)
            stream.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
            while let packet = try splitter.next() { parts.append(packet) }
            start = end
        }
        #expect(parts == whole)
    }

    @Test(arguments: [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], Array("Welcome".utf8)] as [[UInt8]])
    func `a length that no packet has ends the connection`(start: [UInt8]) {
        var splitter = SFTPSplitter()
        start.withUnsafeBytes { splitter.append($0) }
        #expect(throws: SFTPMalformed.self) { _ = try splitter.next() }
    }

    @Test func `a server that sends noise, or answers what was not asked, is left`() async throws {
        for seed in 0..<8 {
            // Version 3, then noise with a plausible length.
            let command =
                "printf '\\000\\000\\000\\005\\002\\000\\000\\000\\003'; head -c 64 /dev/zero | tr '\\000' '\\\(100 + seed)'; exec sleep 900"
            var settings = try SFTPSettings(url: "sftp://h/p")
            settings.command = command
            settings.attempts = 1
            settings.timeout = .seconds(5)
            let store = SFTPStore(settings)
            #expect(await StoreCalls.code { _ = try await store.get("a") } != nil)
        }
    }

    @Test(
        arguments: [
            ("sftp://h/a/b", nil, "h", nil, "/a/b", "sftp://h/a/b"),
            ("sftp://u@h:22/a/", "u", "h", 22, "/a", "sftp://u@h:22/a"),
            ("SFTP://u@[::1]:2/~/x", "u", "::1", 2, "x", "sftp://u@[::1]:2/~/x"),
            ("sftp://h/~", nil, "h", nil, ".", "sftp://h/~"),
            ("sftp://u@d@h/", "u@d", "h", nil, "/", "sftp://u@d@h/"),
        ] as [(String, String?, String, Int?, String, String)])
    func `a URL is read`(url: String, user: String?, host: String, port: Int?, path: String, location: String) throws {
        let settings = try SFTPSettings(url: url)
        #expect(settings.user == user && settings.host == host && settings.port == port && settings.path == path)
        #expect(settings.location == location)
    }

    @Test(arguments: [
        "sftp://", "sftp://h", "sftp:///p", "sftp://u:secret@h/p", "sftp://@h/p", "sftp://h:0/p", "sftp://h:99999/p",
        "sftp://-oProxyCommand=x/p", "sftp://[::1/p", "sftp://[::1]x/p", "sftp://h/p\nq", "s3://b/p", "sftp://h i/p",
    ])
    func `an invalid URL is an error without a password in it`(url: String) {
        let error = #expect(throws: VaultError.self) { try SFTPSettings(url: url) }
        #expect(error?.code == .config && error?.description.contains("secret") == false)
    }

    @Test func `what a shell would interpret is quoted`() throws {
        var settings = try SFTPSettings(url: "sftp://u@h/p")
        settings.user = "$(touch /tmp/x)'; echo"
        #expect(settings.shellCommand.hasSuffix(#"'-l' '$(touch /tmp/x)'\''; echo' '-s' '--' 'h' 'sftp'"#))
    }
}
