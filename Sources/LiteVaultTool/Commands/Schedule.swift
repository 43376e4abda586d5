internal import ArgumentParser
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem

struct Schedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Run scheduled backups: snapshots, retention, verification.",
        discussion: """
            The configuration is a YAML file. A small one:

              repository: /backup/vaults
              jobs:
                - name: hourly
                  sources: /srv/app/*.db
                  every: 1h
                  retention: {last: 3, hourly: 24, daily: 14, monthly: 12}

            litevault-schedule.yml(5), which is the article "Schedules", describes all keys.

            EXAMPLES:
              litevault schedule check backup.yml       the mistakes in it
              litevault schedule install backup.yml     for systemd, and run it once
              litevault schedule run-due backup.yml     from cron: run due jobs
              litevault schedule run backup.yml         run jobs as they are due
              litevault schedule status backup.yml
              litevault schedule restore backup.yml hourly restored
              litevault schedule print-units backup.yml

            \(ExitStatus.helpPointer)
            """,
        subcommands: [
            ScheduleCheck.self, ScheduleRunDue.self, ScheduleRun.self, ScheduleStatus.self, ScheduleRestore.self,
            ScheduleInstall.self, SchedulePrintUnits.self,
        ])
}

struct ScheduleCheck: VaultCommand {
    static let configuration = configured(
        "check", "Find the mistakes in a configuration.",
        """
        Reads only the file, and reports all mistakes at once, each with its line and column; the exit status is 78 if \
        there is one. No repository, database or key is touched: 'litevault doctor' examines what the jobs need. A \
        running service keeps its configuration until it gets SIGHUP.
        """,
        examples: [
            "litevault schedule check /etc/litevault/backup.yml \\",
            "    && systemctl reload litevault-backup",
        ])

    @Argument(path: "The configuration file.")
    var config: String

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = URL(fileURLWithPath: config).standardizedFileURL.path
        switch ScheduleConfiguration.examine(path: path, text: try ScheduleConfiguration.text(of: path)) {
        case .success(let found):
            var report = Report(["config": path, "valid": true, "jobs": found.jobs.map(\.name), "mistakes": [String]()])
            report.appendLine("\(Format.visible(config)): valid, \(Format.count(found.jobs.count, "job"))")
            for job in found.jobs {
                report.appendRow(job.name, Format.visible(job.repository.location.withoutPassword))
            }
            return report
        case .failure(let found):
            let mistakes = found.all.map { one -> Members in
                [
                    "line": Nullable(one.line), "column": Nullable(one.column), "message": one.message,
                    "remedy": Nullable(one.remedy),
                ]
            }
            var report = Report(["config": path, "valid": false, "jobs": [String](), "mistakes": mistakes])
            for one in found.all {
                // As compilers write it: editors jump there.
                let place = one.line.map { ":\($0):\(one.column ?? 1)" } ?? ""
                report.appendLine("\(Format.visible(config))\(place): \(Format.visible(one.message))")
                if let remedy = one.remedy { report.appendLine("    \(Format.visible(remedy))") }
            }
            report.failure = Failure(
                .config, Format.count(mistakes.count, "mistake") + " found", path: path,
                remedy: "litevault-schedule.yml(5), which is the article \"Schedules\", describes all keys.")
            return report
        }
    }
}
