internal import LiteVaultSupport

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
        guard !text.hasPrefix("/"), !text.hasPrefix("."), text.prefix(while: { $0 != "/" }).contains(":") else {
            self = .directory
            return
        }
        throw Problem(
            message: "neither a directory nor a URL",
            remedy: "Write s3://BUCKET/PREFIX, sftp://HOST/PATH, or ./\(text) for a directory of that name.")
    }

    /// Rejects what a shell would have replaced, had it seen the text: a `~` at the start, and variables.
    package static func requireExpanded(_ text: String) throws(Problem) {
        guard !text.hasPrefix("~") else {
            throw Problem(
                message: "'~' is not replaced by a home directory here",
                remedy: "Write the path in full, or ./\(text) for a file of that name.")
        }
        let parts = text.split(separator: "/")
        guard let part = parts.first(where: { $0.hasPrefix("$") || $0.firstRange(ofText: "${") != nil }) else { return }
        throw Problem(message: "the variable in '\(part)' is not replaced here", remedy: "Write what it stands for.")
    }
}
