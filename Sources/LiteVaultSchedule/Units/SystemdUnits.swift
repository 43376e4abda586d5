internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The systemd units, or the crontab line, that run a configuration's jobs.
package struct SystemdUnits: Sendable {
    /// The units' name without a suffix.
    package let name: String
    /// The path of the program.
    package let tool: String
    /// The user of the service; nil for root.
    package let user: String?
    /// The name of the directories of the service's state and cache, in `/var/lib` and `/var/cache`.
    package let directoryName: String
    package let service: String
    /// Nil if the service runs all the time.
    package let timer: String?
    package let cron: String

    /// - Parameters:
    ///   - configuration: the configuration, whose path is absolute.
    ///   - failureUnit: the unit that is started when the service fails; nil leaves a comment that says where to name one.
    ///   - directoryName: the name of the directories of its state and cache; nil for its own.
    /// - Throws: `VaultError` `usage` for a path that neither a unit nor a crontab line can show.
    package init(
        name: String, tool: String, configuration: ScheduleConfiguration, user: String? = nil,
        failureUnit: String? = nil, directoryName: String? = nil
    ) throws {
        (self.name, self.tool, self.user) = (name, tool, user)
        let directoryName = directoryName ?? Self.directoryName(of: name)
        self.directoryName = directoryName
        let follows = configuration.jobs.contains(where: \.follows)
        let command = follows ? "run" : "run-due"
        let start = [tool, "schedule", command, configuration.name]
            .map { Quoting.systemdWord($0, isCommand: true) }.joined(separator: " ")
        let paths = Self.writable(configuration)
        // What is only read has to be seen, too.
        let visible = paths + Self.read(configuration) + [tool, configuration.name]
        // A list of paths and a crontab line have no way to write line breaks, and nobody sees what direction marks do.
        let all = [tool, configuration.name] + paths
        if let unreadable = all.first(where: { $0.unicodeScalars.contains(where: Quoting.isHazard) }) {
            throw VaultError(
                .usage,
                "The path has a control character or a direction mark, which units and crontab lines cannot show",
                path: unreadable, remedy: "Rename the file or directory.")
        }
        var lines = [
            "# \(name).service", "[Unit]",
            "Description=LiteVault backups of \(Quoting.systemdText(configuration.name))",
            "Documentation=man:systemd.exec(5)", "After=network-online.target", "Wants=network-online.target",
            "# A unit that is started when this one fails, and tells somebody.",
            "\(failureUnit == nil ? "#" : "")OnFailure=\(failureUnit ?? "notify-failure@%n.service")", "",
            "[Service]", follows ? "Type=exec" : "Type=oneshot", "ExecStart=\(start)",
        ]
        if follows {
            lines += [
                "Restart=on-failure", "RestartSec=30", "# Reads the configuration again.",
                "ExecReload=/bin/kill -HUP $MAINPID",
                "# On stop, followers store commits they have read, within ten seconds.",
                "TimeoutStopSec=30", "# Its exit statuses when stopped.", "SuccessExitStatus=130 143",
                "# Its databases were promoted elsewhere: starting it again changes nothing.",
                "RestartPreventExitStatus=73",
                "# Followers keep six files open for each database.", "LimitNOFILE=8192",
            ]
        }
        lines += [
            "# The user that owns the databases; root without this line.", user.map { "User=\($0)" } ?? "#User=app",
            "# Directories of the state and the cache. systemd gives all that is in them to the user, at each start.",
            "StateDirectory=\(directoryName)", "CacheDirectory=\(directoryName)", "StateDirectoryMode=0700",
            "CacheDirectoryMode=0700", "UMask=0077",
        ]
        let credentials = Self.credentials(configuration)
        if !credentials.isEmpty {
            lines.append(
                "# Keys and secrets, readable by this service only. Encrypt the files with 'systemd-creds encrypt'.")
            lines += credentials.map { "LoadCredentialEncrypted=\($0):/etc/credstore.encrypted/\($0)" }
        }
        lines += [
            "# libdispatch logs at each start that it may not raise the priority of a thread, which is not needed.",
            "Environment=LIBDISPATCH_LOG=NO",
            "# Writable paths: the databases (locks in their -shm files), the repository, the metrics.",
            "ProtectSystem=strict",
        ]
        lines += paths.map { "ReadWritePaths=-\(Quoting.systemdWord($0, isCommand: false))" }
        // ssh reads the configuration, keys and known hosts of the user.
        let usesSSH = configuration.jobs.contains { $0.repository.location.lowercased().hasPrefix("sftp://") }
        lines.append(
            usesSSH || visible.contains { Self.isBelowHome($0) } ? "ProtectHome=read-only" : "ProtectHome=yes")
        if !visible.contains(where: { $0.starts(withText: "/tmp/") || $0.starts(withText: "/var/tmp/") }) {
            lines.append("PrivateTmp=yes")
        }
        lines += [
            "NoNewPrivileges=yes",
            "# As root: databases of all users are read, and a -shm that is created gets the owner of its database.",
            "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_CHOWN",
            "PrivateDevices=yes", "ProtectKernelTunables=yes", "ProtectKernelModules=yes", "ProtectKernelLogs=yes",
            "ProtectControlGroups=yes", "ProtectClock=yes", "ProtectHostname=yes", "ProtectProc=invisible",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6", "RestrictNamespaces=yes", "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes",
            "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service", "CPUWeight=20", "IOSchedulingClass=best-effort",
            "IOSchedulingPriority=7",
            "",
        ]
        if follows {
            lines += ["[Install]", "WantedBy=multi-user.target", ""]
        }
        service = lines.joined(separator: "\n")
        let period = Self.period(configuration)
        timer =
            follows
            ? nil
            : [
                "# \(name).timer", "[Unit]", "Description=Timer of the LiteVault backups", "", "[Timer]",
                "# The jobs have their own times; a job that is not due costs nothing.",
                "OnCalendar=\(period.calendar)", "Persistent=true", "RandomizedDelaySec=\(period.delay)",
                "AccuracySec=1", "", "[Install]", "WantedBy=timers.target", "",
            ].joined(separator: "\n")
        // A service in the foreground is started once.
        let words = [tool, "schedule", command, "--quiet", configuration.name].map(Quoting.shellWordWhereNeeded)
        cron = "\(follows ? "@reboot" : period.cron) \(Quoting.crontab(words.joined(separator: " ")))\n"
    }

    /// The name of the packaged units, and of those that are printed and installed without another name.
    package static let standardName = "litevault-backup"

    /// The name of the state and cache directories of new units: each service has its own, as systemd gives a directory that two of them
    /// share to the user of the last one that was started.
    package static func directoryName(of name: String) -> String {
        name == standardName ? "litevault" : "litevault-\(name)"
    }

    /// The unit to enable: the timer, or a service that runs all the time.
    package var starter: String { timer == nil ? "\(name).service" : "\(name).timer" }

    package var files: [(unit: String, text: String)] {
        [("\(name).service", service)] + (timer.map { [("\(name).timer", $0)] } ?? [])
    }

    package static func credentials(_ configuration: ScheduleConfiguration) -> [String] {
        let names = configuration.keyReferences.compactMap { reference in
            if case .credential(let name) = reference.source { name } else { nil }
        }
        return Set(names).sorted()
    }

    /// The files of secrets and keys.
    private static func read(_ configuration: ScheduleConfiguration) -> [String] {
        configuration.keyReferences.flatMap { reference in
            let file: String? = if case .file(let path) = reference.source { path } else { nil }
            return [file, reference.keyring].compactMap(\.self)
        }
    }

    private static func writable(_ configuration: ScheduleConfiguration) -> [String] {
        // Without `..` and links: systemd takes paths as they are written.
        func directory(_ path: String) -> String { LocalDirectory.resolved(path) }
        var paths = configuration.jobs.flatMap { job in
            job.sources.flatMap(SourceList.directories)
                + (job.repository.location.contains("://") ? [] : [directory(job.repository.location)])
        }
        if let metrics = configuration.metrics { paths.append(directory(LocalDirectory.parent(of: metrics))) }
        if let state = configuration.stateDirectory { paths.append(directory(state)) }
        return Set(paths.map { ExactText($0) }).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func isBelowHome(_ path: String) -> Bool {
        ["/home", "/root", "/run/user"].contains { path == $0 || path.starts(withText: $0 + "/") }
    }

    /// How often the timer fires: often enough for the shortest interval.
    private static func period(_ configuration: ScheduleConfiguration) -> (calendar: String, delay: Int, cron: String) {
        let shortest =
            configuration.jobs.map { job -> Duration in
                switch job.recurrence {
                case .interval(let interval): interval
                case .calendar(let expression): expression.shortestInterval ?? .seconds(300)
                }
            }.min() ?? .seconds(300)
        return shortest < .seconds(300) ? ("*:0/1", 5, "* * * * *") : ("*:0/5", 30, "*/5 * * * *")
    }
}
