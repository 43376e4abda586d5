internal import LiteVaultSystem

/// The environment variables and shared configuration files of the AWS tools.
package struct AWSEnvironment: Sendable {
    /// The environment variables that are not empty.
    package let variables: [String: String]
    package let profile: String
    package let isProfileNamed: Bool
    /// Whether the program named the profile, which then precedes the keys in the environment.
    let isProfileChosen: Bool
    /// The profile's settings: those of the configuration file, overridden by those of the credentials file.
    package let settings: [String: String]
    /// The sections of the configuration file and of the credentials file, by name.
    private let config: [String: [String: String]]
    private let credentials: [String: [String: String]]

    /// Reads the configuration and credentials files, where they exist.
    package init(_ all: [String: String], profile: String?) {
        let variables = all.filter { !$0.value.isEmpty }
        isProfileChosen = profile != nil
        let named = profile ?? variables["AWS_PROFILE"] ?? variables["AWS_DEFAULT_PROFILE"]
        let profile = named ?? "default"
        func sections(_ variable: String, _ file: String) -> [String: [String: String]] {
            let path = HomeDirectory.expand(variables[variable] ?? "~/.aws/\(file)", variables)
            return path.flatMap { SharedFile.text($0) }.map(SharedFile.sections) ?? [:]
        }
        config = sections("AWS_CONFIG_FILE", "config")
        credentials = sections("AWS_SHARED_CREDENTIALS_FILE", "credentials")
        settings = Self.settings(profile, config, credentials)
        self.variables = variables
        self.profile = profile
        isProfileNamed = named != nil
    }

    /// The settings of any profile; empty when there is no such profile.
    func settings(of profile: String) -> [String: String] { Self.settings(profile, config, credentials) }

    /// The settings of a section `[sso-session NAME]`; nil when there is none.
    func singleSignOn(_ name: String) -> [String: String]? { config["sso-session \(name)"] }

    private static func settings(
        _ profile: String, _ config: [String: [String: String]], _ credentials: [String: [String: String]]
    ) -> [String: String] {
        // In the configuration file, every profile except the default one has the prefix "profile".
        let settings = config["profile \(profile)"] ?? (profile == "default" ? config["default"] : nil) ?? [:]
        return settings.merging(credentials[profile] ?? [:]) { $1 }
    }

    package var region: String? {
        variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? settings["region"]
    }

    /// The address of a service that hands out credentials: that of its variable, else Amazon's.
    ///
    /// - Parameters:
    ///   - service: the name in the variable: `STS`, `SSO`, `SSO_OIDC`.
    ///   - host: Amazon's host name, without the domain.
    func endpoint(of service: String, _ host: String, region: String?) -> String {
        if variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() != "true",
            let url = variables["AWS_ENDPOINT_URL_\(service)"]
        {
            return url.hasSuffix("/") ? String(url.dropLast()) : url
        }
        return Self.amazon(host, region: region)
    }

    static func amazon(_ host: String, region: String?) -> String {
        "https://\(host).amazonaws.com\(region?.hasPrefix("cn-") == true ? ".cn" : "")"
    }

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
        // Other separators do not end a line for the AWS tools: what follows them in a comment is a comment.
        let ends: [Character] = ["\n", "\r\n", "\r"]
        for line in text.split(whereSeparator: ends.contains) {
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
