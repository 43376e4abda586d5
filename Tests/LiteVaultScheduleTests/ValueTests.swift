import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import Testing

/// A schedule as a Swift value: the same that a configuration file gives, with the same rules.
@Suite struct ValueTests {
    private func read(_ text: String) throws -> ScheduleConfiguration {
        try ScheduleConfiguration(text: text, path: "/etc/backup.yml")
    }

    private static func minimal() -> ScheduleConfiguration {
        ScheduleConfiguration(
            name: "/etc/backup.yml",
            jobs: [
                BackupJob(
                    name: "a", sources: ["/x"], recurrence: .interval(.seconds(3600)),
                    repository: RepositoryReference("/r"))
            ])
    }

    @Test func `the defaults are those of a configuration file`() throws {
        let text = "repository: /r\njobs: [{name: a, sources: /x, every: 1h}]"
        #expect(try read(text) == Self.minimal())
        var following = Self.minimal()
        following.jobs[0].following = FollowSettings()
        following.jobs[0].verification = VerificationSettings()
        #expect(
            try read("repository: /r\njobs: [{name: a, sources: /x, every: 1h, follow: true, verify: {}}]") == following
        )
        try following.validate()
    }

    @Test func `every setting has its counterpart`() throws {
        var secret = KeyReference(.file("/etc/litevault/secret"), format: .hex)
        var repository = RepositoryReference("s3://bucket/backups", secret: secret)
        repository.endpoint = "https://s3.example.com"
        repository.region = "eu-1"
        repository.usesPathStyle = true
        repository.uploads.storageClass = "STANDARD_IA"
        repository.uploads.encryption = .serviceKey(nil)
        repository.uploads.lock = .init(.governance, for: .seconds(30 * 86_400))
        var job = BackupJob(
            name: "tenants", sources: ["/srv/tenants/*/app.db", "/etc/extra.db"],
            recurrence: try .at("Mon..Fri 02:30", timeZone: #require(TimeZone(identifier: "Europe/Berlin"))),
            repository: repository)
        job.exclude = ["test-*"]
        job.allowsNone = true
        job.jitter = .seconds(600)
        job.retry = .seconds(300)
        job.database = "{parent}"
        job.allowsPlaintext = true
        job.fullRead = .seconds(2 * 86_400)
        job.concurrency = 2
        job.prunes = false
        job.grace = .seconds(3600)
        job.hooks = .init(before: "true", after: "echo ok", failed: "mail root")
        job.heartbeat = "https://example.com/ping"
        job.limits.hook = .seconds(60)
        job.limits.store = .seconds(120)
        var retention = RetentionPolicy()
        retention.last = 3
        retention.hourly = 24
        retention.within = .seconds(172_800)
        job.retention = retention
        var following = FollowSettings()
        following.interval = .milliseconds(250)
        following.logLimit = 64 << 20
        following.spoolLimit = 2 << 30
        following.most = 100
        following.compaction?.fine = .seconds(7200)
        job.following = following
        var verification = VerificationSettings()
        verification.level = .restore
        verification.interval = .seconds(86_400)
        secret = KeyReference(.environment("PASSPHRASE"))
        secret.keyring = "/etc/app.keys"
        secret.unlock = .recovery
        verification.key = secret
        verification.assertions = ["SELECT 1"]
        job.verification = verification
        var configuration = ScheduleConfiguration(name: "/etc/backup.yml", jobs: [job])
        configuration.concurrency = 8
        configuration.stateDirectory = "/var/lib/litevault"
        configuration.metrics = "/var/lib/node/litevault.prom"

        let text = """
            repository: s3://bucket/backups
            repository-secret-file: litevault/secret
            repository-secret-format: hex
            s3:
              endpoint: https://s3.example.com
              region: eu-1
              path-style: true
              storage-class: STANDARD_IA
              encryption: aws:kms
              lock-mode: governance
              lock-days: 30
            state-directory: /var/lib/litevault
            concurrency: 8
            metrics-file: /var/lib/node/litevault.prom
            time-zone: Europe/Berlin
            limits: {hook: 60s}
            jobs:
              - name: tenants
                sources: [/srv/tenants/*/app.db, extra.db]
                exclude: test-*
                allow-none: true
                at: Mon..Fri 02:30
                jitter: 10m
                retry: 5m
                database: "{parent}"
                allow-plaintext: yes
                full-read: 2d
                concurrency: 2
                retention: {last: 3, hourly: 24, within: 2d, prune: false, grace: 1h}
                follow: {interval: 250ms, log-limit: 64MiB, spool-limit: 2GiB, most: 100, fine: 2h}
                verify: {level: restore, every: 1d, keyring: app.keys, unlock: recovery, key-env: PASSPHRASE, assert: SELECT 1}
                hooks: {before: "true", after: "echo ok", failed: "mail root"}
                heartbeat: https://example.com/ping
                limits: {store: 2m}
            """
        #expect(try read(text) == configuration)
        try configuration.validate()
        #expect(configuration.jobs[0].repository.timeLimit == .seconds(120))
    }

    /// A change that makes a schedule invalid.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout ScheduleConfiguration) -> Void

        init(_ name: String, _ make: @escaping @Sendable (inout ScheduleConfiguration) -> Void) {
            testDescription = name
            self.make = make
        }
    }

    private static let changes = [
        Change("no jobs") { $0.jobs = [] },
        Change("twice") { $0.jobs.append($0.jobs[0]) },
        Change("concurrency") { $0.concurrency = 0 },
        Change("name") { $0.jobs[0].name = "a b" },
        Change("no name") { $0.jobs[0].name = "" },
        Change("no sources") { $0.jobs[0].sources = [] },
        Change("relative") { $0.jobs[0].sources = ["x.db"] },
        Change("interval") { $0.jobs[0].recurrence = .interval(.zero) },
        Change("endless") { $0.jobs[0].recurrence = .interval(.seconds(Int64.max)) },
        Change("jitter") { $0.jobs[0].jitter = .seconds(-1) },
        Change("retry") { $0.jobs[0].retry = .milliseconds(1) },
        Change("full read") { $0.jobs[0].fullRead = .seconds(-1) },
        Change("grace") { $0.jobs[0].grace = .seconds(-1) },
        Change("job's concurrency") { $0.jobs[0].concurrency = -1 },
        Change("heartbeat") { $0.jobs[0].heartbeat = "ftp://x" },
        Change("repository") { $0.jobs[0].repository.location = "backups" },
        Change("scheme") { $0.jobs[0].repository.location = "ftp://x" },
        Change("no rule") { $0.jobs[0].retention = RetentionPolicy() },
        Change("limit") { $0.jobs[0].limits.run = .zero },
        Change("long limit") { $0.jobs[0].limits.hook = .seconds(1 << 40) },
        Change("follow") {
            $0.jobs[0].following = FollowSettings()
            $0.jobs[0].following?.interval = .zero
        },
        Change("most") {
            $0.jobs[0].following = FollowSettings()
            $0.jobs[0].following?.most = 1000
        },
        Change("log") {
            $0.jobs[0].following = FollowSettings()
            $0.jobs[0].following?.logLimit = -1
        },
        Change("spool") {
            $0.jobs[0].following = FollowSettings()
            $0.jobs[0].following?.spoolLimit = .max
        },
        Change("fine") {
            $0.jobs[0].following = FollowSettings()
            $0.jobs[0].following?.compaction?.fine = .zero
        },
        Change("pages") {
            $0.jobs[0].verification = VerificationSettings()
            $0.jobs[0].verification?.level = .pages
        },
        Change("assertions") {
            $0.jobs[0].verification = VerificationSettings()
            $0.jobs[0].verification?.assertions = ["SELECT 1"]
        },
    ]

    @Test(arguments: changes)
    func `what a file must not have, a value must not have`(change: Change) throws {
        var configuration = Self.minimal()
        try configuration.validate()
        change.make(&configuration)
        let error = #expect(throws: VaultError.self) { try configuration.validate() }
        #expect(error?.code == .config && error?.path == "/etc/backup.yml")
    }

    @Test func `a calendar expression that is not one is refused`() {
        for text in ["", "25:00", "tomorrow", "*-02-30"] {
            let error = #expect(throws: VaultError.self) { _ = try Recurrence.at(text) }
            #expect(error?.code == .config && error?.remedy != nil, "\(text)")
        }
    }
}
