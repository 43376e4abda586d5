import Foundation
import LiteVaultCore
import LiteVaultEngine
import Testing

@Suite struct EngineInfoTests {
    @Test func `the reported engine version is that of its own SQL function`() throws {
        let db = try Connection()
        let version = try db.value("SELECT sqlite_version()", as: String?.self)
        #expect(version.map { "SQLite \($0)" } == EngineInfo.linked.sqliteVersion.description)
        #expect(EngineInfo.linked.sqliteVersion == EngineInfo.linked.sqliteVersion)
        // ci/lib/relink links this object with plain SQLite, too, whose headers it was not compiled with.
        if getenv("LITEVAULT_RELINKED") == nil {
            #expect(EngineInfo.linked.headerVersion == SQLiteVersion(number: Int(SQLITE_VERSION_NUMBER)))
        }
    }

    @Test func `compile options are those that the engine lists`() throws {
        let listed = try Connection().column("PRAGMA compile_options")
        #expect(EngineInfo.linked.compileOptions.sorted() == listed.sorted())
        #expect(!listed.isEmpty)
        for option in listed where !option.contains("=") { #expect(EngineInfo.linked.hasCompileOption(option)) }
        #expect(!EngineInfo.linked.hasCompileOption("NONESUCH"))
        #expect(EngineInfo.linked.isThreadSafe)
    }

    @Test func `the engine encrypts exactly when it answers PRAGMA cipher_version`() throws {
        let answer = try Connection().value("PRAGMA cipher_version", as: String?.self)
        switch EngineInfo.linked.encryption {
        case .none:
            #expect(answer == nil)
            #expect(EngineInfo.linked.sqlcipherMajorVersion == nil)
            #expect(EngineInfo.linked.encryption.description == "none")
        case .sqlcipher(let version):
            #expect(answer?.hasPrefix(version) == true)
            #expect(EngineInfo.linked.sqlcipherMajorVersion.map { version.hasPrefix("\($0).") } == true)
            #expect(EngineInfo.linked.isCompiledForEncryption)
        }
    }

    @Test func `versions compare by their three numbers`() {
        #expect(SQLiteVersion(major: 3, minor: 9) < SQLiteVersion(major: 3, minor: 15, point: 2))
        #expect(SQLiteVersion(major: 3, minor: 46, point: 1) > SQLiteVersion(major: 3, minor: 46))
        #expect(SQLiteVersion(number: 3_046_001) == SQLiteVersion(major: 3, minor: 46, point: 1))
        #expect(SQLiteVersion(number: 3_015_002).description == "SQLite 3.15.2")
    }

    @Test func `a feature that the engine lacks is a typed error with the required version`() {
        let missing = EngineInfo.UnsupportedFeature("VACUUM INTO", requiredVersion: SQLiteVersion(major: 3, minor: 27))
        #expect(
            missing.description
                == "VACUUM INTO needs SQLite 3.27.0 or later; the linked engine is \(EngineInfo.linked.sqliteVersion)")
        #expect(
            EngineInfo.UnsupportedFeature("X", requiredVersion: nil).description.hasPrefix(
                "X is not part of the linked engine"))
        #expect { try EngineInfo.require(99, 0, for: "X") } throws: {
            let error = $0 as? VaultError
            let cause = error?.cause as? EngineInfo.UnsupportedFeature
            return error?.code == .unsupported && cause?.feature == "X" && cause?.description == error?.message
        }
        #expect(throws: Never.self) { try EngineInfo.require(3, 0, for: "X") }
    }
}
