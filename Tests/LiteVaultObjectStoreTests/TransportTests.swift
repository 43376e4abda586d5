import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// The HTTP client, against servers that do what no server should.
@Suite struct TransportTests {
    private func client(_ change: (inout HTTPSettings) -> Void = { _ in }) throws -> any HTTPTransport {
        var settings = HTTPSettings()
        // Many tests share the machine: what they wait for says nothing about time.
        (settings.silence, settings.connectTime) = (.seconds(600), .seconds(600))
        change(&settings)
        return try settings.transport()
    }

    private func request(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) -> HTTPRequest {
        var request = HTTPRequest(url: url)
        change(&request)
        return request
    }

    private func failure(_ body: () async throws -> Void) async -> HTTPFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error as? HTTPFailure ?? .other("\(error)")
        }
    }

    // MARK: Requests

    @Test func `a request has the headers that it was given, and none that ask the server before its body is sent`()
        async throws
    {
        let heads = Notes<String>()
        let server = try #require(
            SocketServer { peer, _ in
                while let request = peer.request() {
                    heads.add(request.head)
                    peer.answer()
                }
            })
        let client = try client()
        for method in ["GET", "HEAD", "DELETE", "PUT", "POST"] {
            let request = request(server.url + "a%20b?x=y/../z") {
                $0.method = method
                $0.headers = [
                    (name: "host", value: "bucket.example"), (name: "x-empty", value: ""), (name: "x-one", value: "1"),
                ]
                if method == "PUT" { $0.body = .bytes([UInt8](repeating: 7, count: 2 << 20)) }
            }
            _ = try await client.send(request).bytes()
        }
        let found = heads.all
        let methods = found.map { head in String(head.prefix { $0 != " " }) }
        #expect(methods == ["GET", "HEAD", "DELETE", "PUT", "POST"])
        for head in found {
            let lines = head.components(separatedBy: "\r\n").dropLast(2)
            #expect(lines.first?.hasSuffix(" /a%20b?x=y/../z HTTP/1.1") == true)
            let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }.sorted()
            let hasBody = head.hasPrefix("PUT") || head.hasPrefix("POST")
            #expect(
                names == ["host", "x-empty", "x-one"].sorted()
                    || hasBody && names == ["content-length", "host", "x-empty", "x-one"])
        }
        for _ in 0..<20 { _ = try await client.send(HTTPRequest(url: server.url)).bytes() }
        // Connections are kept. Not each time: other tests have theirs in the same cache, which closes those that were unused longest.
        #expect(server.connections < 25)
    }

    @Test(arguments: ["a\r\nx-other: b", "a\nb", "a\0b"])
    func `H-OBJ-16 a header whose value has a line break is not sent`(value: String) async throws {
        let client = try client()
        let request = request("http://127.0.0.1:9/") { $0.headers = [(name: "x-one", value: value)] }
        #expect(await failure { _ = try await client.send(request) } == .invalidRequest)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:9/", "127.0.0.1", "http:///x", ""])
    func `only HTTP is spoken`(url: String) async throws {
        let client = try client()
        #expect(await failure { _ = try await client.send(HTTPRequest(url: url)) } == .invalidRequest)
    }

    @Test func `a body is read from a file of any size while it is sent`() async throws {
        let scratch = Scratch()
        let bytes = StoreCalls.noise(9_000_001)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("body")))
        let bodies = Notes<[UInt8]>()
        let server = try #require(
            SocketServer { peer, _ in
                while let request = peer.request() {
                    bodies.add(request.body)
                    peer.answer()
                }
            })
        let slice = FileSlice(file: try LocalFile(reading: scratch.path("body")), start: 1000, count: 8_999_000)
        let client = try client()
        let request = request(server.url) {
            $0.method = "PUT"
            $0.body = .file(slice)
        }
        #expect(try await client.send(request).status == 200)
        #expect(bodies.all == [Array(bytes[1000..<9_000_000])])
        // A file that becomes shorter meanwhile.
        let longer = self.request(server.url) {
            $0.method = "PUT"
            $0.body = .file(FileSlice(file: slice.file, start: 0, count: 10_000_000))
        }
        #expect(await StoreCalls.code { _ = try await client.send(longer) } == .damaged)
        #expect(bodies.all.count == 1)
    }

    @Test func `H-OBJ-13 a write whose connection is closed instead of answered is sent once, and reported`()
        async throws
    {
        let seen = Notes<String>()
        let server = try #require(
            SocketServer { peer, _ in
                // A connection that was used before is what an HTTP client trusts least.
                while let request = peer.request() {
                    seen.add(String(request.head.prefix(4)))
                    guard request.head.hasPrefix("GET") else { return }
                    peer.answer()
                }
            })
        let client = try client()
        for body in [HTTPRequest.Body.bytes([1, 2, 3]), .bytes([]), .none] {
            let count = seen.all.count
            _ = try await client.send(HTTPRequest(url: server.url)).bytes()
            let write = request(server.url) {
                $0.method = "PUT"
                $0.body = body
            }
            #expect(await failure { _ = try await client.send(write) } == .closed)
            #expect(seen.all[count...] == ["GET ", "PUT "])
        }
    }

    @Test func `H-OBJ-14 programs that are started do not get the connections`() async throws {
        let server = try #require(
            SocketServer { peer, _ in
                _ = peer.head()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
                peer.waitForEnd()
            })
        let answer = try await client().send(HTTPRequest(url: server.url))
        let own = Platform.openDescriptors { $0.st_mode & S_IFMT == S_IFSOCK }.filter { peerPort($0) == server.port }
        #expect(own.count == 1)
        for descriptor in own { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
        #expect(answer.status == 200)
    }

    private func peerPort(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
        }
        return isConnected ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    // MARK: Addresses

    @Test func `a name with several addresses is tried at each of them`() async throws {
        let server = try #require(
            SocketServer { peer, _ in while peer.request() != nil { peer.answer("200 OK", "here") } })
        let client = try client { $0.hosts = ["store.example": "127.0.0.77,127.0.0.1"] }
        let answer = try await client.send(HTTPRequest(url: "http://store.example:\(server.port)/"))
        #expect(try await answer.bytes() == Array("here".utf8))
    }

    @Test func `an endpoint may be an IPv6 address`() async throws {
        guard
            let server = SocketServer(
                host: "::1", { peer, _ in while let request = peer.request() { peer.answer("200 OK", request.head) } })
        else { return }
        let endpoint = try Endpoint(url: "http://[::1]:\(server.port)", bucket: "bucket", usesPathStyle: false)
        #expect(endpoint.root == "/bucket/" && endpoint.host == "[::1]:\(server.port)")
        let answer = try await client().send(HTTPRequest(url: "\(endpoint.scheme)://\(endpoint.host)\(endpoint.root)"))
        #expect(String(decoding: try await answer.bytes(), as: UTF8.self).contains("[::1]:\(server.port)"))
    }

    @Test func `where nothing listens, the failure says so`() async throws {
        let client = try client()
        #expect(
            await failure { _ = try await client.send(HTTPRequest(url: "http://127.0.0.1:9/")) }
                == .unreachable(ECONNREFUSED))
        #expect(
            await failure { _ = try await client.send(HTTPRequest(url: "http://no.such.host.invalid/")) } == .unresolved
        )
    }

    // MARK: Answers

    @Test func `interim answers are passed over, and redirects are answers`() async throws {
        let server = try #require(
            SocketServer { peer, _ in
                _ = peer.head()
                peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nx-early: 1\r\n\r\n")
                peer.answer("302 Found", "moved", "Location: http://127.0.0.1:9/\r\nX-One:  1 \r\n")
                peer.waitForEnd()
            })
        let answer = try await client().send(HTTPRequest(url: server.url))
        #expect(answer.status == 302 && answer.headers["x-one"] == "1" && answer.headers["x-early"] == nil)
        #expect(try await answer.bytes() == Array("moved".utf8))
    }

    @Test func `each way to fail has its name`() async throws {
        for (sent, expected) in [
            ("", HTTPFailure.closed), ("SSH-2.0-OpenSSH_9.2\r\n", .notHTTP), ("\u{15}\u{3}\u{1}", .notHTTP),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", .truncated),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123", .truncated),
        ] {
            let server = try #require(
                SocketServer { peer, _ in
                    _ = peer.head()
                    peer.send(sent)
                })
            let client = try client()
            #expect(
                await failure { _ = try await client.send(HTTPRequest(url: server.url)).bytes() } == expected, "\(sent)"
            )
        }
    }

    @Test func `H-OBJ-15 an answer without an end is limited in its headers, its body and its time`() async throws {
        let server = try #require(
            SocketServer { peer, _ in
                guard let head = peer.head() else { return }
                if head.contains("/headers") {
                    peer.send("HTTP/1.1 200 OK\r\n")
                    while peer.send("x-more: \(String(repeating: "a", count: 1000))\r\n") {}
                } else if head.contains("/body") {
                    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    while peer.send("8\r\n12345678\r\n") {}
                } else if head.contains("/silent") {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1")
                    peer.waitForEnd()
                } else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                    while peer.send("1") { SystemThread.sleep(seconds: 0.05) }
                }
            })
        let client = try client { $0.silence = .seconds(2) }
        #expect(
            await failure { _ = try await client.send(HTTPRequest(url: server.url + "headers")) } == .tooManyHeaders)
        await #expect(throws: HTTPResponse.TooLarge.self) {
            try await client.send(HTTPRequest(url: server.url + "body")).bytes(upTo: 1_000_000)
        }
        #expect(
            await failure { _ = try await client.send(HTTPRequest(url: server.url + "silent")).bytes() } == .silence)
        let slow = request(server.url + "slow") { $0.timeLimit = .seconds(2) }
        // On a busy machine its bytes may be seconds apart, which the other client takes for silence.
        let patient = try self.client()
        #expect(await failure { _ = try await patient.send(slow).bytes() } == .deadline)
    }

    @Test func `an announced length beyond the limit is refused before the body`() async throws {
        let server = try #require(
            SocketServer { peer, _ in
                _ = peer.head()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n")
                peer.waitForEnd()
            })
        let answer = try await client().send(HTTPRequest(url: server.url))
        await #expect(throws: HTTPResponse.TooLarge.self) { try await answer.bytes(upTo: 1 << 20) }
    }

    @Test func `a reader that is slow makes the sender wait, and gets everything`() async throws {
        let piece = StoreCalls.noise(1 << 20)
        let sent = Notes<Int>()
        let server = try #require(
            SocketServer { peer, _ in
                _ = peer.head()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n")
                for number in 0..<64 where peer.send(piece) { sent.add(number) }
            })
        let answer = try await client().send(HTTPRequest(url: server.url))
        // The client's buffer, libcurl's and the system's are full at some time.
        var before = -1
        while sent.all.count != before {
            before = sent.all.count
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(before < 40)
        var (count, isRight) = (0, true)
        try await answer.forEachChunk { chunk in
            for (index, byte) in chunk.enumerated() where (count + index) % 4093 == 0 {
                isRight = isRight && byte == piece[(count + index) % piece.count]
            }
            count += chunk.count
        }
        #expect(count == 64 << 20 && isRight)
    }

    // MARK: Cancelling

    @Test func `a task that is cancelled ends at once, whatever it waits for, and its connection with it`() async throws
    {
        let ends = Notes<String>()
        let begins = Notes<String>()
        let server = try #require(
            SocketServer { peer, _ in
                guard let head = peer.head() else { return }
                let path = String(head.split(separator: " ")[1])
                begins.add(path)
                if path == "/body" { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1") }
                // It does not read meanwhile, until the client's buffers are full.
                while path == "/upload", !begins.all.contains("go") { SystemThread.sleep(seconds: 0.02) }
                peer.waitForEnd()
                ends.add(path)
            })
        let client = try client()
        for path in ["/head", "/body", "/upload"] {
            let request = request(server.url + path.dropFirst()) {
                guard path == "/upload" else { return }
                $0.method = "PUT"
                $0.body = .bytes([UInt8](repeating: 1, count: 64 << 20))
            }
            let task = Task {
                let answer = try await client.send(request)
                try await answer.forEachChunk { _ in }
            }
            #expect(try await begins.wait { $0.contains(path) })
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            begins.add("go")
            #expect(try await ends.wait { $0.contains(path) })
        }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await client.send(HTTPRequest(url: server.url + "early"))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(!begins.all.contains("/early"))
    }

    @Test func `an answer that is dropped ends its request`() async throws {
        let ends = Notes<Bool>()
        let server = try #require(
            SocketServer { peer, _ in
                _ = peer.head()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1")
                peer.waitForEnd()
                ends.add(true)
            })
        let client = try client()
        #expect(try await client.send(HTTPRequest(url: server.url)).status == 200)
        #expect(try await ends.wait { $0 == [true] })
    }

    @Test func `many requests at a time, cancelled at any moment, disturb no other`() async throws {
        let server = try #require(
            SocketServer { peer, _ in
                while let request = peer.request() {
                    peer.answer("200 OK", String(request.head.split(separator: " ")[1]))
                }
            })
        let client = try client()
        let good = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { try await client.send(HTTPRequest(url: server.url + "\(number)")).bytes() }
                    if number.isMultiple(of: 2) {
                        try? await Task.sleep(for: .microseconds(number * 20))
                        task.cancel()
                        _ = try? await task.value
                        return true
                    }
                    return (try? await task.value) == Array("/\(number)".utf8)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(good == 200)
    }
}
