import Foundation
import LiteVaultBackup
import LiteVaultQuoting
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultTestSupport
import Testing

@Suite struct ConfigurationTests {
    private func read(_ text: String) throws -> ScheduleConfiguration {
        try ScheduleConfiguration(text: text, path: "/etc/litevault/backup.yml")
    }

    private func refusal(_ text: String) -> VaultError? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return error as? VaultError
        }
    }

    private let full = """
        version: 1
        repository: s3://bucket/backups
        repository-secret-credential: repository-secret
        s3: {endpoint: "https://s3.example.com", region: eu-1, path-style: true}
        state-directory: /var/lib/litevault
        concurrency: 8
        metrics-file: metrics/litevault.prom
        time-zone: Europe/Berlin
        jobs:
          - name: tenants
            sources: [/srv/tenants/*/app.db, extra.db]
            exclude: test-*
            every: 1h
            jitter: 10m
            retry: 5m
            database: "{parent}"
            allow-plaintext: yes
            concurrency: 2
            retention: {last: 3, hourly: 24, within: 2d, prune: false, grace: 1h}
            verify: {level: restore, every: 1w, key-file: /etc/key, key-format: hex, assert: SELECT 1}
            hooks: {before: "true", after: "echo ok", failed: "mail -s x root"}
            heartbeat: https://example.com/ping
          - name: nightly
            sources: /srv/other.db
            at: Mon..Fri 02:30
            time-zone: UTC
            repository: /backup
        """

    /// The mistakes of a text, as `line:column: message`.
    private func mistakes(_ text: String) -> [String] {
        switch ScheduleConfiguration.examine(path: "/etc/litevault/backup.yml", text: text) {
        case .success: []
        case .failure(let found): found.all.map { "\($0.line ?? 0):\($0.column ?? 0): \($0.message)" }
        }
    }

    @Test func `the state directory may have its name of 0.x, which no message suggests`() throws {
        let former = full.replacingOccurrences(of: "state-directory", with: "state-folder")
        #expect(try read(former).stateDirectory == "/var/lib/litevault")
        #expect(throws: VaultError.self) { try read(full + "\nstate-folder: /elsewhere\n") }
        let wrong = full.replacingOccurrences(of: "state-directory", with: "state-dir")
        let refused = #expect(throws: VaultError.self) { try read(wrong) }
        let remedy = refused?.remedy ?? ""
        #expect(remedy.contains("state-directory"))
        #expect(!remedy.contains("state-folder"))
    }

    @Test func `all mistakes are found at once, each at its place, and nothing that follows from another`() throws {
        #expect(mistakes(full) == [])
        #expect(
            mistakes(
                """
                repository: s3:bucket
                concurrency: many
                jobs:
                  - name: a
                    sources: /data/*.db
                    evry: 1h
                    retention: {last: 3, hourly: x}
                  - sources: [/d/b.db, ~/c.db]
                    name: b
                    every: 1 fortnight
                    verify:
                      level: deep
                      assert: {x: y}
                  - name: c
                    sources: /c.db
                    every: 2h
                    at: hourly
                  - nme: d
                  - name: e
                    every: 1h
                """
            ) == [
                "1:13: repository: 's3:bucket': neither a directory nor a URL",
                "2:14: concurrency: invalid number 'many' (expected 1 to 1000000)",
                "6:5: unknown key 'evry' in the job",
                "7:34: hourly: invalid number 'x' (expected 1 to 1000000)",
                "8:14: sources: '~/c.db': '~' is not replaced by a home directory here",
                "10:12: every: invalid duration '1 fortnight' (expected 90s, 15m, 1h30m, 2d or 8w)",
                "12:14: level: invalid level 'deep' (expected structure, data, pages, restore)",
                "13:15: assert: must be a string or a list of strings",
                "17:9: at: cannot be combined with 'every'",
                "18:5: unknown key 'nme' in the job",
                "18:5: 'every' or 'at' is missing in the job 'd'",
                "18:5: 'sources' is missing in the job 'd'",
                "19:5: 'sources' is missing in the job 'e'",
            ])
    }

    @Test func `a mistake hides no other one of its job`() throws {
        #expect(
            mistakes(
                """
                repository: /r
                repository: /r2
                jobs:
                  - name: a
                    sources: /a.db
                    sources: /b.db
                    every: 1h
                    at: "25:00"
                    database: "{foo}"
                  - name: b
                    sources: /b.db
                    every: 1h
                    at: hourly
                    repository-secret-file: /s
                    jitter: soon
                  - sources: /c.db
                    repository: s3://a/b
                    retry: soon
                  - {name: d, sources: /d.db, every: 1h, repository: "s3:///x", grace: 1h}
                  - {name: e, sources: /e.db, every: 1h, repository: "sftp://h", full-read: x}
                """
            ) == [
                "2:1: duplicate key 'repository'",
                "6:5: duplicate key 'sources'",
                "8:9: at: invalid hour '25' (expected 0–23)",
                "8:9: at: cannot be combined with 'every'",
                "9:15: database: unknown placeholder '{foo}'",
                "13:9: at: cannot be combined with 'every'",
                "14:29: repository-secret-file: belongs to a 'repository', and there is none beside it",
                "15:13: jitter: invalid duration 'soon' (expected 90s, 15m, 1h30m, 2d or 8w)",
                "16:5: 'name' is missing in the job",
                "16:5: 'every' or 'at' is missing in the job 'line-16:5'",
                "17:17: repository: 's3://a/b': the name of the bucket 'a' is too short: it has at least 3 characters",
                "18:12: retry: invalid duration 'soon' (expected 90s, 15m, 1h30m, 2d or 8w)",
                "19:54: repository: 's3:///x': the URL does not name a bucket",
                "19:65: unknown key 'grace' in the job",
                "20:54: repository: 'sftp://h': the SFTP URL has no path",
                "20:77: full-read: invalid duration 'x' (expected 90s, 15m, 1h30m, 2d or 8w)",
            ])
    }

    @Test func `a bucket that Amazon's S3 does not have is a mistake, unless the store is another one`() throws {
        func text(_ s3: String) -> String {
            "repository: s3://My_Bucket/p\n\(s3)jobs:\n- {name: a, sources: /a, every: 1h}\n"
        }
        #expect(
            mistakes(text("")) == [
                "1:13: repository: 's3://My_Bucket/p': there is no bucket 'My_Bucket' at Amazon's S3: the name has capitals"
            ])
        #expect(mistakes(text("s3: {endpoint: 'https://s3.eu-west-1.amazonaws.com'}\n")).count == 1)
        #expect(mistakes(text("s3: {endpoint: 'https://ceph.example.org'}\n")) == [])
        #expect(mistakes(text("s3: {path-style: yes}\n")) == [])
    }

    @Test(arguments: [
        ("9464", "127.0.0.1:9464"), ("192.0.2.7:80", "192.0.2.7:80"), ("'[::1]:9464'", "[::1]:9464"),
        ("localhost:1", "127.0.0.1:1"), ("'0.0.0.0:65535'", "0.0.0.0:65535"),
    ])
    func `an address to listen at`(_ text: String, _ address: String) throws {
        let found = try read("repository: /r\nlisten: \(text)\njobs:\n- {name: a, sources: /a, every: 1h}\n")
        #expect(found.listen?.description == address)
    }

    @Test(arguments: [
        "0", "65536", "-1", "+1", "name", "host:80", "'::1:80'", "'[127.0.0.1]:80'", "'1.2.3:80'", "':80'", "'80:'",
        "' 80'",
        "8٠", "99999999999999999999",
    ])
    func `an address that nothing can listen at is a mistake at its place`(_ text: String) throws {
        let found = mistakes("repository: /r\nlisten: \(text)\njobs:\n- {name: a, sources: /a, every: 1h}\n")
        #expect(found.count == 1 && found[0].hasPrefix("2:9: listen: "), "\(text): \(found)")
    }

    @Test func `the limit of the lag is at least two reads of the log`() throws {
        func found(_ follow: String) throws -> FollowSettings? {
            try read("repository: /r\njobs:\n- {name: a, sources: /a, every: 1h, follow: {\(follow)}}\n").jobs[0]
                .following
        }
        #expect(try found("interval: 1s")?.longestLag == .seconds(300))
        #expect(try found("interval: 1m")?.longestLag == .seconds(600))
        #expect(try found("interval: 1m, lag-limit: 2m")?.longestLag == .seconds(120))
        #expect(throws: VaultError.self) { try found("interval: 1m, lag-limit: 119s") }
        #expect(throws: VaultError.self) { try found("interval: 100ms, lag-limit: 500ms") }
    }

    @Test func `braces that stand for nothing are no placeholder`() throws {
        for name in ["{parent}/{file}", "{}", "a}{b", "{file}{stem}{path}"] {
            #expect(
                mistakes("repository: /r\njobs:\n- {name: a, sources: /a, every: 1h, database: '\(name)'}\n") == [],
                "\(name)")
        }
    }

    @Test func `a library's schedule is refused for an address that is none, too`() throws {
        let job = BackupJob(
            name: "a", sources: ["/a"], recurrence: .interval(.seconds(60)), repository: .init("s3://a/b"))
        #expect(throws: VaultError.self) { try ScheduleConfiguration(name: "n", jobs: [job]).validate() }
    }

    @Test(arguments: [
        "plain", "'a' \"b\"", "back\\slash", "a quote\"\u{301}, marked", "tab\tline\nreturn\r", "next\u{85}line",
        "lines\u{2028}\u{2029}", "\u{FEFF}mark",
        "# not a comment", "*anchor", "%percent", "\u{1F510}é",
    ])
    func `any text comes back from a scalar of YAML that is made of it`(_ text: String) throws {
        let found = try read(
            "repository: /r\njobs:\n  - {name: a, every: 1h, sources: \(Quoting.yamlScalar("/" + text))}\n")
        #expect(found.jobs[0].sources.map { Array($0.utf8) } == [Array(("/" + text).utf8)])
    }

    @Test func `what cannot be read at all is the only mistake`() throws {
        #expect(mistakes("jobs: [a\n").map { $0.prefix(4) } == ["2:1:"])
        #expect(mistakes("").count == 1)
        #expect(mistakes("- a").map { $0.prefix(4) } == ["1:1:"])
        #expect(mistakes("jobs:\n" + String(repeating: "- {nme: a}\n", count: 5000)).count == 200)
        #expect(mistakes("jobs: []\nrepository: /b").count == 1)
        let error = #expect(throws: VaultError.self) { try ScheduleConfiguration.text(of: "/nowhere/a.yml") }
        #expect(error?.code == .config && error?.remedy?.isEmpty == false)
    }

    @Test func `time limits are those of the job, of the configuration, or the usual ones`() throws {
        let configuration = try read(
            """
            repository: /backup
            limits: {hook: 10m, store: 2m}
            jobs:
              - {name: a, sources: x, every: 1h}
              - {name: b, sources: x, every: 1h, limits: {store: 5s, heartbeat: 90s, run: 2h}}
            """)
        let limits = configuration.jobs.map(\.limits)
        #expect(limits.map(\.hook) == [.seconds(600), .seconds(600)])
        #expect(limits.map(\.store) == [.seconds(120), .seconds(5)])
        #expect(limits.map(\.heartbeat) == [.seconds(60), .seconds(90)])
        #expect(limits.map(\.run) == [.seconds(86_400), .seconds(7200)])
        #expect(configuration.jobs.map(\.repository.timeLimit) == [.seconds(120), .seconds(5)])
        #expect(TimeLimits().hook == .seconds(3600) && TimeLimits().store == .seconds(300))
        for wrong in ["{hooks: 1m}", "{hook: 0s}", "{run: 60w}", "5m"] {
            let text = "repository: /r\nlimits: \(wrong)\njobs: [{name: a, sources: x, every: 1h}]"
            #expect(refusal(text)?.code == .config, "\(wrong)")
        }
    }

    @Test func `how uploads are kept is inherited setting by setting`() throws {
        let configuration = try read(
            """
            repository: s3://bucket/a
            s3: {storage-class: STANDARD_IA, encryption: "aws:kms", kms-key: alias/b, lock-mode: compliance, lock-days: 30}
            jobs:
              - {name: a, sources: x, every: 1h}
              - {name: b, sources: x, every: 1h, s3: {lock-days: 7, storage-class: ONEZONE_IA}}
              - {name: c, sources: x, every: 1h, repository: "s3://other/c", s3: {lock-mode: none, encryption: AES256}}
            """)
        let uploads = configuration.jobs.map(\.repository.uploads)
        #expect(uploads.map(\.storageClass) == ["STANDARD_IA", "ONEZONE_IA", "STANDARD_IA"])
        #expect(uploads.map(\.encryption) == [.serviceKey("alias/b"), .serviceKey("alias/b"), .managedKey])
        let day = Duration.seconds(86_400)
        let month = UploadOptions.Lock(.compliance, for: day * 30)
        let week = UploadOptions.Lock(.compliance, for: day * 7)
        #expect(uploads.map(\.lock) == [month, week, nil])
    }

    @Test func `everything that can be written is read`() throws {
        let configuration = try read(full)
        #expect(configuration.concurrency == 8)
        #expect(configuration.stateDirectory == "/var/lib/litevault")
        #expect(configuration.metrics == "/etc/litevault/metrics/litevault.prom")
        let job = try #require(configuration.jobs.first)
        #expect(job.sources == ["/srv/tenants/*/app.db", "/etc/litevault/extra.db"])
        #expect(job.exclude == ["test-*"])
        #expect(job.recurrence == .interval(.seconds(3600)))
        #expect(job.jitter == .seconds(600) && job.retry == .seconds(300))
        #expect(job.repository.location == "s3://bucket/backups")
        #expect(job.repository.endpoint == "https://s3.example.com")
        #expect(job.repository.region == "eu-1" && job.repository.usesPathStyle)
        #expect(job.repository.secret?.source == .credential("repository-secret"))
        #expect(job.allowsPlaintext && job.concurrency == 2 && job.database == "{parent}")
        #expect(job.retention?.last == 3 && job.retention?.within == .seconds(172_800) && job.retention?.daily == nil)
        #expect(!job.prunes && job.grace == .seconds(3600))
        #expect(job.verification?.level == .restore && job.verification?.interval == .seconds(604_800))
        #expect(job.verification?.key?.source == .file("/etc/key") && job.verification?.key?.format == .hex)
        #expect(job.verification?.assertions == ["SELECT 1"])
        #expect(job.hooks.before == "true" && job.hooks.after == "echo ok")
        #expect(job.heartbeat == "https://example.com/ping")
        let other = configuration.jobs[1]
        // A secret belongs to one repository.
        #expect(other.repository.location == "/backup" && other.repository.secret == nil)
        guard case .calendar(let expression) = other.recurrence else {
            Issue.record("no calendar")
            return
        }
        #expect(expression.timeZone.secondsFromGMT() == 0)
    }

    private static let job = "repository: /r\njobs:\n  - name: a\n    sources: /x\n    every: 1h\n"

    @Test(arguments: [
        ("repositry: /r\njobs: []", "line 1", "repository"),
        (job + "    retension: {last: 1}", "line 6", "retention"),
        (job + "    retention: {lasst: 1}", "line 6", "last"),
        (job + "    retention: {}", "line 6", ""),
        (job + "    retention: {last: 0}", "line 6", ""),
        (job + "    at: hourly", "line 6", ""),
        (job + "    jitter: soon", "line 6", ""),
        (job + "    verify: {level: deep}", "line 6", ""),
        (job + "    verify: {level: pages}", "line 6", ""),
        (job + "    verify: {level: data, key-file: /k}", "line 6", ""),
        (job + "    verify: {level: restore, key-file: /k, key-env: K}", "line 6", ""),
        (job + "    verify: {key: secret}", "line 6", "key-"),
        (job + "    verify: {level: restore, keyring: k}", "line 6", "key-file"),
        (job + "    verify: {level: restore, unlock: secret, key-file: /k}", "line 6", "keyring"),
        (job + "    verify: {level: restore, keyring: k, key-file: /k, unlock: key}", "line 6", "identity"),
        (job + "    verify: {level: restore, keyring: k, key-file: /k, unlock: command}", "line 6", "key-command"),
        (job + "    verify: {level: restore, keyring: k, key-file: /k, key-format: hex}", "line 6", "Remove"),
        (job + "    heartbeat: ftp://x", "line 6", ""),
        (job + "    time-zone: Mars/Base", "line 6", ""),
        (job + "    repository: ftp://x", "line 6", ""),
        (job + "    s3: {storage-class: DEEP_ARCHIVE}", "line 6", "GLACIER_IR"),
        (job + "    s3: {encryption: rot13}", "line 6", "aws:kms"),
        (job + "    s3: {encryption: AES256, kms-key: k}", "line 6", "aws:kms"),
        (job + "    s3: {lock-mode: governance}", "line 6", "both"),
        (job + "    s3: {lock-mode: governance, lock-days: 40000}", "line 6", "36500"),
        (job + "    s3: {storage: COLD}", "line 6", "storage-class"),
        (job + "    s3: {region: eu-1}", "line 6", ""),
        ("s3: {lock-mode: none}\njobs: []", "line 1", ""),
        (job + "    allow-plaintext: perhaps", "line 6", ""),
        (job + "  - name: a\n    sources: /y\n    every: 1h", "", ""),
        ("jobs:\n  - name: a\n    sources: /x\n    every: 1h", "line 2", ""),
        ("repository: /r\njobs:\n  - name: a\n    sources: /x\n    at: 25:00", "line 5", ""),
        ("repository: /r\njobs:\n  - sources: /x\n    every: 1h", "line 3", ""),
        ("repository: /r\njobs:\n  - name: a b\n    sources: /x\n    every: 1h", "line 3", ""),
        ("repository: /r", "line 1", ""),
        ("- a", "line 1", ""),
        ("", "", ""),
        ("a: [", "line", ""),
        ("version: 2\nrepository: /r\njobs: []", "line 1", ""),
        (job + "    name: b", "", ""),
    ])
    func `an error names its line and the nearest key`(text: String, line: String, near: String) throws {
        let error = try #require(refusal(text))
        #expect(error.code == .config)
        #expect(error.path == "/etc/litevault/backup.yml")
        #expect(line.isEmpty || error.message.contains(line), "\(error.message)")
        #expect(near.isEmpty || (error.remedy ?? "").contains(near), "\(error)")
    }

    @Test func `databases are called by a template`() {
        #expect(SourceList.name("{file}", "/srv/a/app.db") == "app.db")
        #expect(SourceList.name("{parent}/{stem}", "/srv/a/app.db") == "a/app")
        #expect(SourceList.name("x-{path}{nothing}", "/srv/a/app.db") == "x-srv/a/app.db{nothing}")
    }

    @Test func `sources are expanded without companions, and collisions are reported`() throws {
        let scratch = Scratch()
        for path in ["a/app.db", "a/app.db-wal", "a/app.db-shm", "b/app.db", "b/test-1.db"] {
            let url = URL(fileURLWithPath: scratch.path(path))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data([1]).write(to: url)
        }
        func list(_ more: String) throws -> SourceList {
            let text = "repository: /r\njobs:\n  - {name: j, every: 1h, \(more)}"
            return SourceList(try #require(try read(text).jobs.first))
        }
        let found = try list("sources: '\(scratch.directory)/*/*', exclude: 'test-*', database: '{parent}'")
        #expect(found.databases.map(\.name) == ["a", "b"])
        #expect(found.problems.isEmpty)
        let colliding = try list("sources: '\(scratch.directory)/*/app.db'")
        #expect(colliding.databases.count == 1)
        #expect(colliding.problems.map(\.code) == ["config"])
        #expect(try list("sources: '\(scratch.directory)/none'").problems.map(\.code) == ["no-input"])
        #expect(try list("sources: '\(scratch.directory)/none*'").problems.map(\.code) == ["no-input"])
        #expect(try list("sources: '\(scratch.directory)/none*', allow-none: true").problems.isEmpty)
    }

    @Test func `unchanged databases get a snapshot, or are skipped`() throws {
        func job(_ more: String) throws -> BackupJob {
            try #require(read("repository: /r\njobs:\n  - {name: a, sources: /a, every: 1h\(more)}\n").jobs.first)
        }
        #expect(try !job("").skipsUnchanged && !job(", unchanged: snapshot").skipsUnchanged)
        #expect(try job(", unchanged: skip").skipsUnchanged)
        for wrong in ["yes", "never", "[skip]"] {
            #expect(throws: VaultError.self, "\(wrong)") { try job(", unchanged: \(wrong)") }
        }
    }

    @Test func `follow is a flag or a mapping`() throws {
        func job(_ text: String) throws -> BackupJob {
            try #require(
                read("repository: /r\njobs:\n  - {name: a, sources: /a, every: 1h, follow: \(text)}\n").jobs.first)
        }
        #expect(try job("false").following == nil && !job("false").follows)
        let usual = try #require(try job("true").following)
        #expect(
            usual.interval == .seconds(1) && usual.logLimit == 256 << 20 && usual.spoolLimit == 1 << 30
                && usual.most == 32)
        let own = try #require(
            try job("{interval: 250ms, log-limit: 64MiB, spool-limit: 2 GB, most: 100}").following)
        #expect(
            own.interval == .milliseconds(250) && own.logLimit == 64 << 20 && own.spoolLimit == 2_000_000_000
                && own.most == 100)
        let kept = try #require(try job("{fine: 36h, minutes: 60d}").following?.compaction)
        #expect(
            kept.fine == .seconds(36 * 3600) && kept.minutes == .seconds(60 * 86_400) && kept.grace == .seconds(3600))
        #expect(usual.compaction == CompactionPolicy() && own.compaction == CompactionPolicy())
        // Minutes are kept at least as long as single commits.
        #expect(try job("{fine: 90d}").following?.compaction?.minutes == .seconds(90 * 86_400))
        #expect(try job("{compact: yes, fine: 2h}").following?.compaction?.fine == .seconds(7200))
        let never = try #require(try job("{compact: no, fine: 36h}").following)
        #expect(never.compaction == nil)
        for wrong in [
            "{fine: 30s}", "{fine: never}", "{minutes: 10m}", "{fine: 48h, minutes: 24h}", "{compact: 5}", "maybe",
            "{interval: 1ms}", "{interval: 2h}", "{log-limit: 1}", "{log-limit: lots}", "{most: 1000}", "{mots: 1}",
        ] {
            #expect(throws: VaultError.self, "\(wrong)") { try job(wrong) }
        }
    }

    @Test(arguments: [
        ("64MiB", 67_108_864 as Int64?), ("1 GB", 1_000_000_000), ("4096", 4096), ("3kib", 3072), ("0", 0), ("", nil),
        ("GiB", nil),
        ("-1", nil), ("1.5GiB", nil), ("9999999TiB", nil), ("5 apples", nil),
    ])
    func `a size is read with its unit`(text: String, bytes: Int64?) { #expect(ByteSize.bytes(text) == bytes) }

    @Test(arguments: [50, 250, 1000, 1500, 90_000, 5_400_000, 86_400_020])
    func `a duration is printed in the syntax in which it is read`(milliseconds: Int) throws {
        let duration = Duration.milliseconds(milliseconds)
        #expect(try TimeSpan.parse(TimeSpan.text(duration)) == duration)
    }

    @Test func `a repository on an SSH server is read, its command is inherited, and units let ssh read its keys`()
        throws
    {
        let text = """
            repository: sftp://backup@nas.lan:2222/srv/vaults
            sftp: {command: 'ssh -J jump -s nas.lan sftp'}
            jobs:
              - {name: a, sources: /srv/app.db, every: 1h}
              - {name: b, sources: /srv/other.db, every: 1h, repository: 'sftp://h/~/x', sftp: {command: other}}
            """
        let configuration = try read(text)
        #expect(
            configuration.jobs.map(\.repository.location) == ["sftp://backup@nas.lan:2222/srv/vaults", "sftp://h/~/x"])
        #expect(configuration.jobs.map(\.repository.sftpCommand) == ["ssh -J jump -s nas.lan sftp", "other"])
        let units = try SystemdUnits(name: "x", tool: "/usr/bin/litevault", configuration: configuration)
        #expect(units.service.contains("ProtectHome=read-only"))
        let store = try ScheduleServices(tool: "test").store(configuration.jobs[0].repository)
        #expect(store.location == "sftp://backup@nas.lan:2222/srv/vaults")
        #expect(refusal("repository: ftp://h/x\njobs: [{name: a, sources: x, every: 1h}]")?.code == .config)
        #expect(
            refusal("repository: sftp://h/x\nsftp: {port: 1}\njobs: [{name: a, sources: x, every: 1h}]")?.code
                == .config)
    }
}
