import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Several secrets of one repository: added, changed and removed without touching anything but `repository.json`.
@Suite(.limited) struct RepositorySecretTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }
    let config = "repository.json"

    func secret(_ text: String) throws -> RepositorySecret { try .quick(text) }

    func local(_ state: String? = "state") -> LocalDirectories {
        LocalDirectories(state: state.map(scratch.path), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    func create(_ text: String, _ store: (any ObjectStore)? = nil) async throws -> Repository {
        try await WritableRepository.openOrCreate(store ?? self.store, secret: secret(text), local: local()).repository
    }

    func open(_ text: String?, _ store: (any ObjectStore)? = nil, state: String = "state") async throws -> Repository {
        try await Repository.open(store ?? self.store, secret: text.map(secret), local: local(state))
    }

    @discardableResult
    func add(_ text: String, to repository: Repository, name: String = "") async throws -> Int {
        try await repository.writable().addSecret(secret(text), name: name).number
    }

    /// Which of these secrets open the repository, and by which slot.
    func opening(_ texts: [String], _ store: (any ObjectStore)? = nil) async throws -> [String: Int] {
        var found: [String: Int] = [:]
        for text in texts {
            do { found[text] = try await open(text, store, state: "other").secrets.opened } catch let error as VaultError {
                guard error.code == .keyRejected else { throw error }
            }
        }
        return found
    }

    func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        await StoreCalls.code { try await body() }
    }

    func json() async throws -> [String: Any] {
        let line = try await store.get(config).prefix { $0 != UInt8(ascii: "\n") }
        return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }

    @Test func `each secret opens the repository and writes to it until it is removed, and nothing else is touched`()
        async throws
    {
        let repository = try await create("a")
        let image = try TestImage(scratch.path("a.db"), blocks: 20)
        try await repository.snapshot(image)
        let before = try await store.list("").filter { $0.name != config }
        #expect(try await add("b", to: repository, name: "laptop") == 2)
        #expect(try await add("c", to: open("b")) == 3)
        let listed = try await open("c").secrets.slots
        #expect(listed.map(\.number) == [1, 2, 3] && listed.map(\.name) == ["", "laptop", ""])
        #expect(try await opening(["a", "b", "c", "d"]) == ["a": 1, "b": 2, "c": 3])
        try await open("b").writable().removeSecret(1)
        #expect(try await opening(["a", "b", "c"]) == ["b": 2, "c": 3])
        #expect(try await open("c").writable().changeSecret(2, to: secret("d"), name: nil).number == 5)
        #expect(try await opening(["a", "b", "c", "d"]) == ["c": 3, "d": 5])
        #expect(try await open("d").secrets.slots.map(\.name) == ["", "laptop"])
        #expect(try await store.list("").filter { $0.name != config } == before)
        for text in ["c", "d"] {
            let opened = try await open(text)
            try await opened.snapshot(image)
            #expect(try await opened.check().problems == [])
        }
        #expect(try await open("c").snapshots().count == 3)
    }

    @Test func `versions without slots open a repository by its first secret, and refuse one without it`() async throws
    {
        let repository = try await create("a")
        let first = try await json()
        try await add("b", to: repository)
        let both = try await json()
        #expect(both["secret"] as? NSDictionary == first["secret"] as? NSDictionary)
        #expect(both["features"] as? [String] == [])
        try await open("b").writable().removeSecret(1)
        let second = try await json()
        #expect(second["secret"] == nil && second["features"] as? [String] == ["secret-slots"])
        // Without any feature it would be taken for a repository without a secret.
        #expect(try await open(nil).hasSecret)
        #expect(await code { _ = try await WritableRepository.openOrCreate(store, local: local()) } == .keyRejected)
    }

    @Test func `the last secret cannot be removed, whichever it is`() async throws {
        let repository = try await create("a")
        #expect(await code { try await repository.writable().removeSecret(1) } == .usage)
        try await add("b", to: repository)
        try await open("b").writable().removeSecret(1)
        #expect(await code { try await open("b").writable().removeSecret(2) } == .usage)
        #expect(await code { try await open("b").writable().removeSecret(1) } == .noInput)
        #expect(try await opening(["a", "b"]) == ["b": 2])
    }

    @Test func `a secret that opens the repository already, one too many, and a hidden name are refused`() async throws
    {
        let repository = try await create("a")
        #expect(await code { try await add("a", to: repository) } == .usage)
        try await add("b", to: repository)
        #expect(await code { _ = try await open("a").writable().changeSecret(1, to: secret("b")) } == .usage)
        for name in ["\u{1B}[2J", "\u{202E}abc", String(repeating: "é", count: 51)] {
            #expect(await code { try await add("x", to: repository, name: name) } == .usage)
        }
        for number in 3...17 { #expect(try await add("\(number)", to: open("b"), name: "é\u{4E2D}") == number) }
        #expect(await code { try await add("18", to: open("b")) } == .usage)
        #expect(try await opening(["a", "17", "18"]) == ["a": 1, "17": 17])
        #expect(try await store.get(config).count < 16 << 10)
    }

    @Test func `a repository without a secret gets none, and without the secret none is changed`() async throws {
        let plain = try await WritableRepository.openOrCreate(store, local: local()).repository
        #expect(plain.secrets.slots == [] && plain.secrets.opened == nil)
        #expect(await code { try await add("a", to: plain) } == .unsupported)
        let other = DirectoryStore(scratch.path("other"))
        _ = try await create("a", other)
        let blind = try await open(nil, other)
        #expect(blind.secrets.slots.map(\.number) == [1])
        #expect(await code { try await add("b", to: blind) } == .keyRejected)
        #expect(await code { try await blind.writable().removeSecret(1) } == .keyRejected)
    }

    @Test func `a passphrase is derived with 600,000 rounds, in a new repository, a new slot and under a new key`() async throws {
        let made = try RepositorySecret.passphrase(Array("a".utf8))
        let added = try RepositorySecret.passphrase(Array("b".utf8))
        let repository = try await WritableRepository.openOrCreate(store, secret: made, local: local()).repository
        #expect(try await (json()["secret"] as? [String: Any])?["iterations"] as? Int == 600_000)
        try await repository.writable().addSecret(added)
        let slots = try #require(try await json()["secrets"] as? [[String: Any]])
        #expect(slots.map { $0["iterations"] as? Int } == [600_000])
        _ = try await Repository.open(store, secret: added, local: local()).writable().rotateKey(secret: added)
        let rotated = try #require(try await json()["secrets"] as? [[String: Any]])
        #expect(rotated.map { $0["iterations"] as? Int } == [600_000])
    }

    @Test func `a random secret beside a passphrase opens without a derivation`() async throws {
        let repository = try await create("a")
        let random = [UInt8](repeating: 7, count: 32)
        #expect(try await repository.writable().addSecret(.raw(random)).isRandom)
        let opened = try await Repository.open(store, secret: .raw(random), local: local())
        #expect(opened.secrets.opened == 2 && opened.isAuthenticated)
        let slots = try #require(try await json()["secrets"] as? [[String: Any]])
        #expect(slots.map { $0["iterations"] as? Int } == [1])
    }

    @Test func `writers at the same time all succeed`() async throws {
        let repository = try await create("a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 { group.addTask { try await add("w\(number)", to: repository) } }
            try await group.waitForAll()
        }
        let all = (1...8).map { "w\($0)" } + ["a"]
        #expect(try await opening(all).count == 9)
        #expect(Set(try await open("a").secrets.slots.map(\.number)) == Set(1...9))
    }

    /// The first writer has read the object when the second one replaces it.
    @Test(arguments: [true, false])
    func `what another writer changes meanwhile is kept, and neither leaves the repository without a secret`(
        hasConditions: Bool
    ) async throws {
        let hooked = HookedStore(store, conditional: hasConditions)
        let repository = try await create("a", hooked)
        let once = OnceOnly()
        // Without conditions the other one comes after the write, and is found when the object is read again.
        let step: HookedStore.Hook = { call, name in
            guard call == "put", name == "repository.json" else { return }
            try await once { _ = try await self.add("b", to: self.open("a")) }
        }
        hooked.setHooks(before: hasConditions ? step : nil, after: hasConditions ? nil : step)
        try await add("c", to: repository)
        hooked.setHooks()
        #expect(Set(try await opening(["a", "b", "c"]).keys) == ["a", "b", "c"])
        #expect(try await open("a").secrets.slots.count == 3)
        let slots = try await opening(["b", "c"])
        try await open("b").writable().removeSecret(1)

        let (b, c) = (try #require(slots["b"]), try #require(slots["c"]))
        let second = OnceOnly()
        let remover = try await open("b", hooked)
        hooked.setHooks(before: { call, name in
            guard call == "get", name == "repository.json" else { return }
            try await second { try await self.open("c").writable().removeSecret(b) }
        })
        #expect(await code { try await remover.writable().removeSecret(c) } == .usage)
        #expect(try await opening(["a", "b", "c"]) == ["c": c])
    }

    /// At each request of each change.
    @Test(arguments: FaultyStore.Fault.allCases)
    func `a store that fails in between leaves the old secrets or the new ones`(fault: FaultyStore.Fault) async throws {
        let operations: [(String, Set<String>, (Repository) async throws -> Void)] = [
            ("add", ["a", "b", "c"], { try await add("c", to: $0) }),
            ("remove", ["a"], { try await $0.writable().removeSecret(2) }),
            ("change", ["a", "c"], { _ = try await $0.writable().changeSecret(2, to: secret("c"), name: nil) }),
        ]
        for (name, wanted, operation) in operations {
            for call in 1...20 {
                let folder = DirectoryStore(scratch.path("\(name)\(call)"))
                try await add("b", to: create("a", folder))
                let faulty = FaultyStore(folder)
                let repository = try await Repository.open(faulty, secret: secret("a"), local: local(nil))
                faulty.fail(at: call, fault)
                let failed = await code { try await operation(repository) }
                let isOver = faulty.count < call
                faulty.fail(at: nil)
                let found = Set(try await opening(["a", "b", "c"], folder).keys)
                #expect(found == wanted || (failed == .io && found == ["a", "b"]), "\(name) \(call): \(found)")
                if failed != nil {
                    // Again: it is done, or it was.
                    let again = await code {
                        try await operation(Repository.open(folder, secret: secret("a"), local: local(nil)))
                    }
                    let wasDone = found == wanted && (again == .usage || again == .noInput)
                    #expect(again == nil || wasDone, "\(name) \(call)")
                    #expect(Set(try await opening(["a", "b", "c"], folder).keys) == wanted)
                }
                if isOver { break }
                try #require(call < 20)
            }
        }
    }

    @Test func `every changed byte is noticed, and a repair restores the object`() async throws {
        try await add("b", to: create("a"), name: "laptop")
        let whole = try await store.get(config)
        for place in whole.indices {
            for flip in [UInt8(1), 0x80] {
                var changed = whole
                changed[place] ^= flip
                try await store.put(config, bytes: changed, condition: .none)
                let found = await code { _ = try await open("b", state: "new\(place)") }
                #expect(found == .damaged || found == .keyRejected || found == .unsupported, "\(place)")
            }
            if place % 101 == 0 {
                let action = try await Repository.restoreIdentity(
                    store, secret: secret("b"), local: local("none\(place)"))
                #expect(action?.kind == .restored)
                #expect(try await store.get(config) == whole)
                try FileManager.default.removeItem(atPath: scratch.path("repository/damaged"))
            }
            try await store.put(config, bytes: whole, condition: .none)
        }
        #expect(try await Repository.restoreIdentity(store, secret: secret("a"), local: local()) == nil)
    }

    /// By somebody without a secret, who recomputes the hash and has a key of their own.
    @Test func `slots cannot be added, swapped or taken from another repository without a secret`() async throws {
        let repository = try await create("a")
        try await add("b", to: repository)
        let foreign = DirectoryStore(scratch.path("foreign"))
        try await add("b", to: create("x", foreign))
        let forged = try await foreign.get(config)
        let real = try await store.get(config)
        func line(_ bytes: [UInt8]) throws -> [String: Any] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(bytes.prefix { $0 != 10 })) as? [String: Any])
        }
        let code = String(decoding: forged, as: UTF8.self).split(separator: "\n")[2]
        for member in ["secrets", "id", "secret", "generation"] {
            var json = try line(real)
            json[member] = try line(forged)[member] as Any? ?? 7
            if member == "generation" { json[member] = 99 }
            let body = try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys]) + [10]
            let hash = Hash256(of: Array(body)).hexadecimal
            try await store.put(config, bytes: Array(body) + Array("sha256 \(hash)\n\(code)\n".utf8), condition: .none)
            for text in ["a", "b"] {
                let found = await self.code { _ = try await open(text, state: "state-\(member)") }
                #expect(found == .damaged || found == .keyRejected, "\(member) \(text)")
            }
        }
    }

    @Test func `an older object is noticed by machines that saw a newer one, until it is accepted`() async throws {
        let repository = try await create("a")
        let first = try await store.get(config)
        try await add("b", to: repository)
        let second = try await store.get(config)
        try await open("b", state: "far").writable().removeSecret(1)
        let newest = try await store.get(config)
        _ = try await open("b")
        for old in [first, second] {
            try await store.put(config, bytes: old, condition: .none)
            #expect(await code { _ = try await open("a") } == .damaged)
        }
        #expect(await code { _ = try await open("b") } == .damaged)
        #expect(await code { _ = try await open("b", state: "far") } == .damaged)
        _ = try await Repository.open(store, secret: secret("b"), local: local(), acceptsReplacement: true)
        _ = try await open("b")
        try await store.put(config, bytes: newest, condition: .none)
        _ = try await open("b")
        #expect(await code { _ = try await open("a") } == .keyRejected)
    }

    @Test func `a lost object is restored with its slots by a machine that used it`() async throws {
        let repository = try await create("a")
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 4))
        try await add("b", to: repository)
        let whole = try await store.get(config)
        _ = try await open("b")
        try await store.remove(config)
        #expect(await code { _ = try await open("b") } == .damaged)
        _ = try await Repository.restoreIdentity(store, secret: secret("b"), local: local())
        #expect(try await store.get(config) == whole)
    }

    @Test func `a copy has the secrets of its first run, and its own from then on`() async throws {
        let repository = try await create("a")
        try await repository.snapshot(try TestImage(scratch.path("a.db"), blocks: 4))
        try await add("b", to: repository)
        let far = DirectoryStore(scratch.path("far"))
        _ = try await open("b").writable().copy(to: far)
        try await open("b").writable().removeSecret(1)
        try await add("c", to: open("b"))
        #expect(try await opening(["a", "b", "c"], far) == ["a": 1, "b": 2])
        try await open("c").snapshot(try TestImage(scratch.path("a.db"), blocks: 4))
        #expect(try await open("c").writable().copy(to: far).snapshots == 1)
        #expect(try await open("a", far).check().problems == [])
    }

    @Test func `what a wrong secret costs is limited, whatever the object says`() async throws {
        try await add("b", to: create("a"))
        var json = try await json()
        var slots = try #require(json["secrets"] as? [[String: Any]])
        slots[0]["iterations"] = 5_000_000
        let many = (0..<5).map { number in slots[0].merging(["number": number + 2]) { $1 } }
        for list in [many, Array(repeating: slots[0], count: 17), [slots[0], slots[0]]] {
            json["secrets"] = list
            let body = try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys]) + [10]
            let hash = Hash256(of: Array(body)).hexadecimal
            try await store.put(config, bytes: Array(body) + Array("sha256 \(hash)\n".utf8), condition: .none)
            #expect(await code { _ = try await open("b", state: "new") } == .damaged)
        }
    }
}
