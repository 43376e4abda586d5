internal import LiteVaultCapture
internal import LiteVaultQuoting
internal import LiteVaultSystem

extension SFTPLost {
    /// Whether another attempt would fail in the same way.
    var isPermanent: Bool {
        if wasEstablished { return false }
        switch reason {
        case .closed, .silent: return false
        case .start, .malformed: return true
        case .ended(let ending): return ending == .status(127) || ending == .status(126) || kind != nil
        }
    }

    private enum Kind { case hostKeyChanged, hostKey, denied, host, subsystem, configuration }

    /// What ssh says about a failure that stays.
    private var kind: Kind? {
        let text = output
        func says(_ words: String) -> Bool { text.firstRange(ofText: words) != nil }
        if says("IDENTIFICATION HAS CHANGED") { return .hostKeyChanged }
        if says("Host key verification failed") || says("authenticity of host") { return .hostKey }
        if says("Permission denied (") || says("Too many authentication failures")
            || says("No more authentication methods")
        {
            return .denied
        }
        if says("Name or service not known") || says("nodename nor servname") || says("No address associated") {
            return .host
        }
        if says("subsystem request failed") { return .subsystem }
        if says("Bad configuration option") || says("terminating, ") && says("bad configuration options") {
            return .configuration
        }
        return nil
    }

    /// The last line that says something.
    private var line: String {
        let lines = output.split(whereSeparator: \.isNewline).map { $0.trimmed { $0 == " " || $0 == "\t" } }
        let last = lines.last { !$0.isEmpty } ?? ""
        return String(last.map { $0.asciiValue.map { $0 < 32 || $0 == 127 } ?? false ? " " : $0 }.prefix(300))
    }

    /// The error for users.
    func vaultError(_ path: String, _ settings: SFTPSettings, attempts: Int) -> VaultError {
        let target = (settings.user.map { $0 + "@" } ?? "") + settings.host
        // People copy what a remedy says into a shell, and the URL may be from somewhere else.
        let host = Quoting.shellWordWhereNeeded(settings.host)
        let ssh = "ssh \(settings.port.map { "-p \($0) " } ?? "")\(Quoting.shellWordWhereNeeded(target))"
        // As known_hosts and ssh-keygen -R name it.
        let known = settings.port.flatMap { $0 == 22 ? nil : Quoting.shellWord("[\(settings.host)]:\($0)") } ?? host
        let scan = "ssh-keyscan \(settings.port.map { "-p \($0) " } ?? "")\(host)"
        let said = line.isEmpty ? "" : ": \(line)"
        func error(_ code: VaultError.Code, _ message: String, _ remedy: String) -> VaultError {
            VaultError(code, message, path: path, remedy: remedy)
        }
        let times = attempts == 1 ? "once" : "\(attempts) times"
        switch reason {
        case .start(let text):
            return error(.io, "cannot start ssh: \(text)", "Check the limits on processes and open files.")
        case .malformed where wasEstablished:
            return error(
                .io, "the server broke the protocol in the middle of a session, \(times)",
                "Check the server and what is between it and this machine, then try again.")
        case .malformed(let text):
            return error(
                .config, "the answer is not SFTP" + (text.isEmpty ? "" : ": '\(text)'"),
                "Nothing but SFTP may be printed when the user logs in: check the shell's start files on the server (\(ssh) true must print nothing)."
            )
        case .silent:
            return error(
                .io, "the server did not answer within \(Int(settings.timeout.seconds)) s, \(times)\(said)",
                "Check the server and the network, then try again.")
        case .closed: return error(.io, "the connection was closed", "Try again.")
        case .ended(let ending):
            if !wasEstablished, ending == .status(127) || ending == .status(126) {
                return error(
                    .config, "cannot run the program that connects\(said)",
                    settings.command == nil
                        ? "Install the OpenSSH client (package openssh-client)." : "Check the SFTP command.")
            }
            switch wasEstablished ? nil : kind {
            case .hostKeyChanged:
                return error(
                    .config, "the server's host key is not the known one",
                    "Find out why it changed: somebody may be listening. If it was changed on purpose, remove the old key (ssh-keygen -R \(known)) and accept the new one with \(ssh)."
                )
            case .hostKey:
                return error(
                    .config, "the server's host key is not known, or was not accepted",
                    "Run \(ssh) once as this user and compare the key's fingerprint, or add what '\(scan)' prints to known_hosts, where it is \(known)."
                )
            case .denied:
                return error(
                    .config, "the server refused the login of \(target)\(said)",
                    "Passwords and passphrases are never asked for: give this user a key without one, or an agent that has it (SSH_AUTH_SOCK), and check the user name and authorized_keys. \(ssh) shows more."
                )
            case .host:
                return error(
                    .config, "the host \(settings.host) is not known", "Check the host name and the DNS settings.")
            case .subsystem:
                return error(
                    .unsupported, "the server has no SFTP",
                    "Enable it in the server's sshd_config: Subsystem sftp internal-sftp.")
            case .configuration:
                return error(.config, "ssh rejects its configuration\(said)", "Correct it (~/.ssh/config).")
            case nil:
                let what =
                    wasEstablished
                    ? "the connection to \(settings.host) was lost" : "cannot connect to \(settings.host)"
                return error(
                    .io, "\(what) \(times)\(said)",
                    "Check that the server is running and the network, then try again. \(ssh) shows more.")
            }
        }
    }
}

extension SFTPStatus {
    /// The error for users.
    func vaultError(_ path: String) -> VaultError {
        switch code {
        case Self.missing: VaultError(.missing, "there is no such object", path: path)
        case Self.denied:
            VaultError(
                .io, "the server denies access: \(text)", path: path,
                remedy: "Check the owner and the permissions of the directory on the server.")
        case Self.unsupported:
            VaultError(
                .unsupported, "the server does not support a request: \(text)", path: path,
                remedy: "Use a server that supports version 3 of SFTP with the extensions of OpenSSH.")
        default:
            VaultError(
                .io, "the server reports a failure: \(text)", path: path,
                remedy: "Check the disk, the quota and the permissions on the server.")
        }
    }
}
