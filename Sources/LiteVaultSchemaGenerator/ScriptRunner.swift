/// Where each object of a schema was made: what diagnostics of later checks point to.
struct Origins {
    private var locations: [String: Location] = [:]

    /// The statement that made the object; the first statement of all for one that nobody saw being made.
    subscript(name: String) -> Location {
        locations[name.lowercased()] ?? locations.values.min() ?? Location(path: "schema.sql", line: 1, column: 1)
    }

    /// Remembers where the objects were made that were not there before.
    mutating func note(_ names: [String], at location: Location) {
        for name in names where locations[name.lowercased()] == nil { locations[name.lowercased()] = location }
    }
}

/// Runs scripts statement by statement.
struct ScriptRunner {
    private let database: MemoryDatabase

    init(_ database: MemoryDatabase) { self.database = database }

    /// - Throws: ``Diagnostics`` for the first statement that the engine refuses: what follows depends on it.
    func run(_ scripts: [Script]) throws -> Origins {
        var origins = Origins()
        for script in scripts { try run(script, &origins) }
        return origins
    }

    private func run(_ script: Script, _ origins: inout Origins) throws {
        let text = script.bytes.map { CChar(bitPattern: $0) } + [0]
        var offset = 0
        while true {
            let start = script.start(after: offset)
            do {
                let length = try text.withUnsafeBufferPointer { buffer in
                    try buffer.baseAddress.map { try database.runFirst($0 + offset) } ?? 0
                }
                let names = try database.rows("SELECT name FROM sqlite_master").compactMap { $0[0] }
                origins.note(names, at: script.location(at: start))
                guard length > 0 else { return }
                offset += length
            } catch let failure as MemoryDatabase.Failure {
                let place = failure.offset.map { offset + $0 } ?? nearby(failure.message, script, from: start)
                throw Diagnostics(script.location(at: place), failure.message)
            }
        }
    }

    /// Engines before 3.38 only quote the word they stumbled over: `near "TABEL": syntax error`.
    private func nearby(_ message: String, _ script: Script, from start: Int) -> Int {
        guard message.hasPrefix("near \""), let end = message.range(of: "\": ") else { return start }
        let word = Array(message[message.index(message.startIndex, offsetBy: 6)..<end.lowerBound].utf8)
        return (start..<max(start, script.bytes.count - word.count + 1)).first { offset in
            script.bytes[offset...].starts(with: word) && isWhole(word, at: offset, script.bytes)
        } ?? start
    }

    private func isWhole(_ word: [UInt8], at offset: Int, _ bytes: [UInt8]) -> Bool {
        func isLetter(_ byte: UInt8?) -> Bool {
            byte.map { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 >= 48 && $0 <= 57 || $0 == 95 || $0 > 127 } ?? false
        }
        guard isLetter(word.first) else { return true }
        let after = offset + word.count
        return !isLetter(offset > 0 ? bytes[offset - 1] : nil) && !isLetter(after < bytes.count ? bytes[after] : nil)
    }
}
