internal import ArgumentParser

/// `litevault schedule`: runs the jobs of a configuration file.
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
