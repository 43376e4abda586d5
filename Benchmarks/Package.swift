// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nobody who uses LiteVault fetches what it is compared with.
//
// LiteVault is taken without its traits: then it calls the same libsqlite3 as GRDB and the loops in C, and what differs
// is only what each of them adds to the engine.
let package = Package(
    name: "litevault-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "litevault", path: "..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(
            name: "CBaseline",
            cSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBaseline",
                .product(name: "LiteVault", package: "litevault"), .product(name: "SQLite", package: "litevault"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ],
            plugins: [.plugin(name: "LiteVaultSchemaPlugin", package: "litevault")]),
        .executableTarget(
            name: "PoolBenchmarks",
            dependencies: [
                .product(name: "LiteVault", package: "litevault"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
