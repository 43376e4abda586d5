import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A repository gets a new key: what an old secret or its key can no longer do, and what an interruption leaves.
@Suite(.limited) struct KeyRotationTests {
    let scratch = Scratch()
    var store: DirectoryStore { DirectoryStore(scratch.path("repository")) }
    let config = "repository.json"

    func secret(_ text: String) throws -> RepositorySecret { try .quick(text) }

    func local(_ state: String? = "state") -> LocalDirectories {
        LocalDirectories(state: state.map(scratch.path), cache: scratch.path("cache"), spool: scratch.path("spool"))
    }

    func open(_ text: String, _ store: (any ObjectStore)? = nil, state: String? = nil) async throws -> Repository {
        try await Repository.open(store ?? self.store, secret: secret(text), local: local(state))
    }

    func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        await StoreCalls.code { try await body() }
    }

    /// Three snapshots, one forgotten, with every kind of document but segments, and two secrets.
    @discardableResult
    func filled(_ store: (any ObjectStore)? = nil) async throws -> Repository {
        let store = store ?? self.store
        let repository = try await WritableRepository.openOrCreate(
            store, secret: secret("a"), local: local(nil)).repository
        var image = try TestImage(scratch.path("a.db"), blocks: 40)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        var policy = RetentionPolicy()
        policy.last = 2
        _ = try await repository.writable().forget(policy)
        try await repository.writable().prune()
        _ = try await repository.check()
        _ = try await repository.writable().addSecret(secret("b"), name: "kept")
        return try await open("b", store)
    }

    func rotate(_ repository: Repository, _ text: String = "b") async throws -> KeyRotation {
        try await repository.writable().rotateKey(secret: secret(text))
    }

    /// The documents that have a code of a repository's key, of those that have to.
    func sealed(_ store: any ObjectStore) async throws -> [String: String] {
        var found: [String: String] = [:]
        for object in try await store.list("")
        where ["snapshots", "forgotten", "verified", "fences", "segments"].contains(object.name.prefix { $0 != "/" })
            || object.name == "doomed.json"
        {
            let lines = try await store.get(object.name).split(separator: 10)
            found[object.name] = String(decoding: lines[2], as: UTF8.self)
        }
        return found
    }

    @Test
    func `only the given secret opens the repository afterwards, everything in it is intact, and packs are untouched`()
        async throws
    {
        let old = try await filled()
        let packs = try await store.list("data/") + store.list("tree/")
        let codes = try await sealed(store)
        let ids = try await old.snapshots().map(\.id)
        let result = try await rotate(old)
        #expect(result.documents == codes.count && !result.isContinued && result.warnings == [])
        #expect(result.slot.name == "kept")
        #expect(try await store.list("data/") + store.list("tree/") == packs)
        let now = try await sealed(store)
        #expect(Set(now.keys) == Set(codes.keys) && now.allSatisfy { codes[$0] != $1 })
        #expect(await code { _ = try await open("a") } == .keyRejected)
        let new = try await open("b", state: "state")
        #expect(new.secrets.slots == [result.slot])
        #expect(try await new.snapshots().map(\.id) == ids)
        var options = CheckOptions()
        options.readsData = true
        #expect(try await new.check(options).problems == [])
        try await new.snapshot(try TestImage(scratch.path("a.db"), blocks: 40))
        #expect(try await new.snapshots().warnings == [])
        #expect(try await new.writable().addSecret(secret("c"), name: "").number > result.slot.number)
    }

    @Test func `what the old key authenticated is a forgery afterwards`() async throws {
        let old = try await filled()
        var before: [String: [UInt8]] = [:]
        for name in try await sealed(store).keys { before[name] = try await store.get(name) }
        _ = try await rotate(old)
        for (name, bytes) in before {
            let new = try await store.get(name)
            try await store.put(name, bytes: bytes, condition: .none)
            #expect(try await !open("b").check().problems.isEmpty, "\(name)")
            try await store.put(name, bytes: new, condition: .none)
        }
        #expect(try await open("b").check().problems == [])
    }

    @Test func `who opened the repository before cannot write until it is opened again`() async throws {
        let old = try await filled()
        _ = try await rotate(old)
        let codes = try await sealed(store)
        let image = try TestImage(scratch.path("a.db"), blocks: 40)
        #expect(await code { try await old.snapshot(image) } == .busy)
        #expect(await code { try await old.writable().prune() } == .busy)
        #expect(await code { _ = try await old.writable().addSecret(secret("c")) } == .busy)
        #expect(await code { _ = try await rotate(old) } == .busy)
        #expect(try await sealed(store) == codes)
        try await open("b").snapshot(image)
    }

    @Test func `a repository in use keeps its key, and a wrong secret changes nothing`() async throws {
        let hooked = HookedStore(store)
        let old = try await filled(hooked)
        let image = try TestImage(scratch.path("a.db"), blocks: 40)
        let before = try await store.get(config)
        let once = OnceOnly()
        // While a snapshot is being stored.
        hooked.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("snapshots/") else { return }
            await once {
                #expect(await self.code { _ = try await self.rotate(self.open("b")) } == .busy)
            }
        })
        try await old.snapshot(image)
        hooked.setHooks()
        #expect(try await store.get(config) == before)
        #expect(await code { _ = try await rotate(old, "c") } == .keyRejected)
        #expect(try await store.get(config) == before)
        _ = try await rotate(old)
    }

    /// At each request.
    @Test(arguments: FaultyStore.Fault.allCases)
    func `an interrupted change leaves a repository that the secret opens, and the next one completes it`(
        fault: FaultyStore.Fault
    ) async throws {
        var states: Set<Bool> = []
        for call in 1...200 {
            let folder = DirectoryStore(scratch.path("r\(call)"))
            try await filled(folder)
            let faulty = FaultyStore(folder)
            let repository = try await open("b", faulty)
            faulty.fail(at: call, fault)
            let failed = await code { _ = try await rotate(repository) }
            let isOver = faulty.count < call
            faulty.fail(at: nil)
            let again = try await open("b", folder)
            #expect(try await again.snapshots().count == 2)
            if failed != nil {
                #expect(try await again.check().problems == [], "\(call)")
                // A lease whose release failed ends at once for the process that took it.
                let completed = try await rotate(again)
                states.insert(completed.isContinued)
                #expect(completed.warnings == [])
            }
            let done = try await open("b", folder)
            #expect(try await done.check().problems == [] && done.secrets.slots.count == 1)
            #expect(await code { _ = try await open("a", folder) } == .keyRejected)
            if isOver { break }
            try #require(call < 200)
        }
        #expect(states == [true, false])
    }

    /// By somebody who kept the old key, or a copy of the store: it opens with the secret that the repository still has.
    @Test func `a repository of before is refused by machines that saw the new key`() async throws {
        let old = try await filled()
        let before = try await store.get(config)
        _ = try await open("b", state: "seen")
        _ = try await rotate(old)
        let after = try await store.get(config)
        _ = try await open("b", state: "seen")
        try await store.put(config, bytes: before, condition: .none)
        #expect(await code { _ = try await open("b", state: "seen") } == .damaged)
        #expect(await code { _ = try await open("a", state: "seen") } == .damaged)
        #expect(await code { _ = try await Repository.open(store, local: local("seen")) } == .damaged)
        try await store.put(config, bytes: after, condition: .none)
        _ = try await open("b", state: "seen")
    }

    /// Also one of a database without snapshots, where no repair would look for another reason.
    @Test(arguments: [nil, "verified/" + String(repeating: "f", count: 32)])
    func `a forged document of before is not taken over`(place: String?) async throws {
        let old = try await filled()
        let last = try #require(try await store.list("snapshots/").last?.name)
        let name = place ?? last
        let lines = String(decoding: try await store.get(last), as: UTF8.self).split(separator: "\n").map(String.init)
        let body = lines[0].replacing("a.db", with: "b.db") + "\n"
        let hash = Hash256(of: Array(body.utf8)).hexadecimal
        try await store.put(name, bytes: Array("\(body)sha256 \(hash)\n\(lines[2])\n".utf8), condition: .none)
        let result = try await rotate(old)
        #expect(result.warnings.map(\.path) == [name])
        if place == nil { #expect(try await !open("b").check().problems.isEmpty) }
        // It may have been misread: only once it was set aside is the old key given up.
        #expect(try await open("b").secrets.isRotationUnfinished)
        _ = try await open("b").writable().repair()
        let completed = try await rotate(open("b"))
        #expect(completed.isContinued && completed.warnings == [])
        #expect(try await !open("b").secrets.isRotationUnfinished)
        #expect(await code { _ = try await open("a") } == .keyRejected)
    }

    /// In the middle, and in the code at the end.
    @Test(arguments: ["snapshots/", "forgotten/", "verified/"], [false, true])
    func `H-REP-27: a document that was misread once gets the new key`(kind: String, inCode: Bool) async throws {
        _ = try await filled()
        let left = Locked(1)
        let misreading = AlteredStore.misreading(store, kind, left: left) { inCode ? $0 - 10 : $0 / 2 }
        let result = try await rotate(open("b", misreading))
        #expect(left.value == 0 && result.warnings == [])
        let new = try await open("b")
        #expect(!new.secrets.isRotationUnfinished)
        #expect(try await new.snapshots().warnings == [])
        #expect(try await new.check().problems == [])
    }

    @Test func `H-REP-27: what is misread each time keeps its code, and the old key until the change is repeated`()
        async throws
    {
        _ = try await filled()
        let misreading = AlteredStore.misreading(store, "snapshots/", left: Locked(.max))
        let result = try await rotate(open("b", misreading))
        let manifests = try await store.list("snapshots/").map(\.name)
        #expect(result.warnings.map(\.path).sorted() == manifests)
        #expect(result.warnings.allSatisfy { $0.severity == .damage && $0.advice == .repairThenRepeat })
        let between = try await open("b")
        #expect(between.secrets.isRotationUnfinished)
        #expect(try await between.check().problems == [])
        #expect(try await between.snapshots().count == 2)
        let completed = try await rotate(between)
        #expect(completed.isContinued && completed.documents == manifests.count && completed.warnings == [])
        let done = try await open("b")
        #expect(!done.secrets.isRotationUnfinished)
        #expect(try await done.check().problems == [])
    }

    /// In the first bytes, which have its document, or when all of it is read.
    @Test(arguments: ["get", "fetch"], [1, Int.max])
    func `H-REP-27: a segment whose frames were misread is not stored like that`(call: String, times: Int) async throws {
        let segments = SegmentTests()
        let repository = try await segments.repository()
        let followed = try await SegmentTests.Followed(segments.scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        var seen: [(Int64, Date)] = []
        for value in 1...3 {
            try followed.insert(value)
            seen.append((Int64(value), try #require(try await followed.poll())))
        }
        await followed.writer.close()
        let secret = try self.secret("secret")
        let left = Locked(times)
        let misreading = AlteredStore.misreading(repository.store, "segments/", in: [call], left: left)
        let far = LocalDirectories(
            state: nil, cache: segments.scratch.path("far"), spool: segments.scratch.path("far-spool"))
        let result = try await Repository.open(misreading, secret: secret, local: far).writable().rotateKey(secret: secret)
        #expect(left.value < times)
        // The first bytes are read for the document: a wrong frame behind it is not taken over.
        let isWhole = times == 1 || call == "get"
        #expect(result.warnings.isEmpty == isWhole)
        let new = try await segments.repository()
        #expect(new.secrets.isRotationUnfinished == !isWhole)
        var options = CheckOptions()
        options.readsData = true
        #expect(try await new.check(options).problems == [])
        for (value, time) in seen { #expect(try await segments.rows(new, .at(time)) == value) }
    }

    @Test func `segments and the note of a follower get the new key, and none is made while it follows`() async throws {
        let segments = SegmentTests()
        let repository = try await segments.repository()
        let followed = try await SegmentTests.Followed(segments.scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        var seen: [(Int64, Date)] = []
        for value in 1...4 {
            try followed.insert(Int(value))
            seen.append((Int64(value), try #require(try await followed.poll())))
        }
        let secret = try self.secret("secret")
        #expect(await code { _ = try await repository.writable().rotateKey(secret: secret) } == .busy)
        #expect(try await repository.store.get(config).count < 500)
        await followed.writer.close()
        let stored = try await repository.store.list("segments/")
        let result = try await repository.writable().rotateKey(secret: secret)
        #expect(result.warnings == [] && result.bytes > stored.map(\.size).reduce(0, +))
        #expect(try await repository.store.list("segments/").map(\.size) == stored.map(\.size))
        // An old follower cannot continue.
        #expect(await code { _ = try await SegmentWriter.open(repository.writable(), database: "a.db") } == .busy)
        let new = try await segments.repository()
        for (value, time) in seen { #expect(try await segments.rows(new, .at(time)) == value) }
        var options = CheckOptions()
        options.readsData = true
        #expect(try await new.check(options).problems == [])
        // On a machine that remembers nothing, only the note and the manifests say which segment was the newest.
        let newest = try #require(stored.last?.name)
        try await new.store.remove(newest)
        let elsewhere = try await Repository.open(new.store, secret: secret, local: local(nil))
        #expect(try await !elsewhere.check(options).problems.isEmpty)
    }

    // MARK: Joined segments

    /// A repository whose log is in joined segments, and the value to restore at times inside them.
    private struct Joined {
        let tests = CompactionTests()
        let repository: Repository
        let commits: [(value: Int64, time: Date)]

        init() async throws {
            repository = try await tests.repository()
            // The minute, and those after it: within them only the ends are left.
            let dated = try await tests.followed(repository, at: [0, 5, 15, 50, 70, 200, 205, 4000, 4001], day: 0)
            _ = try await repository.writable().compact(tests.policy())
            let ends: [Int64] = [4, 5, 7, 9]
            commits = dated.commits.filter { ends.contains($0.value) }
            let names = try await tests.names(repository)
            #expect(names.joined.count >= 2 && names.fine.count == 3)
        }

        /// The same repository in another directory.
        func copy(_ name: String) throws -> DirectoryStore {
            let path = tests.scratch.path(name)
            try FileManager.default.copyItem(atPath: tests.scratch.path("repository"), toPath: path)
            return DirectoryStore(path)
        }

        func open(_ store: any ObjectStore) async throws -> Repository {
            let local = LocalDirectories(
                state: nil, cache: tests.scratch.path("cache"), spool: tests.scratch.path("joined-spool"))
            return try await Repository.open(store, secret: .quick("secret"), local: local)
        }

        func rotate(_ repository: Repository) async throws -> KeyRotation {
            try await repository.writable().rotateKey(secret: .quick("secret"))
        }

        /// Expects every byte to be authentic, and every time to be restored, from joined segments alone.
        func expectWhole(_ repository: Repository, times: Int = .max, _ context: String = "") async throws {
            #expect(try await tests.problems(repository) == [], "\(context)")
            for (value, time) in commits.prefix(times) {
                #expect(try await tests.rows(repository, .at(time)) == value, "\(context)")
            }
        }
    }

    @Test func `joined segments get the new key, and times inside them are restored`() async throws {
        let joined = try await Joined()
        let store = joined.repository.store
        let stored = try await store.list("segments/")
        let codes = try await sealed(store)
        let result = try await joined.rotate(joined.repository)
        #expect(result.warnings == [] && result.documents == codes.count)
        #expect(try await store.list("segments/").map(\.size) == stored.map(\.size))
        let now = try await sealed(store)
        #expect(stored.allSatisfy { now[$0.name] != codes[$0.name] })
        let new = try await joined.tests.repository()
        try await joined.expectWhole(new)
        #expect(try await joined.tests.rows(new, .latest) == 9)
        // Joined segments are joined further.
        _ = try await new.writable().compact(joined.tests.policy(minutes: -400 * 86_400))
        #expect(try await joined.tests.problems(new) == [])
        #expect(try await joined.tests.rows(new, .latest) == 9)
    }

    /// At each request.
    @Test(arguments: FaultyStore.Fault.allCases)
    func `a change that is interrupted among joined segments loses no time, and is completed by the next one`(
        fault: FaultyStore.Fault
    ) async throws {
        let joined = try await Joined()
        var continued = 0
        for call in 1...300 {
            let folder = try joined.copy("r\(call)")
            let faulty = FaultyStore(folder)
            let repository = try await joined.open(faulty)
            faulty.fail(at: call, fault)
            let failed = await code { _ = try await joined.rotate(repository) }
            let isOver = faulty.count < call
            let again = try await joined.open(folder)
            if failed != nil {
                try await joined.expectWhole(again, times: 2, "interrupted at \(call)")
                let completed = try await joined.rotate(again)
                #expect(completed.warnings == [] && completed.isContinued == again.secrets.isRotationUnfinished, "\(call)")
                if completed.isContinued { continued += 1 }
            }
            let done = try await joined.open(folder)
            #expect(!done.secrets.isRotationUnfinished)
            try await joined.expectWhole(done, times: isOver ? .max : 0, "completed after \(call)")
            if isOver { break }
            try #require(call < 300)
        }
        #expect(continued > 20)
    }

    @Test func `a compaction at work when the key is changed stores nothing under the old key`() async throws {
        let tests = CompactionTests()
        let hooked = HookedStore(DirectoryStore(tests.scratch.path("repository")))
        let repository = try await tests.repository(hooked)
        _ = try await tests.followed(repository, at: Array(0..<30), day: 0)
        let other = try await tests.repository()
        let once = OnceOnly()
        // It has read segments, which it is about to join.
        hooked.setHooks(after: { call, name in
            guard call == "fetch" || call == "get", name.hasPrefix("segments/") else { return }
            try await once { _ = try await other.writable().rotateKey(secret: self.secret("secret")) }
        })
        #expect(await code { try await repository.writable().compact(tests.policy()) } == .busy)
        hooked.setHooks()
        let new = try await tests.repository()
        #expect(try await tests.names(new).joined == [])
        #expect(try await tests.problems(new) == [])
        #expect(try await new.writable().compact(tests.policy()).joined > 0)
        #expect(try await tests.rows(new, .latest) == 30)
        #expect(try await tests.problems(new) == [])
    }

    /// Its request was sent before the change, and reached the store in the middle of it.
    @Test func `a joined segment that is stored while documents get the new key gets it, too`() async throws {
        let tests = CompactionTests()
        let folder = DirectoryStore(tests.scratch.path("repository"))
        let repository = try await tests.repository(folder)
        _ = try await tests.followed(repository, at: Array(0..<30), day: 0)
        let before = try await folder.list("segments/").map(\.name)
        _ = try await repository.writable().compact()
        var late: [String: [UInt8]] = [:]
        for object in try await folder.list("segments/") where !before.contains(object.name) {
            late[object.name] = try await folder.get(object.name)
            try await folder.remove(object.name)
        }
        #expect(!late.isEmpty)
        let (once, objects) = (OnceOnly(), late)
        let hooked = HookedStore(folder)
        let rotating = try await tests.repository(hooked)
        hooked.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            try await once {
                for (name, bytes) in objects { try await folder.put(name, bytes: bytes, condition: .absent) }
            }
        })
        _ = try await rotating.writable().rotateKey(secret: secret("secret"))
        let new = try await tests.repository()
        #expect(try await tests.problems(new) == [])
        #expect(try await folder.list("segments/").count == before.count + late.count)
    }

    @Test func `a check that ends after the key was changed does not record under the old key`() async throws {
        let hooked = HookedStore(store)
        let old = try await filled(hooked)
        let once = OnceOnly()
        hooked.setHooks(after: { call, name in
            guard call == "get", name.hasPrefix("data/") else { return }
            try await once { _ = try await self.rotate(self.open("b")) }
        })
        #expect(try await !old.check().isRecorded)
        hooked.setHooks()
        let new = try await open("b")
        #expect(try await new.check().problems == [])
        #expect(try await new.snapshots().warnings == [])
    }

    @Test func `a change that is not completed is noticed by everything that lists, and by nothing once it is`()
        async throws
    {
        let hooked = HookedStore(store)
        let old = try await filled(hooked)
        #expect(!old.secrets.isRotationUnfinished)
        #expect(try await old.snapshots().warnings == [])
        hooked.setHooks(before: { call, name in
            if call == "put", name.hasPrefix("snapshots/") { throw VaultError(.io, "the store does not answer") }
        })
        #expect(await code { _ = try await rotate(old) } == .io)
        for repository in [try await open("b"), try await Repository.open(store, local: local(nil))] {
            #expect(repository.secrets.isRotationUnfinished)
            let list = try await repository.snapshots()
            #expect(list.count == 2)
            let notices = list.warnings.filter { $0.path == config }
            #expect(notices.map(\.severity) == [.notice] && notices.map(\.advice) == [.completeRotation])
            let report = try await repository.check()
            #expect(report.warnings == notices)
        }
        #expect(try await open("b").check().problems == [])
        _ = try await rotate(open("b"))
        let done = try await open("b")
        #expect(!done.secrets.isRotationUnfinished)
        #expect(try await done.snapshots().warnings == [])
        #expect(try await done.check().warnings == [])
    }
}
