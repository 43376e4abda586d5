// swift-tools-version: 6.1
import PackageDescription

// A package of its own: it links the engine that encrypts, the other benchmarks the one that does not. GRDB cannot be here: its
// package links SQLite. How the workloads are measured and printed is shared with the other benchmarks, by links.
let package = Package(
    name: "litevault-benchmarks-encrypted",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "litevault", path: "../..")],
    targets: [
        .target(
            name: "CSQLCipherBaseline",
            cSettings: [.define("SQLITE_HAS_CODEC"), .unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("sqlcipher")]),
        .executableTarget(
            name: "Encrypted",
            dependencies: [
                "CSQLCipherBaseline", .product(name: "LiteVault", package: "litevault"),
                .product(name: "SQLite", package: "litevault"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
