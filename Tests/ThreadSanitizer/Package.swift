// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that only what the stress test needs is built with the sanitizer: see ci/tsan.
let package = Package(
    name: "thread-sanitizer",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "litevault", path: "../..")],
    targets: [.executableTarget(name: "Stress", dependencies: [.product(name: "LiteVault", package: "litevault")])],
    swiftLanguageModes: [.v6]
)
