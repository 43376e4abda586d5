internal import AsyncHTTPClient
internal import LiteVaultBackup
package import LiteVaultFoundation
internal import LiteVaultSupport

/// Where credentials come from, in the order of the AWS tools: the environment, a web identity, the shared files, the
/// container, the machine.
struct CredentialChain: Sendable {
    let environment: AWSEnvironment
    let http: HTTPClient

    /// The credentials of the first source that has any.
    ///
    /// - Throws: `VaultError` `config` when no source has any, or when a configured source fails.
    func resolve() async throws -> AWSCredentials {
        let variables = environment.variables
        // As in the AWS tools, keys in the environment take precedence over AWS_PROFILE.
        if let access = variables["AWS_ACCESS_KEY_ID"], let secret = variables["AWS_SECRET_ACCESS_KEY"] {
            return AWSCredentials(
                accessKey: access, secretKey: secret,
                sessionToken: variables["AWS_SESSION_TOKEN"] ?? variables["AWS_SECURITY_TOKEN"])
        }
        if let found = try await webIdentity() { return found }
        if let found = try profile() { return found }
        if let found = try await containerCredentials() { return found }
        if let found = try await instanceMetadata() { return found }
        throw VaultError(
            .config, "no credentials found for the object store",
            remedy: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add them to ~/.aws/credentials.")
    }

    private func profile() throws -> AWSCredentials? {
        let settings = environment.settings
        if let access = settings["aws_access_key_id"], let secret = settings["aws_secret_access_key"] {
            return AWSCredentials(
                accessKey: access, secretKey: secret, sessionToken: settings["aws_session_token"])
        }
        for name in ["credential_process", "sso_session", "sso_start_url", "role_arn", "source_profile"]
        where settings[name] != nil {
            throw VaultError(
                .config, "the profile '\(environment.profile)' uses \(name), which is not supported",
                remedy: "Export the credentials first: eval \"$(aws configure export-credentials --format env)\".")
        }
        if environment.isProfileNamed, settings.isEmpty {
            throw VaultError(
                .config, "profile '\(environment.profile)' not found in the shared configuration files",
                remedy: "Check AWS_PROFILE, ~/.aws/config and ~/.aws/credentials.")
        }
        return nil
    }

    private func webIdentity() async throws -> AWSCredentials? {
        let variables = environment.variables
        let settings = environment.settings
        guard let file = variables["AWS_WEB_IDENTITY_TOKEN_FILE"] ?? settings["web_identity_token_file"],
            let role = variables["AWS_ROLE_ARN"] ?? settings["role_arn"]
        else { return nil }
        guard let token = SharedFile.text(file) else {
            throw VaultError(.config, "cannot read the web identity token", path: file)
        }
        let session = variables["AWS_ROLE_SESSION_NAME"] ?? settings["role_session_name"] ?? "litevault"
        let region = environment.region
        let server =
            variables["AWS_ENDPOINT_URL_STS"] ?? region.map { "https://sts.\($0).amazonaws.com" }
            ?? "https://sts.amazonaws.com"
        let query = URIEncoding.query([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", session),
            ("WebIdentityToken", token.trimmed),
        ])
        var request = HTTPClientRequest(url: server + "/")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Array(query.utf8))
        let answer = try await response(to: request, "the security token service", seconds: 10)
        let found = XMLTree(answer.body)?.all("AssumeRoleWithWebIdentityResult").first?.all("Credentials").first
        guard answer.status == 200, let found, let access = found["AccessKeyId"], let secret = found["SecretAccessKey"],
            let token = found["SessionToken"], let end = found["Expiration"].flatMap(HTTPDate.isoDate)
        else { throw noCredentials(from: "the security token service", status: answer.status) }
        return AWSCredentials(accessKey: access, secretKey: secret, sessionToken: token, expiration: end)
    }

    private func containerCredentials() async throws -> AWSCredentials? {
        let variables = environment.variables
        let url: String
        if let path = variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            url = "http://169.254.170.2" + path
        } else if let full = variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            url = full
        } else {
            return nil
        }
        guard Self.mayReceiveToken(url) else {
            throw VaultError(
                .config, "AWS_CONTAINER_CREDENTIALS_FULL_URI names a host that is not allowed",
                remedy: "Without https, only the loopback and the container credential addresses are allowed.")
        }
        var request = HTTPClientRequest(url: url)
        if let file = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            guard let token = SharedFile.text(file) else {
                throw VaultError(.config, "cannot read the container's authorization token", path: file)
            }
            request.headers.add(name: "authorization", value: token.trimmed)
        } else if let token = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] {
            request.headers.add(name: "authorization", value: token)
        }
        let answer = try await response(to: request, "the container credential service", seconds: 5)
        guard answer.status == 200, let found = Document.read(answer.body) else {
            throw noCredentials(from: "the container credential service", status: answer.status)
        }
        return found
    }

    /// The role credentials of an EC2 instance (instance metadata service, version 2).
    private func instanceMetadata() async throws -> AWSCredentials? {
        let variables = environment.variables
        if variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" { return nil }
        let server = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        let base = server.hasSuffix("/") ? String(server.dropLast()) : server
        var session = HTTPClientRequest(url: base + "/latest/api/token")
        session.method = .PUT
        session.headers.add(name: "x-aws-ec2-metadata-token-ttl-seconds", value: "21600")
        // Outside of EC2 nothing answers at that address: neither a long wait nor an error.
        guard let token = try? await response(to: session, "the instance metadata service", seconds: 1),
            token.status == 200
        else {
            return nil
        }
        func get(_ path: String) async throws -> (status: Int, body: [UInt8]) {
            var request = HTTPClientRequest(url: "\(base)/latest/meta-data/iam/security-credentials/\(path)")
            request.headers.add(name: "x-aws-ec2-metadata-token", value: String(decoding: token.body, as: UTF8.self))
            return try await response(to: request, "the instance metadata service", seconds: 5)
        }
        let roles = try await get("")
        guard roles.status == 200,
            let role = String(decoding: roles.body, as: UTF8.self).split(whereSeparator: \.isNewline).first
        else { return nil }
        let answer = try await get(URIEncoding.encode(String(role)))
        guard answer.status == 200, let found = Document.read(answer.body) else {
            throw noCredentials(from: "the instance metadata service", status: answer.status)
        }
        return found
    }

    private func response(to request: HTTPClientRequest, _ what: String, seconds: Int64) async throws -> (
        status: Int, body: [UInt8]
    ) {
        do {
            let answer = S3Response(try await http.execute(request, timeout: .seconds(seconds)))
            return (answer.status, try await answer.bytes(upTo: 256 << 10))
        } catch {
            // The cause is dropped: the request holds a token.
            throw VaultError(.io, "cannot reach \(what)", remedy: "Check the network, then try again.")
        }
    }

    private func noCredentials(from what: String, status: Int) -> VaultError {
        VaultError(
            .config, "\(what) returned no credentials (HTTP status \(status))",
            remedy: "Check the role, and the variables and files that name it.")
    }

    /// Whether the authorization token may be sent to a URL: over TLS, or to this machine.
    private static func mayReceiveToken(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host else { return false }
        if url.scheme == "https" { return true }
        return url.scheme == "http"
            && ["localhost", "127.0.0.1", "[::1]", "::1", "169.254.170.2", "169.254.170.23"].contains(host)
    }

    /// The answer of the container and instance services.
    private struct Document: CheckedDocument {
        // The names are the server's.
        let AccessKeyId: String
        let SecretAccessKey: String
        let Token: String?
        let Expiration: String?

        static let byteLimit = 256 << 10

        func check() {}

        static func read(_ bytes: [UInt8]) -> AWSCredentials? {
            guard let found = try? Decoding.value(Document.self, from: bytes, path: "") else { return nil }
            return AWSCredentials(
                accessKey: found.AccessKeyId, secretKey: found.SecretAccessKey, sessionToken: found.Token,
                expiration: found.Expiration.flatMap(HTTPDate.isoDate))
        }
    }
}

/// Keeps credentials until they are about to expire, then renews them.
actor CredentialCache {
    private let source: @Sendable () async throws -> AWSCredentials
    private var held: AWSCredentials?
    /// How long before their expiration credentials are renewed.
    private static let renewalTime = Duration.seconds(300)
    private var renewal: Task<AWSCredentials, any Error>?

    init(_ source: @escaping @Sendable () async throws -> AWSCredentials) { self.source = source }

    /// The credentials to sign with now.
    func current() async throws -> AWSCredentials {
        let now = Date()
        let soon = now + Self.renewalTime.seconds
        if let held, held.expiration.map({ $0 > soon }) ?? true { return held }
        let task = renewal ?? Task { [source] in try await source() }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        do {
            let new = try await task.value
            held = new
            return new
        } catch {
            // Still valid: a failed renewal does not matter yet.
            if let held, let end = held.expiration, end > now { return held }
            throw error
        }
    }
}

/// An access key. Neither its description nor its mirror shows the secret parts.
package struct AWSCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let accessKey: String
    package let secretKey: String
    package let sessionToken: String?
    /// The expiration time; nil for permanent credentials.
    package let expiration: Date?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil, expiration: Date? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    package var description: String { "AWSCredentials(\(accessKey.prefix(4))…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
