// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "TaggedNotes",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "litevault", path: "../..")],
    targets: [
        .executableTarget(
            name: "TaggedNotes", dependencies: [.product(name: "LiteVault", package: "litevault")],
            plugins: [.plugin(name: "LiteVaultSchemaPlugin", package: "litevault")])
    ],
    swiftLanguageModes: [.v6]
)
