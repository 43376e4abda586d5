import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultSystem
import Testing

/// Proxies of the environment and of the settings.
@Suite struct ProxyTests {
    // MARK: Which proxy

    private func proxy(_ environment: [String: String], _ url: String) throws -> String? {
        try ProxyRules(environment: environment).proxy(for: url)?.url
    }

    @Test func `the variables are read as the AWS tools read them, in both cases`() throws {
        let environment = ["HTTPS_PROXY": "http://secure:3128", "HTTP_PROXY": "plain:8080"]
        #expect(try proxy(environment, "https://s3.example/") == "http://secure:3128")
        #expect(try proxy(environment, "http://s3.example/") == "http://plain:8080")
        #expect(try proxy(["HTTP_PROXY": "http://a", "http_proxy": "https://b/"], "http://x/") == "https://b:443")
        #expect(try proxy(["HTTP_PROXY": "http://a", "http_proxy": ""], "http://x/") == nil)
        #expect(try proxy(["https_proxy": "http://[fd00::1]:3128"], "https://x/") == "http://[fd00::1]:3128")
        #expect(try proxy(["ALL_PROXY": "http://a", "HTTP_PROXY": "http://b"], "https://x/") == nil)
        // A header of a request to a CGI program.
        #expect(try proxy(["HTTP_PROXY": "http://evil", "REQUEST_METHOD": "GET"], "http://x/") == nil)
        #expect(try proxy(["http_proxy": "http://a", "REQUEST_METHOD": "GET"], "http://x/") == "http://a:80")
    }

    @Test(arguments: [
        ("s3.example", "s3.example", true), ("example", "s3.example", true), (".example", "s3.example", true),
        ("*.example", "s3.example", true), (".s3.example", "s3.example", true), ("3.example", "s3.example", false),
        ("S3.Example.", "s3.example", true), ("other, s3.example", "s3.example", true),
        ("other s3.example", "s3.example", true),
        ("*", "anything", true), ("", "s3.example", false), ("s3.example:443", "s3.example", true),
        ("s3.example:80", "s3.example", false), ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.1.2.128/25", "10.1.2.129", true), ("10.1.2.128/25", "10.1.2.127", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.30", false), ("10.1.2.3:443", "10.1.2.3", true),
        ("fd00::/8", "[fd12::1]", true), ("fd00::/8", "[fe80::1]", false), ("::1", "[::1]", true),
        ("[::1]:443", "[::1]", true), ("0:0:0:0:0:0:0:1", "[::1]", true), ("10.0.0.0/99,,/,:", "10.0.0.1", false),
        ("10.0.0.0/8", "s3.example", false),
    ])
    func `NO_PROXY has hosts, domains, addresses, networks and an asterisk`(
        entry: String, host: String, isExcepted: Bool
    ) throws {
        let environment = ["https_proxy": "http://proxy:3128", "no_proxy": entry]
        #expect(try (proxy(environment, "https://\(host)/bucket/x") == nil) == isExcepted)
        #expect(
            try (proxy(["HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": entry], "https://\(host)/") == nil)
                == isExcepted)
    }

    @Test(arguments: [
        "socks5://user:word@x", "http://", "http://user:word@", "http://user:w#rd@host:1", "http://x:word",
        "http://user:word@x/path",
    ])
    func `an invalid proxy is rejected without being shown`(text: String) throws {
        do {
            _ = try FaultyS3.store(environment: ["HTTPS_PROXY": text])
            Issue.record("taken")
        } catch {
            #expect((error as? VaultError)?.code == .config && !"\(error)".contains("word"))
        }
        do {
            _ = try FaultyS3.store { $0.proxy = text }
            Issue.record("taken")
        } catch {
            #expect((error as? VaultError)?.code == .config && !"\(error)".contains("word"))
        }
    }

    // MARK: Requests

    /// A proxy that notes down each request, and answers it in the place of any server.
    private func start(_ heads: Notes<String>, _ answer: @escaping @Sendable (Peer, String) -> Void) throws
        -> SocketServer
    {
        try #require(
            SocketServer { peer, _ in
                while let request = peer.request() {
                    heads.add(request.head)
                    answer(peer, request.head)
                }
            })
    }

    private func store(_ proxy: SocketServer, _ user: String = "", _ change: (inout S3Settings) -> Void = { _ in })
        throws -> S3Store
    {
        var environment = FaultyS3.environment
        environment["HTTPS_PROXY"] = "http://\(user)127.0.0.1:\(proxy.port)"
        environment["http_proxy"] = environment["HTTPS_PROXY"]
        return try FaultyS3.store(port: 80, host: "store.example", environment: environment) {
            $0.attempts = 1
            change(&$0)
        }
    }

    private func error(_ store: S3Store) async throws -> VaultError {
        do {
            _ = try await store.get("x")
        } catch {
            let error = try #require(error as? VaultError)
            var shown = "\(error) \(error.remedy ?? "")"
            dump(error, to: &shown)
            dump(store, to: &shown)
            #expect(!shown.contains("s3cr") && !shown.contains("czNjcjp0"))
            return error
        }
        throw VaultError(.internalFailure, "went through")
    }

    @Test func `H-OBJ-17 user and password of a proxy are sent to it, and appear nowhere else`() async throws {
        let heads = Notes<String>()
        let proxy = try start(heads) { peer, head in
            if head.contains("czNjcjp0L0A=") {
                peer.answer("200 OK", "content")
            } else {
                peer.answer("407 Proxy Authentication Required")
            }
        }
        // s3cr:t/@
        #expect(try await store(proxy, "s3cr:t%2F%40@").get("x") == Array("content".utf8))
        #expect(heads.all.count == 1 && heads.all[0].hasPrefix("GET http://bucket.store.example/"))
        #expect(heads.all[0].lowercased().contains("proxy-authorization: basic"))
        let refused = try await error(store(proxy, "s3cr:wrong@"))
        #expect(refused.message.contains("127.0.0.1:\(proxy.port) requires a user and a password"), "\(refused)")
        #expect(refused.remedy?.contains("HTTPS_PROXY") == true)
        #expect(try await error(store(proxy)).code == .io)
    }

    @Test func `a tunnel that the proxy refuses, wants a password for or cuts off is reported as the proxy's`()
        async throws
    {
        let heads = Notes<String>()
        let proxy = try start(heads) { peer, head in
            if head.contains("bucket.forbidden") {
                peer.answer("403 Forbidden", "by policy")
            } else if head.contains("bucket.password") {
                peer.answer("407 Proxy Authentication Required", "", "Proxy-Authenticate: Basic realm=\"x\"\r\n")
            } else {
                if head.contains("bucket.later") { peer.send("HTTP/1.1 200 Connection established\r\n\r\n") }
                peer.hangUp()
            }
        }
        for (host, words) in [
            ("forbidden", "refused the connection with status 403"), ("password", "requires a user and a password"),
            ("cut", "failed"), ("later", "the server closed the connection"),
        ] {
            let found = try await error(
                store(proxy, "s3cr:t@") { $0.endpoint = "https://\(host).example" })
            #expect(found.code == .io && found.message.contains(words), "\(found)")
            #expect(host == "later" || found.message.contains("127.0.0.1:\(proxy.port)"), "\(found)")
            #expect(heads.all.last?.hasPrefix("CONNECT bucket.\(host).example:443 ") == true)
        }
    }

    @Test func `a proxy that is not there is reported as such`() async throws {
        let gone = try FaultyS3.store(port: 80, host: "store.example") {
            $0.proxy = "http://s3cr:t@127.0.0.1:9"
            $0.attempts = 1
        }
        #expect(try await error(gone).message.contains("proxy http://127.0.0.1:9 failed"))
        let unknown = try FaultyS3.store(port: 80, host: "store.example") {
            $0.proxy = "http://s3cr:t@no.such.proxy.invalid:3128"
            $0.attempts = 1
        }
        #expect(try await error(unknown).message.contains("proxy http://no.such.proxy.invalid:3128 cannot be resolved"))
    }

    @Test func `the proxy of the settings comes before the environment's, whatever is excepted there`() async throws {
        let (mine, others) = (Notes<String>(), Notes<String>())
        let chosen = try start(mine) { peer, _ in peer.answer("200 OK", "content") }
        let usual = try start(others) { peer, _ in peer.answer("200 OK", "content") }
        let environment = FaultyS3.environment.merging(
            ["HTTP_PROXY": "http://127.0.0.1:\(usual.port)", "NO_PROXY": "*"]) { $1 }
        let store = try FaultyS3.store(port: 80, host: "store.example", environment: environment) {
            $0.proxy = "http://127.0.0.1:\(chosen.port)"
        }
        _ = try await store.get("x")
        #expect(mine.all.count == 1 && others.all.isEmpty)
    }

    @Test func `H-OBJ-18 credentials of the machine are not fetched through a proxy`() async throws {
        let (proxied, direct) = (Notes<String>(), Notes<String>())
        let proxy = try start(proxied) { peer, _ in peer.answer("200 OK", "the-session") }
        let metadata = try start(direct) { peer, _ in peer.answer("404 Not Found") }
        let store = try FaultyS3.store(
            port: 80, host: "store.example",
            environment: [
                "http_proxy": "http://127.0.0.1:\(proxy.port)", "HOME": "/nowhere",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(metadata.port)",
            ])
        #expect(await StoreCalls.code { _ = try await store.get("x") } == .config)
        #expect(proxied.all.isEmpty && direct.all.count == 1 && direct.all[0].hasPrefix("PUT /latest/api/token "))
        let container = try FaultyS3.store(
            port: 80, host: "store.example",
            environment: [
                "http_proxy": "http://127.0.0.1:\(proxy.port)", "HOME": "/nowhere",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(metadata.port)/credentials",
            ])
        #expect(await StoreCalls.code { _ = try await container.get("x") } == .config)
        #expect(proxied.all.isEmpty && direct.all.count == 2)
    }

    @Test func `a heartbeat goes through the proxy, and follows redirects`() async throws {
        let heads = Notes<String>()
        let proxy = try start(heads) { peer, head in
            if head.contains("/second") {
                peer.answer()
            } else {
                peer.answer("301 Moved", "", "Location: /second?x=1\r\n")
            }
        }
        try await Heartbeat.send(
            to: "http://beat.example/first", environment: ["HTTP_PROXY": "http://127.0.0.1:\(proxy.port)"])
        #expect(
            heads.all.map { $0.components(separatedBy: "\r\n")[0] } == [
                "GET http://beat.example/first HTTP/1.1", "GET http://beat.example/second?x=1 HTTP/1.1",
            ])
    }
}
