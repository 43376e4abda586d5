internal import ArgumentParser

/// `litevault schedule`: jobs from a configuration file.
struct Schedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Run backups by a configuration file: snapshots, retention, verification.",
        discussion: """
            The configuration is YAML. A small one:

              repository: /backup/vaults
              jobs:
                - name: hourly
                  sources: /srv/app/*.db
                  every: 1h
                  retention: {last: 3, hourly: 24, daily: 14, monthly: 12}

            All keys are in the article "Schedules" of the documentation.

            EXAMPLES:
              litevault schedule run-due backup.yml     from a timer or cron: runs what is due, and ends
              litevault schedule run backup.yml         stays, and runs each job when it is due
              litevault schedule status backup.yml
              litevault schedule print-units backup.yml

            \(ExitStatus.helpSection)
            """,
        subcommands: [ScheduleRunDue.self, ScheduleRun.self, ScheduleStatus.self, SchedulePrintUnits.self])
}
