// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "BackupServer",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "litevault", path: "../..", traits: [.defaults, "BackupService"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.4"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "BackupServer",
            dependencies: [
                .product(name: "LiteVault", package: "litevault"),
                .product(name: "LiteVaultBackup", package: "litevault"),
                .product(name: "LiteVaultBackupService", package: "litevault"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
