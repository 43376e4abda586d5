internal import Crypto
internal import LiteVaultBackup
internal import LiteVaultSystem

/// The service that exchanges an identity for the credentials of a role (STS).
struct SecurityTokenService: Sendable {
    let environment: AWSEnvironment
    let service: CredentialService

    private static let name = "the security token service"

    /// The credentials of a role for a token of a web identity (`AssumeRoleWithWebIdentity`).
    ///
    /// - Parameters:
    ///   - tokenFile: the file of the token, which is read again each time.
    ///   - settings: of the profile.
    func webIdentity(_ role: String, tokenFile: String, settings: [String: String]) async throws -> AWSCredentials {
        guard let token = SharedFile.text(tokenFile) else {
            throw VaultError(.config, "cannot read the web identity token", path: tokenFile)
        }
        let request = try request([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", sessionName(settings)), ("WebIdentityToken", token.trimmed),
        ])
        let answer = try await service.answer(to: request.plain(), Self.name)
        guard let found = Self.credentials(answer, "AssumeRoleWithWebIdentityResult") else {
            throw service.noCredentials(from: Self.name, status: answer.status)
        }
        return found
    }

    /// The credentials of a role for other credentials (`AssumeRole`).
    ///
    /// - Parameters:
    ///   - profile: the one that names the role, for errors.
    ///   - settings: of the profile: `external_id`, `role_session_name`, `duration_seconds`.
    ///   - source: the credentials that may assume the role.
    func assume(_ role: String, profile: String, settings: [String: String], with source: AWSCredentials) async throws
        -> AWSCredentials
    {
        var items = [
            ("Action", "AssumeRole"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", sessionName(settings)),
        ]
        if let id = settings["external_id"] { items.append(("ExternalId", id)) }
        if let text = settings["duration_seconds"] {
            guard let seconds = Int(text), (900...43_200).contains(seconds) else {
                throw VaultError(
                    .config, "invalid duration_seconds '\(text)' of the profile '\(profile)'",
                    remedy: "Write 900 to 43200 seconds.")
            }
            items.append(("DurationSeconds", String(seconds)))
        }
        let request = try request(items)
        var answer = try await service.answer(to: request.signed(source, at: Date()), Self.name)
        // As with the store: a machine whose clock is wrong can still make backups.
        if answer.status != 200, let time = answer.headers["date"].flatMap(HTTPDate.date),
            abs(time.timeIntervalSinceNow) > 60
        {
            answer = try await service.answer(to: request.signed(source, at: time), Self.name)
        }
        guard let found = Self.credentials(answer, "AssumeRoleResult") else {
            let error = XMLTree(answer.body)?.all("Error").first
            let reason = [error?["Code"], error?["Message"]].compactMap(\.self).joined(separator: ", ")
            throw service.noCredentials(
                from: "\(Self.name), for the role of the profile '\(profile)',", status: answer.status,
                reason: String(reason.map { $0.isNewline ? " " : $0 }.prefix(300)),
                remedy: "Check role_arn, and that the role's trust policy admits the source (sts:AssumeRole).")
        }
        return found
    }

    private func sessionName(_ settings: [String: String]) -> String {
        environment.variables["AWS_ROLE_SESSION_NAME"] ?? settings["role_session_name"] ?? "litevault"
    }

    private static func credentials(_ answer: CredentialService.Answer, _ result: String) -> AWSCredentials? {
        guard answer.status == 200, let found = XMLTree(answer.body)?.all(result).first?.all("Credentials").first,
            let access = found["AccessKeyId"], let secret = found["SecretAccessKey"],
            let token = found["SessionToken"], let end = found["Expiration"].flatMap(HTTPDate.isoDate)
        else { return nil }
        return AWSCredentials(accessKey: access, secretKey: secret, sessionToken: token, expiration: end)
    }

    private func request(_ items: [(String, String)]) throws -> Request {
        let region = environment.region
        let server = environment.endpoint(of: "STS", region.map { "sts.\($0)" } ?? "sts", region: region)
        guard let url = URLComponents(string: server), let host = url.host, url.scheme != nil else {
            throw VaultError(
                .config, "invalid endpoint of \(Self.name)", remedy: "Write AWS_ENDPOINT_URL_STS as https://HOST.")
        }
        let usual = url.scheme == "https" ? 443 : 80
        let port = url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        return Request(
            url: server + "/", host: host + port, region: region ?? "us-east-1",
            body: Array(URIEncoding.query(items).utf8))
    }

    private struct Request {
        let url: String
        let host: String
        let region: String
        let body: [UInt8]

        private static let contentType = "application/x-www-form-urlencoded"

        func plain() -> HTTPRequest {
            var request = HTTPRequest(url: url)
            request.method = "POST"
            request.headers.append(("content-type", Self.contentType))
            request.body = .bytes(body)
            return request
        }

        func signed(_ credentials: AWSCredentials, at time: Date) -> HTTPRequest {
            var request = plain()
            let headers = SignatureV4(credentials: credentials, region: region, service: "sts").sign(
                method: "POST", path: "/", query: "",
                headers: [("host", host), ("content-type", Self.contentType)],
                payloadHash: Array(SHA256.hash(data: body)).hexadecimal, time: time)
            request.headers = headers.map { (name: $0.0, value: $0.1) }
            return request
        }
    }
}
