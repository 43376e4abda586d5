internal import LiteVaultFoundation
internal import LiteVaultSupport

/// The environment variables and shared configuration files of the AWS tools.
package struct AWSEnvironment: Sendable {
    /// The environment variables that are not empty.
    package let variables: [String: String]
    /// The profile's name.
    package let profile: String
    /// Whether the profile was named explicitly.
    package let isProfileNamed: Bool
    /// The profile's settings: those of the configuration file, overridden by those of the credentials file.
    package let settings: [String: String]

    /// Reads the configuration and credentials files, where they exist.
    package init(_ all: [String: String], profile: String?) {
        let variables = all.filter { !$0.value.isEmpty }
        let named = profile ?? variables["AWS_PROFILE"] ?? variables["AWS_DEFAULT_PROFILE"]
        let profile = named ?? "default"
        let home = variables["HOME"] ?? ""
        func sections(_ variable: String, _ file: String) -> [String: [String: String]] {
            let path = variables[variable].map { $0.hasPrefix("~/") ? home + $0.dropFirst() : $0 }
            let text = SharedFile.text(path ?? "\(home)/.aws/\(file)")
            return text.map(SharedFile.sections) ?? [:]
        }
        let config = sections("AWS_CONFIG_FILE", "config")
        let credentials = sections("AWS_SHARED_CREDENTIALS_FILE", "credentials")
        // In the configuration file, every profile except the default one has the prefix "profile".
        let settings = config["profile \(profile)"] ?? (profile == "default" ? config["default"] : nil) ?? [:]
        self.settings = settings.merging(credentials[profile] ?? [:]) { $1 }
        self.variables = variables
        self.profile = profile
        isProfileNamed = named != nil
    }

    /// The configured region; nil when none is.
    package var region: String? {
        variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? settings["region"]
    }

    /// The configured endpoint URL; nil when none is.
    package var endpoint: String? {
        if variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() == "true" { return nil }
        return variables["AWS_ENDPOINT_URL_S3"] ?? variables["AWS_ENDPOINT_URL"] ?? settings["endpoint_url"]
    }
}

/// The format of the shared files: sections of names and values.
package enum SharedFile {
    /// The text of a file; nil when it cannot be read or has more than 1 MiB.
    package static func text(_ path: String) -> String? {
        let limit = 1 << 20
        guard let bytes = try? InputFile(path: path).read(upTo: limit + 1), bytes.count <= limit else { return nil }
        return String(bytes: bytes, encoding: .utf8)
    }

    /// The sections by name. Nested settings (indented lines) are skipped: none of them is used here.
    package static func sections(_ text: String) -> [String: [String: String]] {
        var all: [String: [String: String]] = [:]
        var current: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let trimmed = line.trimmed
            guard let first = trimmed.first, first != "#", first != ";" else { continue }
            if first == "[" {
                guard let end = trimmed.firstIndex(of: "]") else { continue }
                let name = trimmed[trimmed.index(after: trimmed.startIndex)..<end]
                let words = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                current = words
                all[words] = all[words] ?? [:]
            } else if let current, line.first?.isWhitespace == false, let equals = trimmed.firstIndex(of: "=") {
                let name = trimmed[..<equals].trimmed.lowercased()
                var value = trimmed[trimmed.index(after: equals)...].trimmed
                for mark in [" #", " ;", "\t#", "\t;"] {
                    if let comment = value.firstRange(ofText: mark) {
                        value = value[..<comment.lowerBound].trimmed
                    }
                }
                all[current]?[name] = value
            }
        }
        return all
    }
}
