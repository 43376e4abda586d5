internal import LiteVaultBackup
internal import LiteVaultSystem

struct S3Failure: Error {
    let status: Int
    /// The error code, such as `NoSuchKey`; empty without one.
    let code: String
    /// The error message, shortened to one line.
    let message: String
    /// The region of the bucket, where the server says it.
    let region: String?
    /// The time by which the request was ahead of the server's clock; nil without a `Date` header.
    let skew: Duration?
    /// The time by which this machine's clock was ahead when the response came: the request is older after a slow upload.
    let clockSkew: Duration?
    /// The server's time; nil without a `Date` header.
    let serverTime: Date?
    let retryAfter: Duration?
    /// Whether an earlier attempt of the request had an unknown outcome.
    var isRepeated = false

    /// Parses an error response. The signed text that some servers return is left out.
    ///
    /// - Parameters:
    ///   - signed: the time of the request.
    ///   - now: the time of the response.
    init(status: Int, headers: [String: String], body: [UInt8], signed: Date, now: Date) {
        let document = XMLTree(body)
        let error = document?.name == "Error" ? document : nil
        self.status = status
        code = Self.line(error?["Code"] ?? "")
        message = Self.line(error?["Message"] ?? "")
        region = (headers["x-amz-bucket-region"] ?? error?["Region"]).map(Self.line)
        serverTime = headers["date"].flatMap(HTTPDate.date)
        skew = serverTime.map { Duration(seconds: signed.timeIntervalSince($0)) }
        clockSkew = serverTime.map { Duration(seconds: now.timeIntervalSince($0)) }
        retryAfter = headers["retry-after"].flatMap(Double.init).map { Duration(seconds: $0) }
    }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch code {
        case "SlowDown", "InternalError", "RequestTimeout", "ServiceUnavailable", "Throttling", "ThrottlingException",
            "ConditionalRequestConflict", "OperationAborted", "BadDigest", "IncompleteBody",
            "XAmzContentSHA256Mismatch":
            true
        case "NotImplemented": false
        default: status == 429 || status == 408 || (status >= 500 && status != 501 && status != 507)
        }
    }

    /// Whether the server says that it refused the request because of its time.
    var isAboutTime: Bool { code == "RequestTimeTooSkewed" || code == "RequestExpired" }

    /// Whether the request may have been refused because of its time. A response to HEAD has no code.
    var mayBeClockSkew: Bool {
        isAboutTime || code == "AccessDenied" || code.isEmpty && (status == 403 || status == 400)
    }

    /// Whether the server says that the credentials have expired.
    var isExpiration: Bool { ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].contains(code) }

    /// Whether that may be the reason. A response to HEAD has no code, and some servers have none for it.
    var mayBeExpiration: Bool {
        [400, 401, 403].contains(status)
            && ["", "AccessDenied", "InvalidToken", "InvalidTokenId", "InvalidAccessKeyId", "InvalidClientTokenId"]
                .contains(code)
    }

    /// Whether the request was refused because it has no `Content-MD5`.
    var wantsMD5: Bool { status == 400 && (message.contains("Content-MD5") || code.contains("MD5")) }

    /// Whether the condition of a write did not hold.
    var isConflict: Bool { status == 412 || code == "PreconditionFailed" }

    /// Whether a policy or an object lock denies the request.
    var isDenied: Bool {
        status == 403 && !mayBeSignature || status == 405 || status == 409 && !isTransient && !isConflict
            || code == "MethodNotAllowed" || code == "ObjectLocked"
    }

    private var mayBeSignature: Bool {
        switch code {
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId",
            "RequestTimeTooSkewed", "RequestExpired", "AuthorizationHeaderMalformed":
            true
        default: isExpiration
        }
    }

    var summary: String {
        [code, message.isEmpty ? "status \(status)" : message].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Whether the object does not exist. A missing bucket is a different failure.
    var isMissing: Bool { status == 404 && code != "NoSuchBucket" && code != "NoSuchUpload" }

    private static func line(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.prefix(200))
    }
}

extension S3Failure {
    func vaultError(_ path: String) -> VaultError {
        let text =
            "the server responded with \(code.isEmpty ? "" : code + ": ")\(message.isEmpty ? "status \(status)" : message)"
        func error(_ code: VaultError.Code, _ remedy: String?) -> VaultError {
            VaultError(code, text, path: path, remedy: remedy, cause: nil)
        }
        switch code {
        case "NoSuchBucket":
            return error(.noInput, "Create the bucket, or check its name, the endpoint and the region.")
        case "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId":
            return error(
                .config,
                "Check which credentials are used: environment variables take precedence over the shared files.")
        case _ where isExpiration:
            return error(.config, "The credentials have expired; renew them.")
        case "SignatureDoesNotMatch":
            return error(.config, "Check the secret access key and the region.")
        case "RequestTimeTooSkewed", "RequestExpired":
            if let clockSkew, abs(clockSkew.seconds) <= ServerClock.tolerated.seconds {
                return error(
                    .io,
                    "This machine's clock agrees with the server's. The upload may have taken longer than a signature is valid, or the clock of one server of several is wrong. Try again."
                )
            }
            let difference = clockSkew.map {
                "this machine's clock is \(Int(abs($0.seconds).rounded())) s \($0 < .zero ? "behind" : "ahead of") the server's"
            }
            return VaultError(
                .io, difference ?? "this machine's clock differs from the server's", path: path,
                remedy: "Set the clock (timedatectl set-ntp true), then try again.")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            return error(.config, region.map { "Set the region to \($0)." } ?? "Check the region and the endpoint.")
        case "InvalidObjectState":
            return error(
                .io,
                "The object is in an archive and cannot be read. Retrieve it with the store's tools, and keep lifecycle rules from archiving this prefix."
            )
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage":
            return error(.noSpace, "Free space in the store, then try again.")
        default: break
        }
        switch status {
        case 301, 307, 308:
            return error(.config, region.map { "Set the region to \($0)." } ?? "Check the region and the endpoint.")
        case 401, 403:
            return error(
                .io, "Check the permissions of the credentials: s3:GetObject, PutObject, DeleteObject, ListBucket.")
        case 507: return error(.noSpace, "Free space in the store, then try again.")
        case 501: return error(.unsupported, nil)
        case 500...: return error(.io, "The request was retried without success. Try again later.")
        default: return error(.io, nil)
        }
    }
}
