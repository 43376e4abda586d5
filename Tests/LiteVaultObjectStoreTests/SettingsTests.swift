import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

@Suite struct SettingsTests {
    @Test func `a bucket and a prefix are read from a URL`() throws {
        let settings = try S3Settings(url: "s3://my.bucket-1/a/b_c/")
        #expect(settings.bucket == "my.bucket-1")
        #expect(settings.prefix == "a/b_c")
        #expect(settings.location == "s3://my.bucket-1/a/b_c")
        #expect(try S3Settings(url: "s3://bucket").prefix.isEmpty)
    }

    @Test(arguments: [
        "s3://", "s3:///a", "s3://a:b@host/x", "s3://bucket/../x", "s3://bucket//x", "s3://bucket/a b", "http://bucket",
    ])
    func `a URL without a valid bucket or prefix is rejected`(url: String) {
        #expect(throws: VaultError.self) { try S3Settings(url: url) }
    }

    @Test(arguments: ["s3://me:secret@bucket/x", "s3://me:secret@bucket", "s3://me:\u{301}secret@b/c@d"])
    func `H-SEC-21 a password in the URL of an object store is not repeated by the error`(url: String) {
        let error = #expect(throws: VaultError.self) { try S3Settings(url: url) }
        #expect(error.map { !"\($0)".contains("secret") && !($0.path ?? "").contains("secret") } == true)
    }

    @Test func `a bucket is part of the host's name where that can carry it`() throws {
        func endpoint(_ url: String, _ bucket: String = "bucket", pathStyle: Bool = false) throws -> String {
            let endpoint = try Endpoint(url: url, bucket: bucket, usesPathStyle: pathStyle)
            return "\(endpoint.scheme)://\(endpoint.host)\(endpoint.root)"
        }
        #expect(try endpoint("https://s3.eu-west-1.amazonaws.com") == "https://bucket.s3.eu-west-1.amazonaws.com/")
        #expect(try endpoint("https://S3.example.com:443/") == "https://bucket.s3.example.com/")
        #expect(try endpoint("http://s3.example.com:9000") == "http://bucket.s3.example.com:9000/")
        #expect(try endpoint("https://s3.example.com", pathStyle: true) == "https://s3.example.com/bucket/")
        #expect(try endpoint("https://s3.example.com", "with.dots") == "https://s3.example.com/with.dots/")
        #expect(try endpoint("http://127.0.0.1:9000") == "http://127.0.0.1:9000/bucket/")
        #expect(try endpoint("http://localhost:9000") == "http://localhost:9000/bucket/")
        // Behind a path, as of Supabase and of some proxies, it is always part of the path.
        #expect(try endpoint("https://x.supabase.co/storage/v1/s3/") == "https://x.supabase.co/storage/v1/s3/bucket/")
    }

    @Test(arguments: [
        "ftp://x", "https://user:word@x", "https://x/a/../word", "https://x/a%20word", "https://x?y", "x", "",
    ])
    func `an invalid endpoint is rejected without being shown`(url: String) {
        do {
            _ = try Endpoint(url: url, bucket: "bucket", usesPathStyle: false)
            Issue.record("taken")
        } catch {
            #expect((error as? VaultError)?.code == .config)
            #expect(!"\(error)".contains("word"))
        }
    }

    @Test func `the shared files are read with profiles, comments and nested settings`() throws {
        let scratch = Scratch()
        try """
        [default]
        region = us-west-2 # the usual one
        s3 =
            addressing_style = path
        [profile  other]
        region=eu-central-1
        endpoint_url = https://s3.example.com
        aws_access_key_id = from-config
        """.write(toFile: scratch.path("config"), atomically: true, encoding: .utf8)
        try """
        ; old
        [other]
        aws_access_key_id = from-credentials
        aws_secret_access_key = a#b=c
        """.write(toFile: scratch.path("credentials"), atomically: true, encoding: .utf8)
        let files = [
            "AWS_CONFIG_FILE": scratch.path("config"), "AWS_SHARED_CREDENTIALS_FILE": scratch.path("credentials"),
        ]
        let plain = AWSEnvironment(files, profile: nil)
        #expect(plain.region == "us-west-2")
        #expect(plain.settings["addressing_style"] == nil)
        let other = AWSEnvironment(files.merging(["AWS_PROFILE": "other"]) { $1 }, profile: nil)
        #expect(other.region == "eu-central-1")
        #expect(other.endpoint == "https://s3.example.com")
        #expect(other.settings["aws_access_key_id"] == "from-credentials")
        #expect(other.settings["aws_secret_access_key"] == "a#b=c")
        let variables = AWSEnvironment(
            files.merging(["AWS_REGION": "ap-south-1", "AWS_ENDPOINT_URL_S3": "http://x"]) { $1 }, profile: "other")
        #expect(variables.region == "ap-south-1")
        #expect(variables.endpoint == "http://x")
    }

    @Test func `servers' times are read, and nothing else`() {
        #expect(HTTPDate.date("Fri, 24 May 2013 00:00:00 GMT") == Date(timeIntervalSince1970: 1_369_353_600))
        #expect(HTTPDate.isoDate("2013-05-24T00:00:00.500Z") == Date(timeIntervalSince1970: 1_369_353_600.5))
        for text in ["", "yesterday", "Fri, 99 May 2013 00:00:00 GMT", "Fri, 24 Maj 2013 00:00:00 GMT"] {
            #expect(HTTPDate.date(text) == nil)
        }
        #expect(HTTPDate.isoDate("2013-05-24 00:00") == nil)
    }

    @Test func `text is percent-encoded as signatures want it, and back`() {
        #expect(URIEncoding.encode("a/b c~é+") == "a%2Fb%20c~%C3%A9%2B")
        #expect(URIEncoding.encode("a/b", keepingSlashes: true) == "a/b")
        #expect(URIEncoding.decode("a%2Fb%20c~%C3%A9%2B") == "a/b c~é+")
        #expect(URIEncoding.decode("%zz") == nil)
        #expect(URIEncoding.decode("%e") == nil)
    }

    @Test func `pauses double up to a limit and are random below it`() {
        let backoff = Backoff(first: 0.5, most: 4)
        #expect((1...6).map { backoff.limit($0) } == [0.5, 1, 2, 4, 4, 4])
        for attempt in 1...6 { #expect((0...4).contains(backoff.jittered(attempt))) }
        #expect(backoff.jittered(1, asked: 3) >= 3)
        #expect(Set((0..<20).map { _ in backoff.jittered(3) }).count > 1)
    }

    @Test(arguments: [
        "My-bucket", "my_bucket", "-bucket", "bucket.", "a..b", "192.0.2.7", String(repeating: "a", count: 64),
    ])
    func `a name that Amazon's S3 has no bucket of is refused there, and nowhere else`(_ name: String) throws {
        func store(_ endpoint: String?, _ variables: [String: String] = [:], pathStyle: Bool = false) throws {
            var settings = try S3Settings(url: "s3://\(name)/p")
            (settings.endpoint, settings.usesPathStyle) = (endpoint, pathStyle)
            _ = try S3Store(settings, environment: variables)
        }
        for endpoint in [nil, "https://s3.eu-central-1.amazonaws.com", "https://S3.CN-NORTH-1.amazonaws.com.cn:443/"] {
            let error = #expect(throws: VaultError.self) { try store(endpoint) }
            #expect(error?.code == .config && error?.message.contains("'\(name)'") == true)
            // An old bucket, which only a path can show.
            try store(endpoint, pathStyle: true)
        }
        try store("https://ceph.example.org")
        try store("http://127.0.0.1:7480/s3.eu-central-1.amazonaws.com")
        try store(nil, ["AWS_ENDPOINT_URL_S3": "https://minio.example.org"])
    }

    @Test(arguments: ["abc", "a-b.c", "0-9", String(repeating: "a", count: 63), "192.0.2", "alias-s3alias"])
    func `a name that Amazon's S3 may have a bucket of is taken`(_ name: String) throws {
        _ = try S3Store(try S3Settings(url: "s3://\(name)/p"), environment: [:])
    }

    @Test func `the name of a bucket that is too short is named, and called short`() {
        let error = #expect(throws: VaultError.self) { try S3Settings(url: "s3://bk/p") }
        #expect(error?.message.contains("'bk'") == true && error?.message.contains("short") == true)
        let none = #expect(throws: VaultError.self) { try S3Settings(url: "s3:///p") }
        #expect(none?.message.contains("does not name a bucket") == true)
    }
}
