internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// What a text that names a repository stands for, on a command line and in a configuration.
///
/// Whatever is not clearly one of the three is rejected: a directory of that name would be created, and filled, and found in order by
/// everything that looks at it.
package enum StoreLocation: Equatable {
    case directory
    case s3
    case sftp

    /// What is wrong with a text.
    package struct Problem: Error, Equatable {
        package let message: String
        package let remedy: String

        package init(message: String, remedy: String) {
            self.message = message
            self.remedy = remedy
        }
    }

    /// - Throws: ``Problem``.
    package init(_ text: String) throws(Problem) {
        let expected = "Write a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH."
        guard !text.isEmpty else { throw Problem(message: "the repository is empty", remedy: expected) }
        try Self.requireExpanded(text)
        if let scheme = text.firstRange(ofText: "://") {
            switch text[..<scheme.lowerBound].lowercased() {
            case "s3": self = .s3
            case "sftp": self = .sftp
            default:
                throw Problem(
                    message: "unsupported repository scheme '\(text[..<scheme.lowerBound])'", remedy: expected)
            }
            return
        }
        // `s3:bucket`, `backup@nas:/srv`, `rclone:remote`: of another tool, or with a slash too few.
        guard !text.starts(withText: "/"), !text.starts(withText: "."),
            text.utf8.prefix(while: { $0 != UInt8(ascii: "/") }).contains(UInt8(ascii: ":"))
        else {
            self = .directory
            return
        }
        throw Problem(
            message: "neither a directory nor a URL",
            remedy: "Write s3://BUCKET/PREFIX, sftp://HOST/PATH, or ./\(text) for a directory of that name.")
    }

    /// Rejects what a shell would have replaced, had it seen the text: a `~` at the start, and variables.
    package static func requireExpanded(_ text: String) throws(Problem) {
        guard !text.starts(withText: "~") else {
            throw Problem(
                message: "'~' is not replaced by a home directory here",
                remedy: "Write the path in full, or ./\(text) for a file of that name.")
        }
        let isVariable = { (part: Substring) in part.starts(withText: "$") || part.firstRange(ofText: "${") != nil }
        guard let part = text.pathNames.first(where: isVariable) else { return }
        throw Problem(message: "the variable in '\(part)' is not replaced here", remedy: "Write what it stands for.")
    }
}

/// What the URL of an object store names.
package struct BucketAddress {
    package let bucket: String
    /// Without slashes at its end; empty for none.
    package let prefix: String

    /// Reads `s3://BUCKET/PREFIX`.
    ///
    /// - Throws: `VaultError` `config` if the URL has another form.
    package init(url: String) throws {
        func invalid(_ message: String, _ remedy: String) -> VaultError {
            VaultError(.config, message, path: url.withoutPassword, remedy: remedy)
        }
        let form = "Write it as s3://BUCKET/PREFIX, without host and credentials."
        guard url.lowercased().hasPrefix("s3://") else {
            throw invalid("not an object-store URL", "Write it as s3://BUCKET/PREFIX.")
        }
        let parts = url.dropFirst(5).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = parts.first.map(String.init) ?? ""
        guard bucket.isEmpty || bucket.utf8.count >= 3 else {
            throw invalid("the name of the bucket '\(bucket)' is too short: it has at least 3 characters", form)
        }
        guard Self.isBucket(bucket) else { throw invalid("the URL does not name a bucket", form) }
        var prefix = parts.count > 1 ? parts[1] : ""
        while prefix.hasSuffix("/") { prefix.removeLast() }
        guard prefix.isEmpty || ObjectName.isValid(String(prefix)) else {
            throw invalid(
                "invalid prefix in the object-store URL",
                "Use ASCII letters, digits, '-', '_', '.' and single slashes; no part starts with a dot. Servers differ in how "
                    + "they sign and list other characters.")
        }
        self.bucket = bucket
        self.prefix = String(prefix)
    }

    /// Rejects the name of a bucket that Amazon's S3 does not have, unless it is one of another store, or an old one: until 2018,
    /// names with capitals and underscores could be had there, which only the path of a URL can show.
    ///
    /// - Parameters:
    ///   - endpoint: the URL of the store; nil for Amazon's.
    ///   - usesPathStyle: whether somebody has asked for the bucket in the path.
    /// - Throws: ``StoreLocation/Problem``.
    package func requireName(at endpoint: String?, usesPathStyle: Bool) throws(StoreLocation.Problem) {
        guard !usesPathStyle, endpoint.map(Self.isAmazon) ?? true, let reason = Self.refusal(bucket) else { return }
        throw .init(
            message: "there is no bucket '\(bucket)' at Amazon's S3: the name \(reason)",
            remedy:
                "Check the name. Another store needs its endpoint, and a bucket of before 2018 with such a name path style."
        )
    }

    /// Whether the URL of an endpoint is that of Amazon's S3.
    private static func isAmazon(_ endpoint: String) -> Bool {
        let rest = endpoint.lowercased().split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        let host = rest.prefix { $0 != ":" }
        return host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
    }

    /// Why no new bucket of Amazon's S3 can have a name; nil if one can.
    private static func refusal(_ name: String) -> String? {
        let bytes = Array(name.utf8)
        func isPlain(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigit(byte)
        }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        if bytes.count > 63 { return "has more than 63 characters" }
        if bytes.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) { return "has capitals" }
        if bytes.contains(UInt8(ascii: "_")) { return "has an underscore" }
        guard let first = bytes.first, let last = bytes.last, isPlain(first), isPlain(last) else {
            return "begins or ends with neither a letter nor a digit"
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.contains("") { return "has two points in a row" }
        return labels.count == 4 && labels.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) ? "is an IP address" : nil
    }

    /// Whether a store may have a bucket of the name. Capitals are of old buckets, and of servers other than Amazon's.
    private static func isBucket(_ name: String) -> Bool {
        (3...255).contains(name.utf8.count) && name.utf8.allSatisfy(ObjectName.isAllowed)
    }
}
