internal import LiteVaultBackup
internal import LiteVaultSystem

/// Requests to the services that hand out credentials.
struct CredentialService: Sendable {
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]
    }

    let http: any HTTPTransport

    /// Sends a request once.
    ///
    /// - Throws: `VaultError` `io` when it cannot be reached.
    func answer(to request: HTTPRequest, _ name: String, seconds: Double = 30) async throws -> Answer {
        var request = request
        request.timeLimit = Duration(seconds: seconds)
        do {
            let answer = try await http.send(request)
            return Answer(status: answer.status, headers: answer.headers, body: try await answer.bytes(upTo: 256 << 10))
        } catch let error as CancellationError {
            throw error
        } catch {
            // Not the error itself: nothing of the request, which holds a token, may be shown.
            let failure = TransportFailure(error, isSecure: request.url.hasPrefix("https"))
            throw VaultError(.io, "cannot reach \(name): \(failure.message)", remedy: failure.remedy)
        }
    }

    /// The error for an answer without credentials.
    func noCredentials(from name: String, status: Int, reason: String = "", remedy: String? = nil) -> VaultError {
        VaultError(
            .config, "\(name) returned no credentials (HTTP status \(status))\(reason.isEmpty ? "" : ": \(reason)")",
            remedy: remedy ?? "Check the role, and the variables and files that name it.")
    }
}

/// The credentials of the container or the machine that the program runs in.
struct MachineCredentials: Sendable {
    let environment: AWSEnvironment
    let service: CredentialService

    func container() async throws -> AWSCredentials? {
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
        var request = HTTPRequest(url: url)
        request.isDirect = true
        if let file = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            guard let token = SharedFile.text(file) else {
                throw VaultError(.config, "cannot read the container's authorization token", path: file)
            }
            request.headers.append(("authorization", token.trimmed))
        } else if let token = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] {
            request.headers.append(("authorization", token))
        }
        let name = "the container credential service"
        return try credentials(in: try await service.answer(to: request, name, seconds: 5), of: name)
    }

    /// The role credentials of an EC2 instance (instance metadata service, version 2).
    func instance() async throws -> AWSCredentials? {
        let variables = environment.variables
        if variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" { return nil }
        let server = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        let base = server.hasSuffix("/") ? String(server.dropLast()) : server
        let name = "the instance metadata service"
        var session = HTTPRequest(url: base + "/latest/api/token")
        // Only this machine reaches the service, and its answers are for nobody else: not for a proxy either.
        session.isDirect = true
        session.method = "PUT"
        session.headers.append(("x-aws-ec2-metadata-token-ttl-seconds", "21600"))
        // Outside of EC2 nothing answers at that address: neither a long wait nor an error.
        guard let token = try? await service.answer(to: session, name, seconds: 1), token.status == 200 else {
            return nil
        }
        func get(_ path: String) async throws -> CredentialService.Answer {
            var request = HTTPRequest(url: "\(base)/latest/meta-data/iam/security-credentials/\(path)")
            request.isDirect = true
            request.headers.append(("x-aws-ec2-metadata-token", String(decoding: token.body, as: UTF8.self)))
            return try await service.answer(to: request, name, seconds: 5)
        }
        let roles = try await get("")
        guard roles.status == 200,
            let role = String(decoding: roles.body, as: UTF8.self).split(whereSeparator: \.isNewline).first
        else { return nil }
        return try credentials(in: try await get(URIEncoding.encode(String(role))), of: name)
    }

    /// Whether the authorization token may be sent to a URL: over TLS, or to this machine.
    private static func mayReceiveToken(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host else { return false }
        if url.scheme == "https" { return true }
        return url.scheme == "http"
            && ["localhost", "127.0.0.1", "[::1]", "::1", "169.254.170.2", "169.254.170.23"].contains(host)
    }

    private func credentials(in answer: CredentialService.Answer, of name: String) throws -> AWSCredentials {
        guard answer.status == 200, let found = try? Decoding.value(Document.self, from: answer.body, path: "") else {
            throw service.noCredentials(from: name, status: answer.status)
        }
        return AWSCredentials(
            accessKey: found.AccessKeyId, secretKey: found.SecretAccessKey, sessionToken: found.Token,
            expiration: found.Expiration.flatMap(HTTPDate.isoDate))
    }

    /// The answer of both services.
    private struct Document: CheckedDocument {
        // The names are the server's.
        let AccessKeyId: String
        let SecretAccessKey: String
        let Token: String?
        let Expiration: String?

        static let byteLimit = 256 << 10

        func check() {}
    }
}
