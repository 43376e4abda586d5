internal import LiteVaultSystem

/// Reads the text of a keyring, strictly: what it accepts is exactly what a writer writes.
package struct KeyringParser {
    /// What is wrong, for a message.
    package struct Problem: Error, Equatable {
        package let line: Int
        package let expected: String
        /// Whether the first line is that of something else.
        var isAnotherKind = false
        /// Whether the first line is that of a keyring of another version.
        var isAnotherVersion = false
    }

    private var lines: [[UInt8]]
    private var next = 0

    private init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= KeyringDocument.Limit.fileSize else { throw Problem(line: 0, expected: "a smaller file") }
        let first = bytes.prefix(KeyringDocument.domain.utf8.count + 1).prefix { $0 != UInt8(ascii: "\n") }
        guard KeyringDocument.versions.contains(where: { first.elementsEqual("\(KeyringDocument.kind)\($0)".utf8) })
        else {
            let isKeyring = first.starts(with: KeyringDocument.kind.utf8)
            let hasVersion = first.last.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
            throw Problem(
                line: 1, expected: "'\(KeyringDocument.domain)'", isAnotherKind: !isKeyring,
                isAnotherVersion: isKeyring && hasVersion)
        }
        guard bytes.last == UInt8(ascii: "\n") else { throw Problem(line: 0, expected: "a newline at the end") }
        lines = bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Parses a file.
    ///
    /// - Throws: ``Problem``. Nothing was derived or decrypted.
    package static func parse(_ bytes: [UInt8]) throws(Problem) -> KeyringDocument {
        var parser = try KeyringParser(bytes)
        let document = try parser.document()
        // Leading zeros, capital digits and the like: each document has one form.
        guard Array(document.text.utf8) == bytes else { throw Problem(line: 0, expected: "the canonical form") }
        return document
    }

    private mutating func document() throws(Problem) -> KeyringDocument {
        // The version was looked at; that it is the one of the content follows from the canonical form.
        _ = take()
        let id = try hexadecimal(try fields("id", 1)[0], 16)
        let generation = try number(try fields("generation", 1)[0], in: 1...UInt64(Int64.max))
        let keys = try identifiers()
        var slots: [SlotRecord] = []
        while peek("slot") {
            var record = try slot(keys: keys.count, after: slots)
            if peek("endorsed") { record.endorsement = try endorsement(upTo: generation) }
            slots.append(record)
        }
        guard !slots.isEmpty else { throw problem("a slot") }
        guard ScryptParameters.areBounded(slots) else { throw problem("a lower cost of all passphrases together") }
        var codes: [[UInt8]] = []
        for key in keys {
            let fields = try fields("mac", 2)
            guard try hexadecimal(fields[0], KeyIdentifier.length) == key.bytes else {
                throw problem("the code of key \(key.bytes.hexadecimal)")
            }
            codes.append(try hexadecimal(fields[1], 32))
        }
        guard next == lines.count else { throw problem("the end of the file") }
        return KeyringDocument(id: id, generation: generation, keys: keys, slots: slots, codes: codes)
    }

    private mutating func identifiers() throws(Problem) -> [KeyIdentifier] {
        let line = take() ?? []
        let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(Array.init)
        guard fields.first == Array("keys".utf8), (2...KeyringDocument.Limit.keys + 1).contains(fields.count) else {
            throw problem("'keys' with 1 to \(KeyringDocument.Limit.keys) identifiers")
        }
        var keys: [KeyIdentifier] = []
        for field in fields.dropFirst() {
            let key = KeyIdentifier(bytes: try hexadecimal(field, KeyIdentifier.length))
            guard !keys.contains(key) else { throw problem("different keys") }
            keys.append(key)
        }
        return keys
    }

    private mutating func slot(keys: Int, after slots: [SlotRecord]) throws(Problem) -> SlotRecord {
        guard slots.count < KeyringDocument.Limit.slots else { throw problem("no further slot") }
        let head = try fields("slot", 4)
        let number = try number(head[0], in: 1...UInt64(UInt32.max))
        guard number > slots.last.map({ UInt64($0.number) }) ?? 0 else { throw problem("ascending slots") }
        guard let kind = KeyringSlot.Kind(rawValue: String(decoding: head[1], as: UTF8.self)) else {
            throw problem("a known kind of slot")
        }
        // Up to the year 9999.
        let added = try self.number(head[2], in: 0...253_402_300_799)
        let name = try name(head[3])
        let publicKey = try hexadecimal(try fields("public", 1)[0], SlotRecord.publicKeyLength)
        let parameters = try parameters(of: kind)
        let sealed = try fields("sealed", 2)
        let encapsulated = try hexadecimal(sealed[0], SlotRecord.publicKeyLength)
        let ciphertext = try hexadecimal(sealed[1])
        let record = SlotRecord(
            number: UInt32(truncatingIfNeeded: number), parameters: parameters, added: Int64(added), name: name,
            publicKey: publicKey, encapsulated: encapsulated, sealed: ciphertext)
        guard ciphertext.count > SlotRecord.tagLength, (1...keys).contains(record.keyCount),
            ciphertext.count == record.keyCount * KeyringDocument.keyLength + SlotRecord.tagLength
        else { throw problem("1 to \(keys) sealed keys") }
        return record
    }

    private mutating func parameters(of kind: KeyringSlot.Kind) throws(Problem) -> SlotRecord.Parameters {
        switch kind {
        case .passphrase:
            let fields = try fields("scrypt", 4)
            let values = [
                try number(fields[0], in: 0...64), try number(fields[1], in: 0...1024),
                try number(fields[2], in: 0...1024),
            ].map { Int($0) }
            guard
                let cost = ScryptParameters(logarithm: values[0], blockSize: values[1], parallelism: values[2])
            else { throw problem("a cost within the limits") }
            return .passphrase(cost, salt: try hexadecimal(fields[3], SlotRecord.saltLength))
        case .recovery: return .recovery(salt: try salt())
        case .credential, .file, .store: return .secret(kind, salt: try salt())
        case .recipient: return .recipient
        case .command:
            let blob = try hexadecimal(try fields("blob", 1)[0])
            guard (1...KeyringDocument.Limit.blob).contains(blob.count) else {
                throw problem("a blob of 1 to \(KeyringDocument.Limit.blob) bytes")
            }
            return .command(blob: blob)
        }
    }

    private mutating func endorsement(upTo generation: UInt64) throws(Problem) -> SlotEndorsement {
        let fields = try fields("endorsed", 3)
        return SlotEndorsement(
            key: KeyIdentifier(bytes: try hexadecimal(fields[0], KeyIdentifier.length)),
            generation: try number(fields[1], in: 1...generation),
            code: try hexadecimal(fields[2], SlotEndorsement.codeLength))
    }

    private mutating func salt() throws(Problem) -> [UInt8] {
        try hexadecimal(try fields("salt", 1)[0], SlotRecord.saltLength)
    }

    // MARK: Fields

    private mutating func take() -> [UInt8]? {
        guard next < lines.count else { return nil }
        defer { next += 1 }
        return lines[next]
    }

    private func peek(_ word: String) -> Bool {
        next < lines.count && lines[next].starts(with: Array((word + " ").utf8))
    }

    private mutating func fields(_ word: String, _ count: Int) throws(Problem) -> [[UInt8]] {
        let fields = (take() ?? []).split(
            separator: UInt8(ascii: " "), maxSplits: count + 1, omittingEmptySubsequences: false
        ).map(Array.init)
        guard fields.count == count + 1, fields[0] == Array(word.utf8) else {
            throw problem("'\(word)' with \(count) values")
        }
        return Array(fields.dropFirst())
    }

    private func number(_ digits: [UInt8], in range: ClosedRange<UInt64>) throws(Problem) -> UInt64 {
        guard (1...19).contains(digits.count) else { throw problem("a number") }
        var value: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { throw problem("a number") }
            // 19 digits fit.
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        guard range.contains(value) else { throw problem("a number from \(range.lowerBound) to \(range.upperBound)") }
        return value
    }

    private func hexadecimal(_ digits: [UInt8], _ count: Int? = nil) throws(Problem) -> [UInt8] {
        guard !digits.isEmpty, let bytes = [UInt8](hexadecimal: String(decoding: digits, as: UTF8.self)),
            count == nil || bytes.count == count
        else { throw problem(count.map { "\(2 * $0) hexadecimal digits" } ?? "hexadecimal digits") }
        return bytes
    }

    private func name(_ digits: [UInt8]) throws(Problem) -> String {
        if digits == [UInt8(ascii: "-")] { return "" }
        let bytes = try hexadecimal(digits)
        let name = String(decoding: bytes, as: UTF8.self)
        guard SlotName.isValid(name), Array(name.utf8) == bytes else { throw problem("a name") }
        return name
    }

    private func problem(_ expected: String) -> Problem { Problem(line: next, expected: expected) }
}

/// The rule for names of slots: they are shown in lists, so nothing in them moves the cursor or turns text around.
enum SlotName {
    private static let excluded: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
    ]

    static func isValid(_ name: String) -> Bool {
        name.utf8.count <= KeyringDocument.Limit.name
            && name.unicodeScalars.allSatisfy { scalar in !excluded.contains { $0.contains(scalar.value) } }
    }
}
