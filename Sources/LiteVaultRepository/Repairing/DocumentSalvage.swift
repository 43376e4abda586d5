internal import Crypto
internal import LiteVaultCapture

/// Finds what a damaged document was, where its hash or its authentication code still tells: of one byte that changed, or of
/// a seal that did.
enum DocumentSalvage {
    /// Bytes of a line that are tried: every value of every byte is.
    private static let limit = 16 << 10
    /// Digits of a seal that may be wrong where the other says that the line is whole.
    private static let tolerance = 2

    /// The document as it was sealed; nil where that can not be told.
    ///
    /// - Parameter key: the repository's, where it has a secret: then nothing counts that is not authentic.
    static func document(_ bytes: [UInt8], key: SymmetricKey?) -> [UInt8]? {
        guard let (body, seal) = split(bytes, hasCode: key != nil) else { return nil }
        if isNear(seal, self.seal(body, key), key) { return body + self.seal(body, key) }
        guard let found = repaired(body, hash: hash(seal)) else { return nil }
        return isNear(seal, self.seal(found, key), key) ? found + self.seal(found, key) : nil
    }

    /// A document whose line was put right by its hash, or its hash by its line, with the code that it has: for the one that
    /// has to be read before there is a key.
    static func line(_ bytes: [UInt8]) -> [UInt8]? {
        for hasCode in [false, true] {
            guard let (body, seal) = split(bytes, hasCode: hasCode) else { continue }
            let code = seal[("sha256 ".utf8.count + 65)...]
            if isNear(Array(seal.dropLast(code.count)), self.seal(body, nil), nil) {
                return body + self.seal(body, nil) + code
            }
            if let found = repaired(body, hash: hash(seal)) { return found + self.seal(found, nil) + code }
        }
        return nil
    }

    /// The line with its end, which is known, and what is behind it.
    private static func split(_ bytes: [UInt8], hasCode: Bool) -> (body: [UInt8], seal: [UInt8])? {
        let ending = "sha256 ".utf8.count + 65 + (hasCode ? "hmac-sha256 ".utf8.count + 65 : 0)
        let length = bytes.count - ending
        guard length > 1, length <= limit else { return nil }
        return (Array(bytes[..<(length - 1)]) + [UInt8(ascii: "\n")], Array(bytes[length...]))
    }

    /// The line of that hash, from one in which one byte is another.
    private static func repaired(_ line: [UInt8], hash: [UInt8]?) -> [UInt8]? {
        guard let hash else { return nil }
        var body = line
        var before = SHA256()
        for place in 0..<(body.count - 1) {
            let original = body[place]
            let rest = body[(place + 1)...]
            for value in UInt8.min...UInt8.max {
                var digest = before
                withUnsafeBytes(of: value) { digest.update(bufferPointer: $0) }
                digest.update(data: rest)
                guard digest.finalize().elementsEqual(hash) else { continue }
                body[place] = value
                return body
            }
            withUnsafeBytes(of: original) { before.update(bufferPointer: $0) }
        }
        return nil
    }

    private static func seal(_ body: [UInt8], _ key: SymmetricKey?) -> [UInt8] {
        var text = "sha256 \(Hash256(of: body).hex)\n"
        if let key { text += "hmac-sha256 \(HMAC<SHA256>.authenticationCode(for: body, using: key).hex)\n" }
        return Array(text.utf8)
    }

    /// Whether a seal is the right one but for a few bytes. With a key the code has to be; the hash is known to everybody.
    private static func isNear(_ seal: [UInt8], _ right: [UInt8], _ key: SymmetricKey?) -> Bool {
        guard seal.count == right.count else { return false }
        let counted = key == nil ? 0..<seal.count : ("sha256 ".utf8.count + 65)..<seal.count
        return counted.count { seal[$0] != right[$0] } <= tolerance
    }

    private static func hash(_ seal: [UInt8]) -> [UInt8]? {
        [UInt8](hex: String(decoding: seal["sha256 ".utf8.count..<("sha256 ".utf8.count + 64)], as: UTF8.self))
    }
}
