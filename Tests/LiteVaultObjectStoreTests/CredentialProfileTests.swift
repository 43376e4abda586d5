import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultTestSupport
import Testing

/// Profiles whose credentials come from a program, a role or a single sign-on.
@Suite(.enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges")) struct CredentialProfileTests {
    let scratch = Scratch()

    private func write(_ text: String, _ name: String) throws {
        let path = scratch.path(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// The access key for the profile `x` of a configuration file.
    private func accessKey(
        _ config: String, _ variables: [String: String] = [:], chosen: String? = nil
    ) async throws -> String? {
        try write(config, ".aws/config")
        var environment = variables
        environment["AWS_PROFILE"] = "x"
        return try await CredentialServers.accessKeys(environment, home: scratch.directory, profile: chosen).last ?? nil
    }

    private func refusal(_ config: String, _ variables: [String: String] = [:], chosen: String? = nil) async throws
        -> String
    {
        do {
            _ = try await accessKey(config, variables, chosen: chosen)
            Issue.record("went through")
            return ""
        } catch {
            let error = try #require(error as? VaultError, "\(error)")
            #expect(error.code == .config, "\(error)")
            return error.message + " " + (error.remedy ?? "")
        }
    }

    @Test func `a line of a shared file ends as it does for the AWS tools, and what follows another separator belongs to it`() {
        let text = "[profile x]\r\n# a note\u{2028}credential_process = run\nregion = a\u{85}b\rrole_arn = c\n"
        #expect(SharedFile.sections(text) == ["profile x": ["region": "a\u{85}b", "role_arn": "c"]])
    }

    // MARK: Programs

    private static let printed = #"{"Version": 1, "AccessKeyId": "AKIAPROCESS", "SecretAccessKey": "s", "SessionToken": "t""#

    @Test func `a program is run once for all requests, until what it printed expires`() async throws {
        let end = (Date() + 3600).formatted(.iso8601).replacingOccurrences(of: "Z", with: "+00:00")
        try write(Self.printed + #", "Expiration": "\#(end)"}"#, "printed")
        try write("[profile x]\ncredential_process = echo run >> $HOME/runs; cat '\(scratch.path("printed"))'\n", ".aws/config")
        let keys = try await CredentialServers.accessKeys(["AWS_PROFILE": "x"], home: scratch.directory, objects: 3)
        #expect(keys == ["AKIAPROCESS", "AKIAPROCESS", "AKIAPROCESS"])
        // It was given the environment of the store, not that of the tests.
        #expect(try String(contentsOfFile: scratch.path("runs"), encoding: .utf8) == "run\n")
    }

    private static let failing: [(String, String)] = [
        ("exit 3", "status 3"), ("kill -9 $$", "signal 9"), ("true", "JSON"), ("echo hush; exit 0", "JSON"),
        ("echo '{\"Version\": 1}'", "JSON"),
        ("echo '{\"Version\": 2, \"AccessKeyId\": \"a\", \"SecretAccessKey\": \"hush\"}'", "version 2"),
        ("echo '{\"Version\": 1, \"AccessKeyId\": \"a\", \"SecretAccessKey\": \"hush\", \"Expiration\": \"soon\"}'", "not a time"),
        (
            "echo '{\"Version\": 1, \"AccessKeyId\": \"a\", \"SecretAccessKey\": \"hush\", \"Expiration\": \"2020-01-01T00:00:00Z\"}'",
            "expired"
        ),
        ("yes hush", "64 KiB"), ("echo hush >&2; exit 1", "status 1"),
    ]

    @Test(arguments: failing)
    func `a program that fails is reported without what it printed`(command: String, words: String) async throws {
        let text = try await refusal("[profile x]\ncredential_process = \(command)\n")
        #expect(text.contains(words) && text.contains("'x'"), "\(text)")
        #expect(!text.contains("hush"))
    }

    @Test func `a program that waits is killed with all that it started`() async throws {
        var started: pid_t?
        // On a busy machine the shell may be killed before it has written the number: then it is given more time.
        for limit in [2, 20, 200] where started == nil {
            let process = CredentialProcess(
                "sleep 1000 & echo $! > '\(scratch.path("child"))'; wait", profile: "x", variables: [:],
                timeLimit: .seconds(limit))
            do {
                _ = try await process.run()
                Issue.record("went through")
            } catch {
                #expect((error as? VaultError)?.message.contains("limit of \(limit) s") == true, "\(error)")
            }
            let text = try? String(contentsOfFile: scratch.path("child"), encoding: .utf8)
            started = text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
        let child = try #require(started)
        for _ in 0..<6000 where kill(child, 0) == 0 && !Self.isZombie(child) { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(child, 0) != 0 || Self.isZombie(child))
    }

    /// A store whose credentials a program prints, others each time: AKIA1, AKIA2 and so on.
    ///
    /// - Parameter lifetime: after how many seconds they expire, by this machine's clock.
    private func renewing(
        lifetime: Int, _ change: (inout S3Settings) -> Void = { _ in }
    ) throws -> (FaultProxy, S3Store) {
        try write(
            """
            echo run >> "$HOME/runs"
            n=$(grep -c run "$HOME/runs")
            end=$(date -u -d '\(lifetime) seconds' +%Y-%m-%dT%H:%M:%SZ)
            printf '{"Version": 1, "AccessKeyId": "AKIA%s", "SecretAccessKey": "s", "SessionToken": "t%s", "Expiration": "%s"}' $n $n $end
            """, "printer")
        try write("[profile x]\ncredential_process = sh '\(scratch.path("printer"))'\n", ".aws/config")
        let environment = [
            "HOME": scratch.directory, "AWS_PROFILE": "x", "AWS_EC2_METADATA_DISABLED": "true", "PATH": "/usr/bin:/bin",
        ]
        let proxy = try #require(FaultProxy())
        return (proxy, try FaultyS3.store(port: proxy.server.port, environment: environment, change))
    }

    @Test func `H-CLOCK-14 credentials expire by the store's clock where the one here is behind`() async throws {
        // They are valid for half a minute, and seem to be for ten more.
        let (proxy, store) = try renewing(lifetime: 630)
        try await proxy.setClock(ahead: 600)
        for name in ["a", "b"] { try await store.put(name, bytes: [1], condition: .none) }
        #expect(try await proxy.log().map(\.accessKey) == ["AKIA1", "AKIA2"])
    }

    @Test func `H-CLOCK-14 credentials have not expired because the clock here is a day ahead`() async throws {
        let (proxy, store) = try renewing(lifetime: -82_800)
        try await proxy.setClock(ahead: -86_400)
        for name in ["a", "b"] { try await store.put(name, bytes: [1], condition: .none) }
        #expect(try scratch.text("runs") == "run\n")
        #expect(try await store.get("b") == [1])
    }

    @Test func `H-CLOCK-14 credentials that the store calls expired are renewed, and the request repeated, once`()
        async throws
    {
        let (proxy, store) = try renewing(lifetime: 3600)
        try await proxy.plan(.init(method: "PUT", fault: "expired"))
        try await store.put("a", bytes: [1], condition: .absent)
        let log = try await proxy.log()
        #expect(log.map(\.status) == [400, 200] && log.map(\.accessKey) == ["AKIA1", "AKIA2"])
        try await proxy.plan(.init(method: "PUT", times: 9, fault: "expired"))
        #expect(await StoreCalls.code { try await store.put("b", bytes: [1], condition: .none) } == .config)
        #expect(try await proxy.log().map(\.accessKey) == ["AKIA2", "AKIA3"])
    }

    @Test(arguments: ["expired", "403"])
    func `H-CLOCK-14 a refusal without a reason renews credentials that were in use for minutes`(fault: String)
        async throws
    {
        for (use, keys) in [(Duration.seconds(86_400), ["AKIA1"]), (Duration.zero, ["AKIA2", "AKIA3"])] {
            // A response to HEAD has no body.
            let (proxy, store) = try renewing(lifetime: 86_400) { $0.shortestUse = use }
            try await store.put("a", bytes: [1], condition: .none)
            try await proxy.plan(.init(method: "HEAD", fault: fault))
            let code = await StoreCalls.code { _ = try await store.attributes("a") }
            #expect((code == nil) == (use == .zero))
            #expect(try await proxy.log().map(\.accessKey) == keys)
        }
    }

    /// Whether a process has ended, and only its number is left: in a container nobody may wait for it.
    private static func isZombie(_ id: pid_t) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return status?.contains(") Z ") ?? false
    }

    // MARK: Roles

    private static let keys = "[profile keys]\naws_access_key_id = AKIAFILE\naws_secret_access_key = secret-of-FILE\n"

    private static func role(_ profile: String, _ role: String, _ rest: String) -> String {
        "[profile \(profile)]\nrole_arn = arn:aws:iam::1:role/\(role)\n\(rest)\n"
    }

    private static let assumable: [(String, String)] = [
        (role("x", "backup", "source_profile = keys") + keys, "AKIABACKUP"),
        (
            role("x", "last", "source_profile = y") + role("y", "middle", "source_profile = keys") + keys, "AKIALAST"
        ),
        (
            role(
                "x", "external",
                "source_profile = keys\nexternal_id = the/id\nduration_seconds = 900\nrole_session_name = nightly") + keys,
            "AKIAEXTERNAL"
        ),
        (
            role("x", "own", "source_profile = x\naws_access_key_id = AKIAFILE2\naws_secret_access_key = secret-of-FILE2"),
            "AKIAOWN"
        ),
        // The service's clock is a day ahead.
        (role("x", "late", "source_profile = keys") + keys, "AKIALATE"),
    ]

    @Test(arguments: assumable)
    func `a role is assumed with the credentials of its source`(config: String, key: String) async throws {
        let url = try CredentialServers.start()
        #expect(try await accessKey(config, ["AWS_ENDPOINT_URL_STS": url]) == key)
    }

    @Test func `a role is assumed with the credentials of a program, of the environment or of a container`() async throws {
        let url = try CredentialServers.start()
        let process = #"[profile y]\#ncredential_process = echo '{"Version": 1, "AccessKeyId": "AKIAFILE3", "#
            + #""SecretAccessKey": "secret-of-FILE3"}'\#n"#
        #expect(
            try await accessKey(Self.role("x", "a", "source_profile = y") + process, ["AWS_ENDPOINT_URL_STS": url]) == "AKIAA")
        let keys = [
            "AWS_ENDPOINT_URL_STS": url, "AWS_ACCESS_KEY_ID": "AKIAFILE4", "AWS_SECRET_ACCESS_KEY": "secret-of-FILE4",
        ]
        let config = Self.role("x", "b", "credential_source = Environment")
        #expect(try await accessKey(config, keys) == "AKIAFILE4", "the environment precedes AWS_PROFILE")
        #expect(try await accessKey(config, keys, chosen: "x") == "AKIAB", "the program's profile precedes the environment")
        let container = [
            "AWS_ENDPOINT_URL_STS": url, "AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/container",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "the-container",
        ]
        #expect(try await accessKey(Self.role("x", "c", "credential_source = EcsContainer"), container) == "AKIAC")
    }

    private static let unassumable: [(String, String)] = [
        (role("x", "a", "source_profile = y") + role("y", "b", "source_profile = x"), "'x', 'y', 'x'"),
        (role("x", "a", "source_profile = x"), "'x', 'x'"),
        (role("x", "a", "source_profile = missing"), "'missing'"),
        (role("x", "a", ""), "one source"),
        (role("x", "a", "source_profile = keys\ncredential_source = Environment") + keys, "one source"),
        (role("x", "a", "credential_source = Thin Air"), "Thin Air"),
        (role("x", "a", "credential_source = EcsContainer"), "EcsContainer"),
        (role("x", "a", "source_profile = keys\nmfa_serial = arn:aws:iam::1:mfa/me") + keys, "mfa_serial"),
        (role("x", "a", "source_profile = keys\nduration_seconds = 60") + keys, "duration_seconds"),
        (role("x", "denied", "source_profile = keys") + keys, "sts:AssumeRole"),
        (role("x", "external", "source_profile = keys") + keys, "AccessDenied"),
    ]

    @Test(arguments: unassumable)
    func `a role that cannot be assumed is reported with the reason`(config: String, words: String) async throws {
        let url = try CredentialServers.start()
        let text = try await refusal(config, ["AWS_ENDPOINT_URL_STS": url])
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("secret-of"))
    }

    // MARK: Single sign-on

    private static let account = "sso_account_id = 123456789012\nsso_role_name = backup role\n"
    private static let session =
        "[profile x]\nsso_session = corporate\n\(account)\n[sso-session corporate]\nsso_region = eu-central-1\n"
        + "sso_start_url = https://example.awsapps.com/start\n"
    /// SHA-1 of `corporate` and of the start URL.
    private static let sessionFile = ".aws/sso/cache/e276d18d65653fa285155bfd3e11ab029306830c.json"
    private static let startFile = ".aws/sso/cache/e8be5486177c5b5392bd9aa76563515b29358e6e.json"

    private func services() throws -> [String: String] {
        let url = try CredentialServers.start()
        return ["AWS_ENDPOINT_URL_SSO": url, "AWS_ENDPOINT_URL_SSO_OIDC": url]
    }

    private static func token(_ token: String, _ seconds: Double, _ rest: String = "") -> String {
        #"{"accessToken": "\#(token)", "expiresAt": "\#((Date() + seconds).formatted(.iso8601))"\#(rest)}"#
    }

    private static let renewable =
        #", "clientId": "the-client", "clientSecret": "its-secret", "refreshToken": "refresh-1", "other": [1, {"a": null}]"#

    @Test func `a session that aws sso login began hands them out`() async throws {
        let services = try services()
        try write(Self.token("the-sso-token", 3600), Self.sessionFile)
        #expect(try await accessKey(Self.session, services) == "AKIASSO")
        let legacy =
            "[profile x]\nsso_start_url = https://example.awsapps.com/start\nsso_region = eu-central-1\n\(Self.account)"
        // As the first version of the AWS tools wrote it.
        try write(
            Self.token("the-sso-token", 3600).replacingOccurrences(of: "Z\"", with: "UTC\""), Self.startFile)
        #expect(try await accessKey(legacy, services) == "AKIASSO")
    }

    @Test func `an expired session is renewed, and kept for the AWS tools`() async throws {
        let services = try services()
        try write(Self.token("old", -60, Self.renewable), Self.sessionFile)
        #expect(try await accessKey(Self.session, services) == "AKIASSO")
        let path = scratch.path(Self.sessionFile)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let members = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
        #expect(members["accessToken"] as? String == "the-sso-token")
        #expect(members["refreshToken"] as? String == "refresh-2")
        #expect(members["clientSecret"] as? String == "its-secret")
        #expect((members["other"] as? [Any])?.count == 2)
        let end = try Date(try #require(members["expiresAt"] as? String), strategy: .iso8601)
        #expect(end.timeIntervalSinceNow > 1800)
        // The new token serves the next command.
        #expect(try await accessKey(Self.session, services) == "AKIASSO")
    }

    @Test func `a session that is about to expire is used if it cannot be renewed`() async throws {
        var services = try services()
        services["AWS_ENDPOINT_URL_SSO_OIDC"] = "http://127.0.0.1:9"
        for _ in 0..<5 {
            let begun = ContinuousClock.now
            try write(Self.token("the-sso-token", 290, Self.renewable), Self.sessionFile)
            do {
                #expect(try await accessKey(Self.session, services) == "AKIASSO")
                return
            } catch {
                // On a busy machine it may be over by then.
                guard ContinuousClock.now - begun > .seconds(200) else { throw error }
            }
        }
        Issue.record("the session was over each time before it was used")
    }

    @Test func `a session that is over says how to begin another`() async throws {
        let services = try services()
        let refused = Self.renewable.replacingOccurrences(of: "refresh-1", with: "refresh-0")
        let late = Self.renewable + #", "registrationExpiresAt": "2020-01-01T00:00:00Z""#
        for content in [
            nil, Self.token("old", -60), Self.token("old", -60, refused), Self.token("old", -60, late),
            Self.token("revoked", 3600), "{", "[]", #"{"accessToken": 1}"#,
        ] {
            if let content { try write(content, Self.sessionFile) }
            let text = try await refusal(Self.session, services)
            #expect(text.contains("aws sso login --profile x"), "\(text)")
            #expect(!text.contains("old") && !text.contains("revoked") && !text.contains("refresh-"))
        }
    }

    @Test func `incomplete settings of single sign-on are named`() async throws {
        for (config, words) in [
            ("[profile x]\nsso_session = corporate\n" + Self.account, "corporate"),
            (Self.session.replacingOccurrences(of: Self.account, with: ""), "sso_account_id"),
            (Self.session.replacingOccurrences(of: "eu-central-1", with: "evil.example/"), "sso_region"),
            (Self.session.replacingOccurrences(of: "backup role", with: "other"), "sso_role_name"),
        ] {
            try write(Self.token("the-sso-token", 3600), Self.sessionFile)
            let text = try await refusal(config, try services())
            #expect(text.contains(words), "\(text)")
        }
    }

    @Test func `a time has a zone in one of its forms`() {
        let noon = Date(timeIntervalSince1970: 1_369_396_800)
        for text in [
            "2013-05-24T12:00:00Z", "2013-05-24T12:00:00UTC", "2013-05-24T12:00:00+00:00", "2013-05-24T14:00:00+02:00",
            "2013-05-24T06:30:00-0530", "2013-05-24T12:00:00.000-00:00",
        ] {
            #expect(HTTPDate.isoDate(text) == noon, "\(text)")
        }
        for text in ["2013-05-24T12:00:00", "2013-05-24T12:00:00+2", "2013-05-24T12:00:00+25:00", "2013-05-24T12:00:00+aa:bb"] {
            #expect(HTTPDate.isoDate(text) == nil, "\(text)")
        }
    }
}
