// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "EncryptedNotes",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "litevault", path: "../..")],
    targets: [
        .executableTarget(
            name: "EncryptedNotes", dependencies: [.product(name: "LiteVault", package: "litevault")])
    ],
    swiftLanguageModes: [.v6]
)
