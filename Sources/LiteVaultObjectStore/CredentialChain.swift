internal import LiteVaultBackup
internal import LiteVaultSystem

/// Where credentials come from, in the order of the AWS tools: the environment, a web identity, the profile, the container,
/// the machine.
struct CredentialChain: Sendable {
    private let environment: AWSEnvironment
    private let machine: MachineCredentials
    private let tokens: SecurityTokenService
    private let sessions: SingleSignOn
    private let time: @Sendable () async -> Date

    init(environment: AWSEnvironment, http: any HTTPTransport, time: @escaping @Sendable () async -> Date) {
        let service = CredentialService(http: http)
        (self.environment, self.time) = (environment, time)
        machine = MachineCredentials(environment: environment, service: service)
        tokens = SecurityTokenService(environment: environment, service: service)
        sessions = SingleSignOn(environment: environment, service: service, time: time)
    }

    /// The credentials of the first source that has any.
    ///
    /// - Throws: `VaultError` `config` when no source has any, or when a configured source fails.
    func resolve() async throws -> AWSCredentials {
        // As in the AWS tools, keys in the environment take precedence over AWS_PROFILE, and a profile that the program names
        // over both.
        if !environment.isProfileChosen, let found = environmentKeys() { return found }
        let variables = environment.variables
        if !environment.isProfileChosen, let file = variables["AWS_WEB_IDENTITY_TOKEN_FILE"],
            let role = variables["AWS_ROLE_ARN"] ?? environment.settings["role_arn"]
        {
            return try await tokens.webIdentity(role, tokenFile: file, settings: environment.settings)
        }
        if let found = try await profile() { return found }
        if let found = try await machine.container() { return found }
        if let found = try await machine.instance() { return found }
        throw VaultError(
            .config, "no credentials found for the object store",
            remedy: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add them to ~/.aws/credentials.")
    }

    private func environmentKeys() -> AWSCredentials? {
        let variables = environment.variables
        guard let access = variables["AWS_ACCESS_KEY_ID"], let secret = variables["AWS_SECRET_ACCESS_KEY"] else {
            return nil
        }
        return AWSCredentials(
            accessKey: access, secretKey: secret,
            sessionToken: variables["AWS_SESSION_TOKEN"] ?? variables["AWS_SECURITY_TOKEN"])
    }

    // MARK: Profiles

    private func profile() async throws -> AWSCredentials? {
        if environment.isProfileNamed, environment.settings.isEmpty {
            throw VaultError(
                .config, "profile '\(environment.profile)' not found in the shared configuration files",
                remedy: "Check AWS_PROFILE, ~/.aws/config and ~/.aws/credentials.")
        }
        return try await credentials(of: environment.profile, for: [])
    }

    /// The credentials that a profile describes; nil if it describes none.
    ///
    /// - Parameter path: the profiles whose roles they are for, from the one that was asked for.
    private func credentials(of profile: String, for path: [String]) async throws -> AWSCredentials? {
        let settings = environment.settings(of: profile)
        // The keys of a source end the chain, even if the source has a role: a profile may be its own source.
        if !path.isEmpty, let keys = Self.keys(settings) { return keys }
        if let role = settings["role_arn"] {
            if let file = settings["web_identity_token_file"] {
                return try await tokens.webIdentity(role, tokenFile: file, settings: settings)
            }
            guard !path.contains(profile) else {
                throw VaultError(
                    .config,
                    "the profiles \((path + [profile]).map { "'\($0)'" }.joined(separator: ", ")) need each other's credentials",
                    remedy: "Let the last source_profile name a profile with credentials.")
            }
            let source = try await source(of: profile, settings, path)
            return try await tokens.assume(role, profile: profile, settings: settings, with: source)
        }
        if SingleSignOn.isConfigured(settings) { return try await sessions.credentials(profile, settings) }
        if let keys = Self.keys(settings) { return keys }
        if let command = settings["credential_process"] {
            return try await CredentialProcess(
                command, profile: profile, variables: environment.variables, time: time
            ).run()
        }
        return nil
    }

    private static func keys(_ settings: [String: String]) -> AWSCredentials? {
        guard let access = settings["aws_access_key_id"], let secret = settings["aws_secret_access_key"] else {
            return nil
        }
        return AWSCredentials(accessKey: access, secretKey: secret, sessionToken: settings["aws_session_token"])
    }

    /// The credentials that a profile's role is assumed with.
    private func source(of profile: String, _ settings: [String: String], _ path: [String]) async throws
        -> AWSCredentials
    {
        if settings["mfa_serial"] != nil {
            throw VaultError(
                .config, "the role of the profile '\(profile)' needs a code of an MFA device (mfa_serial)",
                remedy: "Nobody may be there to enter it: use a role without MFA, or a profile with aws sso login.")
        }
        switch (settings["source_profile"], settings["credential_source"]) {
        case (let name?, nil):
            if let found = try await credentials(of: name, for: path + [profile]) { return found }
            throw VaultError(
                .config, "the profile '\(name)', the source of '\(profile)', has no credentials",
                remedy: "Check source_profile, and the profile in ~/.aws/config or ~/.aws/credentials.")
        case (nil, let name?): return try await source(named: name, of: profile)
        case (nil, nil), (_?, _?):
            throw VaultError(
                .config, "the profile '\(profile)' has a role_arn, which needs one source of credentials",
                remedy: "Set source_profile or credential_source, not both.")
        }
    }

    private func source(named name: String, of profile: String) async throws -> AWSCredentials {
        let found: AWSCredentials?
        switch name {
        case "Environment": found = environmentKeys()
        case "EcsContainer": found = try await machine.container()
        case "Ec2InstanceMetadata": found = try await machine.instance()
        default:
            throw VaultError(
                .config, "invalid credential_source '\(name)' of the profile '\(profile)'",
                remedy: "Write Environment, EcsContainer or Ec2InstanceMetadata.")
        }
        if let found { return found }
        throw VaultError(
            .config, "the credential_source \(name) of the profile '\(profile)' has no credentials",
            remedy: "Check where the program runs, and its environment.")
    }
}
