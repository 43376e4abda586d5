import Foundation
import LiteVaultSystem
import Testing

@Suite struct TextSearchTests {
    @Test func `text is found byte by byte`() throws {
        let text = "a://b://c"
        let first = try #require(text.firstRange(ofText: "://"))
        #expect(text[..<first.lowerBound] == "a")
        #expect(text[first.upperBound...] == "b://c")
        let last = try #require(text.lastRange(ofText: "://"))
        #expect(text[..<last.lowerBound] == "a://b")
        #expect("aab".firstRange(ofText: "ab").map { "aab"[$0] } == "ab")
        #expect("ab".lastRange(ofText: "abc") == nil)
        #expect("".firstRange(ofText: "a") == nil)
        #expect("".lastRange(ofText: "a") == nil)
        #expect("a".firstRange(ofText: "") == nil)
        #expect("abc".dropFirst().firstRange(ofText: "c") != nil)
    }

    @Test func `a path begins, ends and is split at its slashes, whatever is behind them`() {
        let path = "/a/\u{301}b"
        #expect("/\u{301}a".starts(withText: "/") && path.starts(withText: "/a/") && !path.starts(withText: "/b"))
        #expect(path.ends(withText: "b") && path.ends(withText: "/\u{301}b") && !"b".ends(withText: path))
        #expect(!"caf\u{E9}".starts(withText: "cafe\u{301}") && !"\u{E9}".ends(withText: "e\u{301}"))
        #expect("".starts(withText: "") && "".ends(withText: ""))
        #expect(path.pathNames.map { Array($0.utf8) } == [Array("a".utf8), Array("\u{301}b".utf8)])
        #expect("//a//".pathNames == ["a"] && "/".pathNames.isEmpty)
    }

    @Test func `a quotation mark is replaced also before a combining accent`() {
        #expect(Array("it's".replacing(text: "'", with: "''").utf8) == Array("it''s".utf8))
        #expect(Array("'\u{301}".replacing(text: "'", with: "''").utf8) == Array("''\u{301}".utf8))
        #expect("\\040a\\040\\04".replacing(text: "\\040", with: " ") == " a \\04")
        #expect("aaa".replacing(text: "aa", with: "b") == "ba")
        #expect("é€😀".replacing(text: "€", with: "") == "é😀")
        #expect("abc".replacing(text: "", with: "x") == "abc")
    }

    @Test func `white space is removed from both ends`() {
        #expect(" \t a b\r\n".trimmed == "a b")
        #expect("\u{2028}\u{A0}x\u{85}".trimmed == "x")
        #expect(" \n".trimmed.isEmpty)
        #expect("\"\"a\"".trimmed { $0 == "\"" } == "a")
    }
}

@Suite struct ConditionTests {
    @Test func `a waiting thread is woken`() {
        let condition = Condition()
        let state = Locked(false)
        SystemThread.start {
            SystemThread.sleep(seconds: 0.02)
            condition.withLock {
                state.withLock { $0 = true }
                condition.signal()
            }
        }
        condition.lock()
        while !state.value { _ = condition.wait(seconds: 900) }
        condition.unlock()
        #expect(state.value)
    }

    @Test func `waiting ends without a signal`() {
        let condition = Condition()
        condition.lock()
        while condition.wait(seconds: 0.01) {}
        #expect(!condition.wait(seconds: -1))
        condition.unlock()
    }

    @Test func `a recursive lock is acquired again by its thread, and by one thread at a time`() {
        let count = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<500 { count.lock.withLock { count.lock.withLock { count.value += 1 } } }
        }
        #expect(count.value == 2000)
    }

    private final class Counter: @unchecked Sendable {  // `value` is used only while `lock` is held
        let lock = RecursiveLock()
        var value = 0
    }
}

@Suite struct InputFileTests {
    @Test func `a file is read in parts up to its end`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/litevault-input-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let file = try InputFile(path: path)
        #expect(try file.read(upTo: 10) == Array(bytes[..<10]))
        #expect(try file.read(upTo: 200_000) == Array(bytes[10..<200_010]))
        #expect(try file.readToEnd() == Array(bytes[200_010...]))
        #expect(try file.read(upTo: 1).isEmpty)
    }

    @Test func `what cannot be read is an error of the system`() throws {
        #expect(try #require(throws: SystemError.self) { try InputFile(path: "/nonexistent/x") }.code == ENOENT)
        #expect(try #require(throws: SystemError.self) { try InputFile(path: "/").readToEnd() }.code == EISDIR)
    }

    #if os(Linux)
        @Test func `a file whose size is unknown before it is read, as in /proc, is read to its end`() throws {
            let bytes = try InputFile(path: "/proc/self/smaps").readToEnd()
            #expect(bytes.count > 1 << 16)
            #expect(bytes.last == UInt8(ascii: "\n"))
        }
    #endif
}
