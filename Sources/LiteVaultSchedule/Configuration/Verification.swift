package import LiteVaultBackup

/// How deep, and how often, a job looks at what it has stored.
package struct Verification: Sendable {
    package let level: SnapshotVerification.Level
    /// Seconds from one verification to the next.
    package let interval: Double
    /// Where the databases' key is; nil where none is needed.
    package let key: KeyReference?
    /// SQL that has to give a true value in a restored database.
    package let assertions: [String]

    /// What the job says of it; nil when it says nothing.
    init?(_ job: ConfigurationSection, folder: String) throws {
        guard let section = try job.section("verify", known: ["level", "every", "assert"] + KeyReference.keys("key"))
        else { return nil }
        let text = try section.text("level") ?? "data"
        guard let level = SnapshotVerification.Level(rawValue: text) else {
            throw section.error(
                "level",
                "'\(text)' is none of \(SnapshotVerification.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.level = level
        interval = try section.span("every", atLeast: 1) ?? 604_800
        key = try KeyReference(section, prefix: "key", folder: folder)
        assertions = try section.texts("assert")
        if level < .pages, key != nil {
            throw section.error("level", "'\(text)' needs no key", "Write 'pages' or 'restore', or leave the key out.")
        }
        if level == .pages, key == nil { throw section.error("level", "'pages' needs a key") }
        if level < .restore, !assertions.isEmpty {
            throw section.error("assert", "needs the level 'restore'")
        }
    }
}
