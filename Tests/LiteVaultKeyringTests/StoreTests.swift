import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

@Suite struct StoreTests {
    let scratch = Scratch()

    private func material(_ text: String) throws -> KeyMaterial { try KeyMaterial(text) }

    /// What every store that can be written does.
    private func behaves(_ store: any KeyStore) throws {
        #expect(try store.read() == nil)
        let secret = try KeyMaterial.random().digits()
        try store.store(secret)
        #expect(try store.read()?.equals(secret) ?? false)
        expect(.cannotCreate) { try store.store(secret) }
        #expect(try store.read()?.equals(secret) ?? false)
    }

    @Test func `a file keeps a secret, and is never overwritten`() throws {
        try behaves(FileKeyStore(scratch.path("key")))
        let mode = try FileManager.default.attributesOfItem(atPath: scratch.path("key"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try scratch.names() == ["key"])
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o601])
    func `a file that others can use is rejected`(mode: Int) throws {
        let path = try scratch.write("secret", to: "key", mode: mode)
        expect(.keyRejected) { try FileKeyStore(path).read() }
    }

    @Test func `a file that is no file, empty or too large is rejected`() throws {
        expect(.wrongKind) { try FileKeyStore(scratch.directory).read() }
        expect(.keyRejected) { try FileKeyStore(scratch.write("\n", to: "empty")).read() }
        expect(.keyRejected) { try FileKeyStore(scratch.write(String(repeating: "x", count: 70000), to: "large")).read() }
    }

    @Test func `a variable is taken out of the environment`() throws {
        setenv("LITEVAULT_STORE_TEST", "a secret in the environment", 1)
        let store = EnvironmentKeyStore("LITEVAULT_STORE_TEST")
        let expected = try material("a secret in the environment")
        #expect(try store.read()?.equals(expected) ?? false)
        #expect(getenv("LITEVAULT_STORE_TEST") == nil)
        #expect(try store.read()?.equals(expected) ?? false)
        expect(.unsupported) { try store.store(expected) }
        #expect(try EnvironmentKeyStore("LITEVAULT_NOT_SET").read() == nil)
    }

    @Test func `a credential is read from the directory that systemd names`() throws {
        expect(.usage) { try CredentialKeyStore("../key") }
        unsetenv("CREDENTIALS_DIRECTORY")
        expect(.keyStoreLocked) { try CredentialKeyStore("key").read() }
        setenv("CREDENTIALS_DIRECTORY", scratch.directory, 1)
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        try scratch.write("from systemd\n", to: "key", mode: 0o440)
        #expect(try CredentialKeyStore("key").read()?.equals(material("from systemd")) ?? false)
        #expect(try CredentialKeyStore("other").read() == nil)
    }

    @Test func `a command keeps a secret`() throws {
        let file = Quoting.shellWord(scratch.path("kept"))
        try behaves(
            CommandKeyStore(
                ExternalCommand("[ ! -e \(file) ] || cat \(file)"), storing: ExternalCommand("cat > \(file)")))
        expect(.keyStoreLocked) { try CommandKeyStore(ExternalCommand("exit 1")).read() }
        expect(.unsupported) { try CommandKeyStore(ExternalCommand("true")).store(.random()) }
    }

    /// The start of a command that leaves a process behind: in a session of its own, with the command's output open, for 20 s
    /// or until the directory is removed. If its time is over, it leaves the file `over`.
    private var background: String {
        let wait = "for i in $(seq 200); do [ -e text ] || exit; sleep 0.1; done; : > over"
        return "cd \(Quoting.shellWord(scratch.directory)); : > text; setsid sh -c \(Quoting.shellWord(wait)) & "
    }

    @Test(arguments: [nil, Duration.seconds(15)])
    func `a process that a command leaves in the background is not waited for`(limit: Duration?) throws {
        let secret = try CommandKeyStore(ExternalCommand(background + "printf secret", limit: limit)).read()
        #expect(try secret?.equals(material("secret")) ?? false)
        #expect(try scratch.names() == ["text"])
    }

    @Test(arguments: ["sleep 25", "exec >&-; sleep 25"])
    func `a command that takes too long is killed, whatever holds its output open`(rest: String) throws {
        let command = ExternalCommand(background + "printf secret; " + rest, limit: .milliseconds(300))
        do {
            _ = try command.run(input: nil)
            Issue.record("nothing was thrown")
        } catch let error as VaultError {
            #expect(error.code == .keyRejected)
            #expect("\(error)".contains("limit"))
        }
        #expect(try !scratch.names().contains("over"))
    }

    @Test func `what a command prints at its end is read whole`() throws {
        let command = ExternalCommand("head -c 60000 /dev/zero | tr '\\0' x", limit: .seconds(30))
        #expect(try command.run(input: nil).count == 60000)
        expect(.keyRejected) { try ExternalCommand("yes", limit: .seconds(30)).run(input: nil) }
    }

    /// `secret-tool` of a desktop, as far as this project relies on it.
    ///
    /// Another program makes it: a test that starts a process meanwhile inherits what this one has open for writing, and
    /// Linux runs no file that somebody has open for writing (ETXTBSY).
    private func secretTool(_ body: String) throws -> String {
        let text = try scratch.write("#!/bin/sh\n\(body)\n", to: "text")
        let program = scratch.path("secret tool")
        let install = try Process.run(
            URL(fileURLWithPath: "/usr/bin/install"), arguments: ["-m", "700", text, program])
        install.waitUntilExit()
        #expect(install.terminationStatus == 0)
        return program
    }

    @Test func `the Secret Service keeps a secret`() throws {
        let program = try secretTool(
            """
            case $1 in
            lookup) name="$3.$5"; [ -e "\(scratch.directory)/$name" ] || exit 1; cat "\(scratch.directory)/$name" ;;
            store) cat > "\(scratch.directory)/$4.$6" ;;
            esac
            """)
        try behaves(SecretServiceKeyStore(service: "it's $HOME", account: "notes", program: program))
        #expect(try scratch.names().contains("it's $HOME.notes"))
    }

    @Test func `a locked or missing Secret Service is not an empty one`() throws {
        let program = try secretTool("echo 'Cannot autolaunch D-Bus without X11' >&2; exit 1")
        expect(.keyStoreLocked) { try SecretServiceKeyStore(service: "s", account: "a", program: program).read() }
        expect(.unsupported) {
            try SecretServiceKeyStore(service: "s", account: "a", program: scratch.path("none")).read()
        }
        expect(.usage) { try SecretServiceKeyStore(service: "", account: "a") }
    }

    #if os(Linux)
        @Test(arguments: KernelKeyStore.Ring.allCases)
        func `a keyring of the kernel keeps a secret, or says that it cannot`(ring: KernelKeyStore.Ring) throws {
            let store = KernelKeyStore("test-\(UUID().uuidString)", ring: ring)
            do { _ = try store.read() } catch let error as VaultError where error.code == .unsupported {
                // A container that forbids it: then it must not seem empty either.
                expect(.unsupported) { try store.store(.random()) }
                return
            }
            try behaves(store)
            try store.remove()
            #expect(try store.read() == nil)
        }
    #endif
}
