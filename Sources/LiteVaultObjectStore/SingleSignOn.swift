internal import Crypto
internal import LiteVaultBackup
internal import LiteVaultSystem

/// Credentials of a role for a session that `aws sso login` began (IAM Identity Center).
struct SingleSignOn: Sendable {
    let environment: AWSEnvironment
    let service: CredentialService
    /// The store's time.
    let time: @Sendable () async -> Date

    private static let name = "the single sign-on service"

    static func isConfigured(_ settings: [String: String]) -> Bool {
        settings["sso_session"] != nil || settings["sso_start_url"] != nil
    }

    /// The credentials of the role that a profile names.
    ///
    /// - Throws: `VaultError` `config` for incomplete settings, or a session that is over and cannot be renewed.
    func credentials(_ profile: String, _ settings: [String: String]) async throws -> AWSCredentials {
        let session = try session(profile, settings)
        guard let account = settings["sso_account_id"], let role = settings["sso_role_name"] else {
            throw VaultError(
                .config, "the profile '\(profile)' lacks sso_account_id or sso_role_name",
                remedy: "Run aws configure sso --profile \(profile).")
        }
        let token = try await accessToken(session)
        let server = environment.endpoint(of: "SSO", "portal.sso.\(session.region)", region: session.region)
        let query = URIEncoding.query([("account_id", account), ("role_name", role)])
        var request = HTTPRequest(url: "\(server)/federation/credentials?\(query)")
        request.headers.append(("x-amz-sso_bearer_token", token))
        let answer = try await service.answer(to: request, Self.name)
        if answer.status == 401 { throw session.isOver() }
        guard answer.status == 200,
            let found = try? Decoding.value(RoleAnswer.self, from: answer.body, path: "").roleCredentials
        else {
            throw service.noCredentials(
                from: Self.name, status: answer.status,
                remedy: "Check sso_account_id and sso_role_name of the profile '\(profile)'.")
        }
        return AWSCredentials(
            accessKey: found.accessKeyId, secretKey: found.secretAccessKey, sessionToken: found.sessionToken,
            expiration: Date(timeIntervalSince1970: found.expiration / 1000))
    }

    private struct RoleAnswer: CheckedDocument {
        struct Credentials: Codable {
            let accessKeyId: String
            let secretAccessKey: String
            let sessionToken: String
            /// Milliseconds since 1970.
            let expiration: Double
        }

        let roleCredentials: Credentials

        static let byteLimit = 256 << 10

        func check() {}
    }

    // MARK: Sessions

    /// Where the token of a session is, and who renews it.
    private struct Session {
        let profile: String
        let region: String
        /// The file in which `aws sso login` keeps the token.
        let path: String

        func isOver() -> VaultError {
            VaultError(
                .config, "the single sign-on session of the profile '\(profile)' is over or did not begin",
                remedy: "Run aws sso login --profile \(profile).")
        }
    }

    private func session(_ profile: String, _ settings: [String: String]) throws -> Session {
        var (found, key) = (settings, settings["sso_start_url"] ?? "")
        if let name = settings["sso_session"] {
            guard let section = environment.singleSignOn(name) else {
                throw VaultError(
                    .config, "the profile '\(profile)' names the sso_session '\(name)', which is missing",
                    remedy: "Add the section [sso-session \(name)] to ~/.aws/config, or run aws configure sso.")
            }
            (found, key) = (section, name)
        }
        guard let region = found["sso_region"],
            region.utf8.allSatisfy({ $0 == 45 || (48...57).contains($0) || (97...122).contains($0) })
        else {
            throw VaultError(
                .config, "the profile '\(profile)' has no valid sso_region",
                remedy: "Run aws configure sso --profile \(profile).")
        }
        let file = Array(Insecure.SHA1.hash(data: Array(key.utf8))).hexadecimal
        guard let path = HomeDirectory.expand("~/.aws/sso/cache/\(file).json", environment.variables) else {
            throw VaultError(
                .config, "there is no home directory, where aws sso login keeps its token", remedy: "Set HOME.")
        }
        return Session(profile: profile, region: region, path: path)
    }

    /// The session's token, renewed if it is about to expire.
    private func accessToken(_ session: Session) async throws -> String {
        guard let cached = CachedToken(session.path) else { throw session.isOver() }
        var now = Date()
        if cached.expiration > now + 300 { return cached.token }
        // The clock here may be ahead.
        now = await time()
        if cached.expiration > now + 300 { return cached.token }
        do {
            if let renewed = try await renew(cached, session, now) { return renewed }
        } catch {
            if cached.expiration > now { return cached.token }
            throw error
        }
        if cached.expiration > now { return cached.token }
        // Another process may have renewed it, which makes our refresh token invalid.
        if let other = CachedToken(session.path), other.expiration > now { return other.token }
        throw session.isOver()
    }

    /// Exchanges the refresh token for new tokens (`CreateToken`), and keeps them where the AWS tools find them.
    ///
    /// - Returns: nil if there is no refresh token, or it is refused.
    /// - Throws: `VaultError` `io` if the service cannot be reached.
    private func renew(_ cached: CachedToken, _ session: Session, _ now: Date) async throws -> String? {
        guard let body = cached.renewalRequest(at: now) else { return nil }
        let server = environment.endpoint(of: "SSO_OIDC", "oidc.\(session.region)", region: session.region)
        var request = HTTPRequest(url: server + "/token")
        request.method = "POST"
        request.headers.append(("content-type", "application/json"))
        request.body = .bytes(body)
        let answer = try await service.answer(to: request, Self.name)
        guard answer.status == 200, let found = try? Decoding.value(TokenAnswer.self, from: answer.body, path: "")
        else { return nil }
        // In a service whose home directory cannot be written, the next renewal needs the old refresh token once more.
        try? cached.replace(
            session.path, with: found.accessToken, refresh: found.refreshToken, expiration: now + found.expiresIn)
        return found.accessToken
    }

    private struct TokenAnswer: CheckedDocument {
        let accessToken: String
        /// Seconds.
        let expiresIn: Double
        let refreshToken: String?

        static let byteLimit = 256 << 10

        func check() throws(OutOfLimits) {
            guard (0...31_536_000).contains(expiresIn) else { throw OutOfLimits("expiresIn", "is out of range") }
        }
    }
}

/// The file in which the AWS tools keep the token of a session.
private struct CachedToken {
    /// All members, those of other tools included: they are written back as they were.
    private let members: [String: JSONValue]
    let token: String
    let expiration: Date

    /// Reads a file; nil if it is missing or has no token.
    init?(_ path: String) {
        guard let text = SharedFile.text(path),
            let members = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)),
            case .text(let token)? = members["accessToken"], case .text(let end)? = members["expiresAt"],
            let expiration = HTTPDate.isoDate(end)
        else { return nil }
        self.members = members
        self.token = token
        self.expiration = expiration
    }

    /// The body of a request for new tokens; nil if that is not possible.
    func renewalRequest(at now: Date) -> [UInt8]? {
        guard let id = members["clientId"], let secret = members["clientSecret"], let refresh = members["refreshToken"]
        else { return nil }
        if case .text(let end)? = members["registrationExpiresAt"], let end = HTTPDate.isoDate(end), end < now {
            return nil
        }
        let request = [
            "clientId": id, "clientSecret": secret, "grantType": .text("refresh_token"), "refreshToken": refresh,
        ]
        return (try? JSONEncoder().encode(request)).map(Array.init)
    }

    /// Replaces the file by one with new tokens, mode 0600.
    func replace(_ path: String, with token: String, refresh: String?, expiration: Date) throws {
        var members = members
        members["accessToken"] = .text(token)
        members["expiresAt"] = .text(expiration.formatted(.iso8601))
        if let refresh { members["refreshToken"] = .text(refresh) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(members)
        let file = try ReplacementFile(destination: path)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.publish(replacing: true)
    }
}

private enum JSONValue: Codable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case members([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .members(try value.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .members(let members): try value.encode(members)
        }
    }
}
