// swift-tools-version: 6.1
import PackageDescription

// A package of its own: it needs the engine that encrypts, the other benchmarks the one that does not.
let package = Package(
    name: "key-derivation",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "litevault", path: "../..")],
    targets: [
        .executableTarget(name: "KeyDerivation", dependencies: [.product(name: "LiteVault", package: "litevault")])
    ],
    swiftLanguageModes: [.v6]
)
