import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges")) struct CredentialTests {
    let scratch = Scratch()

    private func accessKey(_ variables: [String: String]) async throws -> String? {
        try await CredentialServers.accessKeys(variables, home: scratch.directory).last ?? nil
    }

    @Test func `the environment comes first`() async throws {
        try "[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = x\n"
            .write(toFile: scratch.path("credentials"), atomically: true, encoding: .utf8)
        let file = ["AWS_SHARED_CREDENTIALS_FILE": scratch.path("credentials")]
        #expect(try await accessKey(file) == "AKIAFILE")
        let both = file.merging(["AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "y"]) { $1 }
        #expect(try await accessKey(both) == "AKIAENV")
    }

    @Test func `a machine hands them out in a session`() async throws {
        let url = try CredentialServers.start()
        #expect(
            try await accessKey(["AWS_EC2_METADATA_SERVICE_ENDPOINT": url, "AWS_EC2_METADATA_DISABLED": "false"])
                == "AKIAMACHINE")
    }

    @Test func `a container hands them out for its token`() async throws {
        let url = try CredentialServers.start()
        try "the-container\n".write(toFile: scratch.path("token"), atomically: true, encoding: .utf8)
        #expect(
            try await accessKey([
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/container",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": scratch.path("token"),
            ]) == "AKIACONTAINER")
    }

    @Test func `a container's token is sent to no other host`() async throws {
        await #expect(throws: VaultError.self) {
            try await accessKey([
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.com/container",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "the-container",
            ])
        }
    }

    @Test func `a web identity is changed for them`() async throws {
        let url = try CredentialServers.start()
        try "the+token/=\n".write(toFile: scratch.path("token"), atomically: true, encoding: .utf8)
        #expect(
            try await accessKey([
                "AWS_ENDPOINT_URL_STS": url, "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
                "AWS_WEB_IDENTITY_TOKEN_FILE": scratch.path("token"),
            ]) == "AKIAWEBIDENTITY")
    }

    @Test func `a profile that is missing, or needs something missing, is reported`() async throws {
        try "[profile sso]\nsso_session = x\n".write(
            toFile: scratch.path("config"), atomically: true, encoding: .utf8)
        for (profile, word) in [("missing", "missing"), ("sso", "sso_session")] {
            do {
                _ = try await accessKey(["AWS_PROFILE": profile, "AWS_CONFIG_FILE": scratch.path("config")])
                Issue.record("went through")
            } catch {
                let error = try #require(error as? VaultError)
                #expect(error.code == .config)
                #expect(error.message.contains(word))
            }
        }
    }
}
