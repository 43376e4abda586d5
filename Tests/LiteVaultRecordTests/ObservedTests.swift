import Foundation
import LiteVault
import LiteVaultPool
import Observation
import Testing

extension City: Identifiable {}

// The limit is for what hangs: among all tests, what suspends may continue after many minutes.
@Suite(.timeLimit(.minutes(25))) struct ObservedTests {
    private func queue() async throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(City.schema)
            for name in ["Bonn", "Ulm"] {
                var city = City(name: name)
                try city.insert(db)
            }
        }
        return queue
    }

    /// Runs a write, and waits until what `read` reads has changed after it.
    @MainActor private func change<T>(
        of read: () -> T, _ write: () async throws -> Void
    ) async throws -> T {
        let (changes, continuation) = AsyncStream<Bool>.makeStream()
        withObservationTracking {
            _ = read()
        } onChange: {
            // Stops the program on another actor.
            MainActor.preconditionIsolated()
            continuation.yield(true)
        }
        try await write()
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == true)
        // The change is made on this actor, without a pause after it was announced.
        return read()
    }

    @Test @MainActor func `the value is there at once, and changes on the main actor`() async throws {
        let queue = try await queue()
        let cities = try City.order(City.name).observed(in: queue)
        #expect(cities.value.map(\.name) == ["Bonn", "Ulm"])
        let after = try await change(of: { cities.value }) {
            var city = City(name: "Köln")
            try await city.insert(queue)
        }
        #expect(after.map(\.name) == ["Bonn", "Köln", "Ulm"])
        let last = try await change(of: { cities.value }) { try await City.filter(City.name == "Ulm").deleteAll(queue) }
        #expect(last.map(\.name) == ["Bonn", "Köln"])
    }

    @Test @MainActor func `statements and relations are observed as well`() async throws {
        let queue = try await queue()
        let count = try Observed(queue) { try $0.value("SELECT count(*) FROM city", as: Int.self) }
        let rows = try City.annotated(with: City.population + 0).observed(in: queue)
        #expect(count.value == 2 && rows.value.count == 2)
        #expect(try await change(of: { count.value }) { try await City.query.deleteAll(queue) } == 0)
    }

    @Test @MainActor func `changes made while the main actor is busy are coalesced`() async throws {
        let queue = try await queue()
        let count = try Observed(queue) { try $0.value("SELECT count(*) FROM city", as: Int.self) }
        var seen: [Int] = []
        var isFirst = true
        while seen.last != 52 {
            let value = try await change(of: { count.value }) {
                if isFirst { try insertBlocking(50, in: queue) }
                isFirst = false
            }
            seen.append(value)
        }
        #expect(seen.count <= 2)
    }

    /// The calling actor does nothing else meanwhile.
    private func insertBlocking(_ count: Int, in queue: DatabaseQueue) throws {
        for number in 0..<count {
            var city = City(name: "city \(number)")
            try city.insert(queue)
        }
    }

    @Test @MainActor func `an equal value is no change`() async throws {
        let queue = try await queue()
        let names = try Observed(queue) { try $0.all("SELECT name FROM city ORDER BY name LIMIT 1", as: String.self) }
        let changed = Changes()
        withObservationTracking {
            _ = names.value
        } onChange: {
            changed.note()
        }
        try await queue.write { try $0.execute("UPDATE city SET name = 'Ulm 2' WHERE name = 'Ulm'") }
        let value = try await change(of: { names.value }) {
            #expect(changed.count == 0)
            try await queue.write { try $0.execute("UPDATE city SET name = 'Aach' WHERE name = 'Bonn'") }
        }
        #expect(value == ["Aach"])
    }

    @Test func `the observation ends with its owner`() async throws {
        let queue = try await queue()
        var cities: Observed<[City]>? = try City.query.observed(in: queue)
        #expect(cities?.value.count == 2)
        weak let released = cities
        while !queue.coordinator.isObserved { await Task.yield() }
        cities = nil
        while queue.coordinator.isObserved || released != nil { await Task.yield() }
    }

    @Test func `a value changes on the actor that asked for it`() async throws {
        let queue = try await queue()
        let screen = Screen()
        let isIsolated = try await screen.observe(queue)
        #expect(isIsolated)
    }

    @Test @MainActor func `an error ends the observation and keeps the value`() async throws {
        let queue = try await queue()
        let cities = try City.query.observed(in: queue)
        let failure = try await change(of: { cities.failure }) {
            try await queue.write { try $0.execute("DROP TABLE city") }
        }
        #expect(failure is DatabaseError)
        #expect(cities.value.count == 2)
        #expect(throws: DatabaseError.self) { try City.query.observed(in: queue) }
    }

    @Test func `lists come with what changed in them`() async throws {
        let queue = try await queue()
        var lists = City.order(City.name).values(in: queue).differences().makeAsyncIterator()
        let first = try await lists.next()
        #expect(first?.difference.inserted == [0, 1] && first?.list.count == 2)
        try await queue.write { db in
            try db.execute("UPDATE city SET name = 'Zell' WHERE name = 'Bonn'; INSERT INTO city (name) VALUES ('Aach')")
        }
        let second = try await lists.next()
        #expect(second?.list.map(\.name) == ["Aach", "Ulm", "Zell"])
        #expect(second?.difference.inserted == [0] && second?.difference.updated == [2])
        #expect(second?.difference.removed == [] && second?.difference.moved.count == 1)
    }

    @Test func `applying a difference to the old list gives the identities of the new one`() {
        struct Item: Identifiable, Equatable { var id: Int; var text: Int }
        var random = Generator(state: 7)
        for _ in 0..<2000 {
            let old = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                Item(id: .random(in: 0...9, using: &random), text: .random(in: 0...1, using: &random))
            }
            let new = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                Item(id: .random(in: 0...9, using: &random), text: .random(in: 0...1, using: &random))
            }
            let difference = ListDifference(from: old, to: new)
            var ids = old.map(\.id)
            for offset in (difference.removed + difference.moved.map(\.from)).sorted(by: >) { ids.remove(at: offset) }
            for offset in (difference.inserted + difference.moved.map(\.to)).sorted() {
                ids.insert(new[offset].id, at: offset)
            }
            #expect(ids == new.map(\.id))
            #expect(difference.isEmpty == (old == new))
        }
        let numbers = (0..<5).map { Item(id: $0, text: 0) }
        let rotated = ListDifference(from: numbers, to: Array(numbers[1...] + numbers[..<1]))
        #expect(rotated.moved == [ListDifference(from: numbers, to: Array(numbers[1...] + numbers[..<1])).moved[0]])
        #expect(rotated.moved.count == 1 && rotated.moved[0].from == 0 && rotated.moved[0].to == 4)
    }
}

/// An actor that is not the main one.
private actor Screen {
    func observe(_ queue: DatabaseQueue) async throws -> Bool {
        let count = try Observed(queue) { try $0.value("SELECT count(*) FROM city", as: Int.self) }
        let (changes, continuation) = AsyncStream<Bool>.makeStream()
        withObservationTracking {
            _ = count.value
        } onChange: { [self] in
            // Stops the program on another actor.
            preconditionIsolated()
            continuation.yield(true)
        }
        try await queue.write { try $0.execute("DELETE FROM city") }
        var iterator = changes.makeAsyncIterator()
        let isIsolated = await iterator.next()
        return isIsolated == true && count.value == 0
    }
}

private final class Changes: @unchecked Sendable {  // `stored` only under `lock`
    private let lock = NSLock()
    private var stored = 0

    var count: Int { lock.withLock { stored } }

    func note() { lock.withLock { stored += 1 } }
}

/// The same numbers in every run.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
