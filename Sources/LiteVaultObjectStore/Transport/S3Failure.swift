internal import Foundation
internal import LiteVaultBackup

/// What a server answered instead of doing what it was asked.
struct S3Failure: Error {
    let status: Int
    /// The server's word for it, as `NoSuchKey`; empty where it said none.
    let code: String
    /// The server's sentence, cut off and on one line.
    let message: String
    /// The region that the server wants to be asked in.
    let region: String?
    /// Seconds that the time of the request was ahead of the server's; nil when the server did not tell its time.
    let skew: Double?
    /// The server's time, in seconds since 1970; nil when it did not tell.
    let serverTime: Double?
    /// Seconds after which the server wants to be asked again.
    let retryAfter: Double?
    /// Whether the request was made before, with an outcome that is not known.
    var isRepeated = false

    /// Reads an answer; the secret parts of what some servers send back (the text that was signed) are left out.
    init(status: Int, headers: [String: String], body: [UInt8], now: Double) {
        let document = XMLTree(body)
        let error = document?.name == "Error" ? document : nil
        self.status = status
        code = Self.line(error?["Code"] ?? "")
        message = Self.line(error?["Message"] ?? "")
        region = (headers["x-amz-bucket-region"] ?? error?["Region"]).map(Self.line)
        serverTime = headers["date"].flatMap(HTTPDate.seconds)
        skew = serverTime.map { now - $0 }
        retryAfter = headers["retry-after"].flatMap(Double.init)
    }

    /// Whether the same request may go through later.
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

    /// Whether the request may have been refused because of its time. An answer to HEAD has no code.
    var mayBeSkew: Bool {
        switch code {
        case "RequestTimeTooSkewed", "RequestExpired", "AccessDenied": true
        default: code.isEmpty && (status == 403 || status == 400)
        }
    }

    /// Whether the condition of a write did not hold.
    var isConflict: Bool { status == 412 || code == "PreconditionFailed" }

    /// Whether the server would not do it for these credentials, or for nobody: a policy, or a lock on the object.
    var isDenied: Bool {
        status == 403 && !mayBeSignature || status == 405 || status == 409 && !isTransient && !isConflict
            || code == "MethodNotAllowed" || code == "ObjectLocked"
    }

    private var mayBeSignature: Bool {
        switch code {
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId", "ExpiredToken",
            "RequestTimeTooSkewed", "RequestExpired", "AuthorizationHeaderMalformed":
            true
        default: false
        }
    }

    /// What the server said, in a few words.
    var said: String {
        [code, message.isEmpty ? "status \(status)" : message].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Whether there is no such object; a bucket that is missing is something else.
    var isMissing: Bool { status == 404 && code != "NoSuchBucket" && code != "NoSuchUpload" }

    private static func line(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.prefix(200))
    }
}

extension S3Failure {
    /// The failure as the package tells it, with what to do next.
    func backupError(_ path: String) -> BackupError {
        let said = message.isEmpty ? "status \(status)" : message
        let text = "the server says \(code.isEmpty ? "" : code + ": ")\(said)"
        func error(_ code: BackupError.Code, _ remedy: String?) -> BackupError {
            BackupError(code, text, path: path, remedy: remedy, cause: nil)
        }
        switch code {
        case "NoSuchBucket":
            return error(.noInput, "Make the bucket first, or check its name, the endpoint and the region.")
        case "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId":
            return error(.config, "Check which credentials are used: the environment comes before the shared files.")
        case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired":
            return error(.config, "The credentials have ended: get new ones.")
        case "SignatureDoesNotMatch":
            return error(.config, "Check the secret access key and the region (--s3-region).")
        case "RequestTimeTooSkewed", "RequestExpired":
            let seconds = skew.map {
                "this machine's clock is \(Int(abs($0).rounded())) s \($0 < 0 ? "behind" : "ahead of") the server's"
            }
            return BackupError(
                .io, seconds ?? "this machine's clock differs from the server's", path: path,
                remedy: "Set the clock (timedatectl set-ntp true), then try again.")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            return error(.config, region.map { "Give --s3-region \($0)." } ?? "Check --s3-region and --s3-endpoint.")
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage":
            return error(.noSpace, "Free space in the store, then try again.")
        default: break
        }
        switch status {
        case 301, 307, 308:
            return error(.config, region.map { "Give --s3-region \($0)." } ?? "Check --s3-region and --s3-endpoint.")
        case 401, 403:
            return error(
                .io, "Check that the credentials may do that: s3:GetObject, PutObject, DeleteObject, ListBucket.")
        case 507: return error(.noSpace, "Free space in the store, then try again.")
        case 501: return error(.unsupported, nil)
        case 500...: return error(.io, "It was tried several times. Try again later.")
        default: return error(.io, nil)
        }
    }
}
