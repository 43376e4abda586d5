import Testing

/// The entry point of the test programs. With a file of this name SwiftPM does not look in an index for tests of XCTest: there are none, and
/// builds without an index are faster (`ci/lib/lean-swift`).
@main struct TestProgram {
    static func main() async {
        // `swift test` starts the program once for each testing library.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
