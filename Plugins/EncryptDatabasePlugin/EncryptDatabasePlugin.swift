import Foundation
import PackagePlugin

/// `swift package encrypt-database SOURCE DEST --key-file PATH`: runs `litevault encrypt` on a database of the package, such as a
/// seed that an application ships. It has the options of that command, but no prompt: a plugin has no terminal.
@main
struct EncryptDatabasePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let build = try packageManager.build(.product("litevault"), parameters: .init(configuration: .debug))
        let tool = build.builtArtifacts.first { $0.kind == .executable && $0.url.lastPathComponent == "litevault" }
        guard build.succeeded, let tool else {
            Diagnostics.error("building the tool litevault failed:\n\(build.logText)")
            if build.logText.contains("no such module") {
                Diagnostics.error("the tool needs a package trait: .package(…, traits: [.defaults, \"Tool\"])")
            }
            return
        }
        let process = Process()
        process.executableURL = tool.url
        process.arguments = ["encrypt"] + arguments
        process.currentDirectoryURL = context.package.directoryURL
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationReason == .exit, process.terminationStatus == 0 { return }
        Diagnostics.error("litevault encrypt failed with status \(process.terminationStatus)")
    }
}
