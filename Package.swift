// swift-tools-version: 6.1
import PackageDescription

// The engine is chosen at compile time by one additive trait, on by default:
//
//   swift build                               SQLCipher, found by pkg-config
//   swift build --disable-default-traits      SQLite, without encryption
//   PKG_CONFIG_PATH=<prefix>/lib/pkgconfig swift build --scratch-path .build-<name>
//                                             another build of SQLCipher (one scratch path per prefix)
//   traits: ["SQLCipherPackage"]              in a package that depends on this one: SQLCipher's own package, where there is
//                                             no pkg-config. Not tried with the real one: Documentation.docc/Platforms.md
//
// Why it has this shape: Sources/LiteVault/Documentation.docc/Decisions/0001-engine-switch.md
//
// For a package that depends on this one, every external package belongs to a trait. SwiftPM clones a package only if an
// enabled trait asks for a product of it: a package that uses LiteVault or SQLite clones LiteVault alone. A checkout needs everything,
// whatever its engine: Sources/LiteVault/Documentation.docc/Decisions/0027-external-packages-by-trait.md
//
// SwiftPM reads the manifest of a dependency from the bare repository, as if it were in "/", and then from
// "checkouts/NAME" in the build directory of the package that uses it. ci/quickstart sets the variable.
let isDependency =
    Context.packageDirectory == "/" || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"
    || Context.environment["LITEVAULT_BY_TRAIT"] != nil

func when(_ trait: String) -> TargetDependencyCondition {
    // The condition is nil only where nothing is asked for.
    // swift-format-ignore: NeverForceUnwrap
    .when(traits: [trait])!
}
let sqlcipher = when("SQLCipher")
/// SwiftPM clones the package only where the trait is on, which it is in no checkout.
let sqlcipherPackage = Target.Dependency.product(
    name: "SQLCipher", package: "SQLCipher.swift", condition: when("SQLCipherPackage"))

func external(_ product: String, of package: String, for trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: isDependency ? when(trait) : nil)
}

/// Whether the tool has S3.
let objectStore: [SwiftSetting] = [.define("S3", isDependency ? .when(traits: ["ObjectStore"]) : nil)]

let swift: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Everything that calls the engine depends on the C target as well: an edit of a shim rebuilds Swift only that way.
let engine: [Target.Dependency] = ["LiteVaultEngine", "CEngineSupport"]

let package = Package(
    name: "litevault",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
    products: [
        .library(name: "LiteVault", targets: ["LiteVault"]),
        .library(name: "SQLite", targets: ["SQLite"]),
        .library(name: "LiteVaultBackup", targets: ["LiteVaultBackup"]),
        .library(name: "LiteVaultObjectStore", targets: ["LiteVaultObjectStore"]),
        .library(name: "LiteVaultBackupService", targets: ["LiteVaultBackupService"]),
        .library(name: "LiteVaultStoreTesting", targets: ["LiteVaultStoreTesting"]),
        .library(name: "LiteVaultKeyring", targets: ["LiteVaultKeyring"]),
        .executable(name: "litevault", targets: ["LiteVaultTool"]),
        .plugin(name: "LiteVaultSchemaPlugin", targets: ["LiteVaultSchemaPlugin"]),
        .plugin(name: "EncryptDatabasePlugin", targets: ["EncryptDatabasePlugin"]),
    ],
    traits: [
        .trait(name: "SQLCipher", description: "Link SQLCipher (pkg-config: sqlcipher) instead of SQLite."),
        .trait(name: "Keyring", description: "What LiteVaultKeyring needs: swift-crypto."),
        .trait(name: "Backup", description: "What LiteVaultBackup needs: swift-crypto."),
        .trait(
            name: "ObjectStore", description: "What LiteVaultObjectStore needs: swift-crypto, and libcurl.",
            enabledTraits: ["Backup"]),
        .trait(name: "Schedule", description: "What schedules need: swift-log.", enabledTraits: ["Backup"]),
        .trait(
            name: "BackupService",
            description: "What LiteVaultBackupService needs: swift-service-lifecycle and swift-metrics.",
            enabledTraits: ["Schedule"]),
        .trait(
            name: "Tool", description: "What the tool litevault needs; without ObjectStore, it has no S3.",
            enabledTraits: ["Schedule", "Keyring"]),
        .trait(
            name: "SQLCipherPackage",
            description: "Link SQLCipher's own Swift package, not pkg-config's. Instead of the trait SQLCipher."),
        .default(enabledTraits: ["SQLCipher"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.4"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/sqlcipher/SQLCipher.swift", from: "4.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The two engines: a module map and the only header that includes sqlite3.h.
        .systemLibrary(
            name: "CSQLCipher", pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
        .systemLibrary(name: "CSQLite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(
            name: "CEngineSupport",
            dependencies: [.target(name: "CSQLCipher", condition: sqlcipher), "CSQLite3", sqlcipherPackage],
            cSettings: [
                .define("ENGINE_SQLCIPHER", .when(traits: ["SQLCipher", "SQLCipherPackage"])),
                .define("ENGINE_SQLCIPHER_PACKAGE", .when(traits: ["SQLCipherPackage"])),
            ],
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(
            name: "LiteVaultEngine",
            dependencies: [
                .target(name: "CSQLCipher", condition: sqlcipher), "CSQLite3", "CEngineSupport", sqlcipherPackage,
            ],
            swiftSettings: swift),

        // What configuration files are read with.
        .systemLibrary(
            name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
        // Text as part of another language, and names as SQLite compares them: build tools use it, too.
        .target(name: "LiteVaultQuoting", swiftSettings: swift),
        // The machine: files, processes, threads, clocks, secret memory. It knows nothing of SQLite, and has the only import of
        // Foundation in the library and the tool: of the part that a static program can afford.
        .target(name: "CSystem"),
        .target(name: "LiteVaultSystem", dependencies: ["CSystem"], swiftSettings: swift),
        .target(
            name: "LiteVaultCore",
            dependencies: ["LiteVaultSystem", "LiteVaultQuoting"] + engine,
            swiftSettings: swift),
        .target(
            name: "LiteVaultCipher",
            dependencies: ["LiteVaultQuoting", "LiteVaultCore", "LiteVaultSystem", "CSystem"] + engine,
            swiftSettings: swift),
        .target(
            name: "LiteVaultQuery",
            dependencies: ["LiteVaultQuoting", "LiteVaultCore", "LiteVaultSystem"],
            swiftSettings: swift),
        // Apart from the types: operators are exported only as a whole module, which module SQLite does with nothing else.
        .target(name: "LiteVaultOperators", dependencies: ["LiteVaultQuery", "LiteVaultCore"], swiftSettings: swift),
        .target(
            name: "LiteVaultSchema",
            dependencies: ["LiteVaultQuoting", "LiteVaultSystem", "LiteVaultQuery", "LiteVaultCore"],
            swiftSettings: swift),
        .target(
            name: "LiteVaultPool",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultCore", "LiteVaultCipher", "LiteVaultSchema", "LiteVaultSystem",
            ] + engine,
            swiftSettings: swift),
        .target(
            name: "LiteVaultRecord",
            dependencies: ["LiteVaultQuoting", "LiteVaultCore", "LiteVaultQuery", "LiteVaultPool", "LiteVaultSystem"],
            swiftSettings: swift),
        .target(
            name: "LiteVault",
            dependencies: [
                "LiteVaultCore", "LiteVaultCipher", "LiteVaultQuery", "LiteVaultOperators", "LiteVaultSchema",
                "LiteVaultPool", "LiteVaultRecord",
            ],
            swiftSettings: swift),
        // Apart from the umbrella: it links a cryptographic library of its own, which takes minutes to compile.
        .target(
            name: "LiteVaultKeyring",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultCore", "LiteVaultCipher", "LiteVaultPool", "LiteVaultSystem", "CSystem",
                external("Crypto", of: "swift-crypto", for: "Keyring"),
                external("_CryptoExtras", of: "swift-crypto", for: "Keyring"),
            ],
            swiftSettings: swift),
        // Backups in three layers: reading a live database's files, storing snapshots, and both ends of a followed log.
        .target(
            name: "LiteVaultCapture",
            dependencies: ["LiteVaultCore", "LiteVaultCipher", "LiteVaultSystem", "CSystem"] + engine,
            swiftSettings: swift),
        // Compresses what sealed repositories store.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "LiteVaultRepository",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultCapture", "LiteVaultCore", "LiteVaultCipher", "LiteVaultSystem", "CZlib",
                external("Crypto", of: "swift-crypto", for: "Backup"),
                // By the name that both major versions have.
                external("_CryptoExtras", of: "swift-crypto", for: "Backup"),
            ],
            swiftSettings: swift),
        // Apart from repositories, as the store of S3 is. It needs no external package, so LiteVaultBackup exports it.
        .target(
            name: "LiteVaultSFTP",
            dependencies: ["LiteVaultQuoting", "LiteVaultRepository", "LiteVaultCapture", "LiteVaultSystem"],
            swiftSettings: swift),
        // Both ends of a log: followers and standbys. It exports what is below it: one import for backups.
        .target(
            name: "LiteVaultBackup",
            dependencies: [
                "LiteVaultRepository", "LiteVaultCapture", "LiteVaultSFTP", "LiteVaultCipher", "LiteVaultSystem",
            ],
            swiftSettings: swift),
        // For the tests of those who write a store: servers and the tool do not link it.
        .target(
            name: "LiteVaultStoreTesting",
            dependencies: ["LiteVaultBackup", "LiteVaultSystem"],
            swiftSettings: swift),
        // The HTTP client, where the system has none of its own: Apple's have URLSession.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // Alone in linking an HTTP client: a build for directories only does without one.
        .target(
            name: "LiteVaultObjectStore",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultBackup", "LiteVaultSystem", "CSystem",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
                external("Crypto", of: "swift-crypto", for: "ObjectStore"),
            ],
            swiftSettings: swift),
        .target(
            name: "LiteVaultSchedule",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultBackup", "LiteVaultCipher", "LiteVaultSystem",
                external("Crypto", of: "swift-crypto", for: "Schedule"),
                external("Logging", of: "swift-log", for: "Schedule"),
            ],
            swiftSettings: swift),
        // Apart from schedules: a server has its own as a Swift value, and does without a parser.
        .target(
            name: "LiteVaultScheduleFile",
            dependencies: ["LiteVaultSystem", "LiteVaultSchedule", "LiteVaultBackup", "CYAML"],
            swiftSettings: swift),
        .target(
            name: "LiteVaultBackupService",
            dependencies: [
                "LiteVaultSchedule", "LiteVaultBackup", "LiteVaultSystem",
                external("Logging", of: "swift-log", for: "BackupService"),
                external("Metrics", of: "swift-metrics", for: "BackupService"),
                external("ServiceLifecycle", of: "swift-service-lifecycle", for: "BackupService"),
            ],
            swiftSettings: swift),
        .target(
            name: "SQLite",
            dependencies: [
                "LiteVaultQuoting", "LiteVaultCore", "LiteVaultCipher", "LiteVaultQuery", "LiteVaultOperators",
                "LiteVaultSchema",
                "LiteVaultSystem",
            ] + engine,
            swiftSettings: swift),
        .executableTarget(
            name: "LiteVaultTool",
            dependencies: [
                "LiteVaultQuoting", "LiteVault", "LiteVaultCore", "LiteVaultCipher", "LiteVaultSystem",
                "LiteVaultBackup", "LiteVaultEngine",
                .target(name: "LiteVaultObjectStore", condition: isDependency ? when("ObjectStore") : nil),
                "LiteVaultSchedule", "LiteVaultScheduleFile", "LiteVaultKeyring",
                external("ArgumentParser", of: "swift-argument-parser", for: "Tool"),
                external("Logging", of: "swift-log", for: "Tool"),
            ],
            swiftSettings: swift + objectStore),

        // A tool of a plugin is compiled a second time for the machine that builds: it depends on the bare engine only.
        .executableTarget(
            name: "LiteVaultSchemaGenerator", dependencies: ["LiteVaultQuoting"] + engine, swiftSettings: swift),
        .plugin(
            name: "LiteVaultSchemaPlugin", capability: .buildTool(), dependencies: ["LiteVaultSchemaGenerator"]),
        .plugin(
            name: "EncryptDatabasePlugin",
            capability: .command(
                intent: .custom(
                    verb: "encrypt-database", description: "Makes an encrypted database from a plaintext one."),
                permissions: [.writeToPackageDirectory(reason: "The encrypted database is written beside the other.")])),

        // What tests of several targets need: directories, waiting. It knows nothing of the package.
        .target(name: "LiteVaultTestSupport", path: "Tests/LiteVaultTestSupport", swiftSettings: swift),
        .testTarget(
            name: "LiteVaultQuotingTests",
            dependencies: ["LiteVaultQuoting", "LiteVault", "LiteVaultCipher", "LiteVaultSFTP"],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultSystemTests", dependencies: ["LiteVaultTestSupport", "LiteVaultSystem"],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultCoreTests", dependencies: ["LiteVaultTestSupport", "LiteVaultCore"] + engine,
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultCipherTests",
            dependencies: ["LiteVaultTestSupport", "LiteVault", "LiteVaultSystem"] + engine,
            exclude: ["Fixtures"], swiftSettings: swift),
        .testTarget(
            name: "LiteVaultKeyringTests",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultKeyring", "LiteVault", "LiteVaultSystem",
                external("Crypto", of: "swift-crypto", for: "Keyring"),
            ],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultQueryTests", dependencies: ["LiteVaultQuery", "LiteVaultOperators", "LiteVaultCore"],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultSchemaTests",
            dependencies: [
                "LiteVaultTestSupport", "LiteVaultSchema", "LiteVaultQuery", "LiteVaultOperators", "LiteVaultCore",
            ],
            swiftSettings: swift),
        .executableTarget(
            name: "MigrationWorker", dependencies: ["LiteVault"], path: "Tests/MigrationKillTests/Worker",
            swiftSettings: swift),
        .testTarget(name: "SchemaPageTests", dependencies: ["LiteVault"], swiftSettings: swift),
        .testTarget(
            name: "CheckedSQLTests", dependencies: ["LiteVault"], swiftSettings: swift,
            plugins: ["LiteVaultSchemaPlugin"]),
        .testTarget(
            name: "LiteVaultPoolTests", dependencies: ["LiteVaultTestSupport", "LiteVault"] + engine,
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultRecordTests", dependencies: ["LiteVaultTestSupport", "LiteVault"] + engine,
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultBackupTests",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultBackup", "LiteVaultStoreTesting", "LiteVault", "LiteVaultSystem",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "Simulation",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultBackup", "LiteVault", "LiteVaultSystem", "LiteVaultSchedule", "LiteVaultScheduleFile",
                external("Crypto", of: "swift-crypto", for: "Backup"),
                external("Logging", of: "swift-log", for: "Schedule"),
            ],
            path: "Tests/Simulation", swiftSettings: swift),
        .testTarget(
            name: "LiteVaultSFTPTests",
            dependencies: ["LiteVaultTestSupport", "LiteVaultBackup", "LiteVaultStoreTesting", "LiteVaultSystem"],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultObjectStoreTests",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultObjectStore", "LiteVaultStoreTesting", "LiteVaultBackup", "LiteVaultSystem",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultScheduleTests",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultSchedule", "LiteVaultScheduleFile", "LiteVaultBackup", "LiteVaultQuoting", "LiteVaultSystem",
            ],
            swiftSettings: swift),
        .testTarget(
            name: "LiteVaultBackupServiceTests",
            dependencies: [
                "LiteVaultTestSupport",
                "LiteVaultBackupService", "LiteVault", "LiteVaultSystem",
                external("Metrics", of: "swift-metrics", for: "BackupService"),
                external("MetricsTestKit", of: "swift-metrics", for: "BackupService"),
                external("ServiceLifecycle", of: "swift-service-lifecycle", for: "BackupService"),
            ],
            swiftSettings: swift),
        .testTarget(
            name: "SQLiteTests",
            dependencies: [
                "LiteVaultTestSupport", "SQLite", "LiteVaultSchema", "LiteVaultQuery", "LiteVaultOperators",
            ],
            swiftSettings: swift),
        // As a project that was written for SQLite.swift would compile them: without upcoming features.
        .testTarget(name: "SeedTests", dependencies: ["SQLite"], exclude: ["Repairs.md"]),
        .testTarget(
            name: "LiteVaultToolTests",
            dependencies: ["LiteVaultTestSupport", "LiteVaultTool", "LiteVault", "LiteVaultSystem"],
            swiftSettings: swift),
    ],
    swiftLanguageModes: [.v6]
)

// What ci/test and ci/try know of a suite is declared beside it.
for target in package.targets where target.type == .test { target.exclude.append("suite.toml") }
for target in package.targets where target.name == "Simulation" { target.exclude.append("planted") }

// LITEVAULT_TESTS=LiteVaultPoolTests,LiteVaultTool leaves these targets, and what they are made of: `swift build --build-tests` then builds
// nothing else. ci/try sets it. LITEVAULT_TESTS=none leaves out the test targets alone.
if let named = Context.environment["LITEVAULT_TESTS"] {
    let named = Set(named.split(separator: ",").map(String.init))
    package.targets.removeAll { $0.type == .test && !named.contains($0.name) }
    if named != ["none"] { keepTargets(named) }
}

/// Removes from the package all targets but those named and what they depend on, and the products made of those that are removed.
@MainActor func keepTargets(_ named: Set<String>) {
    var kept: Set<String> = []
    var next = named
    while !next.isEmpty {
        kept.formUnion(next)
        let targets = package.targets.filter { next.contains($0.name) }
        next = Set(targets.flatMap(parts)).subtracting(kept)
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { !kept.isSuperset(of: targets(of: $0)) }
}

/// The targets and plugins of this package that a target is made of.
func parts(of target: Target) -> [String] {
    let dependencies = target.dependencies.compactMap { dependency -> String? in
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): name
        default: nil
        }
    }
    let plugins = (target.plugins ?? []).map { usage in
        switch usage {
        case .plugin(let name, _): name
        @unknown default: ""
        }
    }
    return dependencies + plugins
}

func targets(of product: Product) -> [String] {
    switch product {
    case let product as Product.Library: product.targets
    case let product as Product.Executable: product.targets
    case let product as Product.Plugin: product.targets
    default: []
    }
}
