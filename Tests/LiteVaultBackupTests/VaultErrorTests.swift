import LiteVaultBackup
import Testing

@Suite(.limited) struct VaultErrorTests {
    @Test func `a description names the path, what happened and what to do`() {
        let error = VaultError(.busy, "is locked by another process", path: "a.db", remedy: "Try again.")
        #expect("\(error)" == "a.db: is locked by another process. Try again.")
        #expect("\(VaultError(.io, "It failed."))" == "It failed.")
    }

    @Test func `an error is caught by its code, whichever target declares it`() throws {
        func caught(_ code: VaultError.Code) throws -> String {
            do {
                throw VaultError(code, "x")
            } catch let error as VaultError where error.code == .conflict {
                return "of a repository"
            } catch let error as VaultError where error.code == .damaged {
                return "of all"
            }
        }
        #expect(try caught(.conflict) == "of a repository")
        #expect(try caught(.damaged) == "of all")
        #expect(throws: VaultError.self) { try caught(.busy) }
        #expect(VaultError.Code(rawValue: "missing") == .missing && "\(VaultError.Code.missing)" == "missing")
    }

    @Test func `advice is a remedy in the library's words, which a program can word itself`() {
        let error = VaultError(.damaged, "x", advice: .all([.text("Nothing was removed."), .listSnapshots]))
        #expect(error.remedy == "Nothing was removed. List the snapshots to see which ones exist.")
        #expect(error.advice?.text { $0 == .listSnapshots ? "Run it." : nil } == "Nothing was removed. Run it.")
        #expect(error.remedy?.contains("--") == false)
        #expect(VaultError(.damaged, "x", remedy: "Do y.").advice == .text("Do y."))
        #expect(VaultError(.damaged, "x").advice == nil)
    }
}
