import Foundation
import LiteVaultSystem
import Testing

@Suite struct LockedTests {
    @Test func `everything that threads add under the lock is kept`() {
        let count = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1000 { count.withLock { $0 += 1 } }
        }
        #expect(count.value == 8000)
    }

    @Test func `an error leaves the lock open and the changes in place`() {
        struct Problem: Error {}
        let state = Locked([Int]())
        #expect(throws: Problem.self) {
            try state.withLock { state throws(Problem) in
                state.append(1)
                throw Problem()
            }
        }
        #expect(state.value == [1])
    }
}

@Suite struct HexadecimalTests {
    @Test func `bytes and digits are each other's inverse`() {
        let bytes = (0...255).map { UInt8($0) }
        let digits = bytes.hexadecimal
        #expect(digits.hasPrefix("000102") && digits.hasSuffix("fdfeff"))
        #expect([UInt8](hexadecimal: digits) == bytes)
        #expect([UInt8](hexadecimal: digits.uppercased()) == bytes)
        #expect([UInt8]().hexadecimal == "" && [UInt8](hexadecimal: "") == [])
        #expect(bytes[1..<3].hexadecimal == "0102")
    }

    @Test(arguments: ["0", "0g", "g0", "0x", " 00", "é"])
    func `anything but pairs of digits is refused`(text: String) { #expect([UInt8](hexadecimal: text) == nil) }
}

@Suite struct BackoffTests {
    @Test func `pauses double up to the longest, and begin again`() {
        var backoff = Backoff(1...5)
        #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5])
        backoff.reset()
        #expect(backoff.next() == 1)
        for _ in 0..<5000 { _ = backoff.next() }
        #expect(backoff.next() == 5)
    }

    @Test func `a first pause that is longer than the longest is cut`() {
        #expect(Backoff(first: 30, most: 20).limit(1) == 20)
        #expect(Backoff(first: 0.25, most: 20).limit(0) == 0.25)
    }

    @Test func `a random pause stays below its limit, and a server's Retry-After is honored`() {
        let backoff = Backoff(first: 1, most: 20)
        for attempt in 1...6 {
            #expect((0...backoff.limit(attempt)).contains(backoff.jittered(attempt)))
            #expect(backoff.jittered(attempt, asked: 45) == 45)
        }
        #expect(backoff.jittered(1, asked: 3600) == 60)
    }
}

@Suite struct SecretMemoryTests {
    /// The reading end of a pipe that holds `bytes` and ends.
    private func pipe(_ bytes: [UInt8]) throws -> FileHandle {
        let pipe = Pipe()
        Thread.detachNewThread { [writing = pipe.fileHandleForWriting] in
            try? writing.write(contentsOf: Data(bytes))
            try? writing.close()
        }
        return pipe.fileHandleForReading
    }

    @Test func `a secret of several pages is read unchanged`() throws {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let source = try pipe(bytes)
        let buffer = SecretBuffer()
        try buffer.fill(from: source.fileDescriptor)
        #expect(buffer.withBytes { Array($0) } == bytes)
    }

    @Test func `more than the limit is refused`() throws {
        let source = try pipe([UInt8](repeating: 7, count: SecretBuffer.limit + 1))
        #expect { try SecretBuffer().fill(from: source.fileDescriptor) } throws: { error in
            if case SecretError.tooLong = error { true } else { false }
        }
    }

    @Test func `a line ends at its newline, and the next one is left to be read`() throws {
        let source = try pipe(Array("one\ntwo".utf8))
        let (first, second) = (SecretBuffer(), SecretBuffer())
        #expect(try first.fillLine(from: source.fileDescriptor))
        #expect(try !second.fillLine(from: source.fileDescriptor))
        #expect(first.withBytes { Array($0) } == Array("one".utf8))
        #expect(second.withBytes { Array($0) } == Array("two".utf8))
        #expect(!first.equals(second) && first.equals(first))
    }

    @Test func `digits in a buffer are decoded, and other text is not`() throws {
        func decoded(_ text: String) throws -> [UInt8]? {
            let source = try pipe(Array(text.utf8))
            let buffer = SecretBuffer()
            try buffer.fill(from: source.fileDescriptor)
            return try buffer.withHexadecimal { Array($0) }
        }
        #expect(try decoded("00fFa0") == [0, 255, 160])
        #expect(try decoded("00f") == nil)
        #expect(try decoded("00gg") == nil)
    }

    @Test func `a variable that was taken is gone from the environment, and its bytes are wiped`() throws {
        let name = "LITEVAULT_TEST_TAKEN"
        setenv(name, "open sesame", 1)
        let value = try #require(getenv(name))
        let buffer = try #require(try SecretBuffer(takingVariable: name))
        #expect(buffer.withBytes { Array($0) } == Array("open sesame".utf8))
        #expect(getenv(name) == nil && value.pointee == 0)
        #expect(try SecretBuffer(takingVariable: name) == nil)
    }

    @Test func `a file with a secret is read unless its reader rejects it`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)").path
        defer { unlink(path) }
        try Data("open sesame".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try SecretBuffer(contentsOf: path).withBytes { Array($0) } == Array("open sesame".utf8))
        #expect(throws: CancellationError.self) {
            _ = try SecretBuffer(contentsOf: path) { file in
                #expect(file.kind == .regular && file.size == 11)
                throw CancellationError()
            }
        }
        #expect(throws: DurableFileError.self) { _ = try SecretBuffer(contentsOf: path + "-missing") }
    }

    @Test func `secrets are equal by their bytes, and print nothing`() throws {
        let secret = try SecretBytes([1, 2, 3])
        #expect(try secret.equals(SecretBytes([1, 2, 3])))
        #expect(try !secret.equals(SecretBytes([1, 2, 4])))
        #expect(try !secret.equals(SecretBytes([1, 2])))
        #expect("\(secret)" == "<redacted>" && secret.customMirror.children.isEmpty)
    }
}

@Suite struct ShellCommandTests {
    /// What a command prints, and how it ended.
    private func run(_ text: String, variables: [String: String] = [:]) throws -> (String, ChildProcess.Ending) {
        let pipe = Pipe()
        var command = ShellCommand(text)
        command.variables = variables
        command.output = .descriptor(pipe.fileHandleForWriting.fileDescriptor)
        command.input = .null
        let child = try command.spawn()
        try pipe.fileHandleForWriting.close()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return (output, try child.wait())
    }

    @Test func `output goes to the descriptor, and the status is returned`() throws {
        let (output, ending) = try run("printf out; exit 3")
        #expect(output == "out" && ending == .status(3) && ending.description == "status 3")
    }

    @Test func `a variable is added or replaces ours, and the others stay`() throws {
        let variables = ["HOME": "elsewhere", "LV_SUPPORT_TEST": "a=b c"]
        let text = #"printf '%s|%s|%s' "$HOME" "$LV_SUPPORT_TEST" "${PATH:+path}""#
        let (output, _) = try run(text, variables: variables)
        #expect(output == "elsewhere|a=b c|path")
    }

    @Test func `a signal reaches the whole group`() throws {
        var command = ShellCommand("sleep 60 & sleep 60")
        (command.input, command.output, command.error) = (.null, .null, .null)
        command.leadsGroup = true
        let child = try command.spawn()
        child.signal(SIGTERM)
        child.waitUntilEnded()
        #expect(try child.wait() == .signal(SIGTERM))
        #expect(throws: SystemError.self) { try child.wait() }
    }

    @Test func `a child process has the signals unblocked that we block`() throws {
        let (output, _) = try run("kill -TERM $$; printf still")
        #expect(output == "")
    }
}

@Suite struct DurationTests {
    @Test(arguments: [0, 0.001, 1.5, 86_400, -2.25])
    func `seconds are returned as they were set`(seconds: Double) {
        #expect(abs(Duration(seconds: seconds).seconds - seconds) < 1e-9)
    }

    @Test func `no number of seconds traps`() {
        #expect(Duration(seconds: .nan) == .zero)
        #expect(Duration(seconds: .infinity) == Duration(seconds: .greatestFiniteMagnitude))
        #expect(Duration(seconds: -.infinity) < .seconds(-1_000_000_000))
        #expect(Duration(seconds: 0.25) == .milliseconds(250))
    }
}

@Suite struct DeadlineTests {
    @Test func `a deadline is over when its time has passed, and has nothing left then`() {
        for seconds: Double in [0, -1, -.infinity, .nan] {
            let deadline = Deadline(seconds: seconds)
            #expect(deadline.isOver && deadline.remaining == .zero, "\(seconds)")
        }
        let deadline = Deadline(in: .seconds(60))
        #expect(!deadline.isOver && deadline.remaining > .seconds(50) && deadline.remaining <= .seconds(60))
        #expect(deadline + .seconds(1) > deadline)
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e300]) func `no time is too long`(seconds: Double) {
        #expect(Deadline(seconds: seconds).remaining > .seconds(1_000_000))
        #expect(!Deadline(in: Duration(secondsComponent: .max, attosecondsComponent: 0)).isOver)
    }
}
