internal import LiteVaultSystem

/// The content of a keyring file: text, one statement on each line. See the article "The format of keyrings".
package struct KeyringDocument: Equatable {
    /// The limits of the format. A reader rejects what exceeds them before it allocates or computes anything.
    package enum Limit {
        package static let fileSize = 1 << 18
        package static let slots = 32
        package static let keys = 16
        /// Bytes of UTF-8 in the name of a slot.
        package static let name = 100
        /// Bytes of what an external program made of a slot's secret.
        package static let blob = 8192
    }

    /// The length of a database key with its salt, in bytes.
    package static let keyLength = 48
    /// The start of the first line, before the version.
    package static let kind = "litevault-keyring "
    /// The versions of the format. The second one has endorsements.
    package static let versions = 1...2
    /// The first words of what is derived: in all versions the same, so that a slot has one key pair in all of them.
    package static let domain = "litevault-keyring 1"

    /// 16 random bytes, which bind each slot to its keyring.
    package var id: [UInt8]
    /// How often the file was written, the first time included.
    package var generation: UInt64
    /// The identifiers of the database keys, the newest first.
    package var keys: [KeyIdentifier]
    package var slots: [SlotRecord]
    /// An authentication code of everything above, for each key in the same order.
    package var codes: [[UInt8]]

    /// The version is that of the first readers that understand the file: 2 exactly if a slot has an endorsement.
    package var version: Int { slots.contains { $0.endorsement != nil } ? 2 : 1 }

    var listed: [KeyringSlot] { slots.map { KeyringSlot($0, keyCount: keys.count) } }

    /// The bytes that are authenticated.
    package var body: String {
        var text = "\(Self.kind)\(version)\n"
        text += "id \(id.hexadecimal)\n"
        text += "generation \(generation)\n"
        text += "keys \(keys.map(\.bytes.hexadecimal).joined(separator: " "))\n"
        for slot in slots { text += slot.text }
        return text
    }

    /// The whole file.
    package var text: String {
        var text = body
        for (key, code) in zip(keys, codes) { text += "mac \(key.bytes.hexadecimal) \(code.hexadecimal)\n" }
        return text
    }
}

/// What tells database keys apart: 8 bytes derived from one, which reveal nothing else.
package struct KeyIdentifier: Hashable {
    package static let length = 8
    package let bytes: [UInt8]
}

/// A slot as the file has it.
package struct SlotRecord: Equatable {
    /// How the slot's private key is found from its secret.
    package enum Parameters: Equatable {
        case passphrase(ScryptParameters, salt: [UInt8])
        case recovery(salt: [UInt8])
        case recipient
        case command(blob: [UInt8])
        /// The random secret of a credential, a file or a store.
        case secret(KeyringSlot.Kind, salt: [UInt8])
    }

    package var number: UInt32
    package var parameters: Parameters
    /// Seconds since 1970.
    package var added: Int64
    package var name: String
    /// The X25519 key that the database keys are sealed to.
    package var publicKey: [UInt8]
    /// The sender's ephemeral public key.
    package var encapsulated: [UInt8]
    /// The sealed keys: the last ones of the keyring's list. A slot that is being removed lacks the newest.
    package var sealed: [UInt8]
    /// What the holder of the slot's secret said of the newest key, when that was last written by them.
    package var endorsement: SlotEndorsement?

    /// How many database keys are sealed.
    package var keyCount: Int { (sealed.count - Self.tagLength) / KeyringDocument.keyLength }

    package static let tagLength = 16
    package static let saltLength = 16
    package static let publicKeyLength = 32

    package var kind: KeyringSlot.Kind {
        switch parameters {
        case .passphrase: .passphrase
        case .recovery: .recovery
        case .recipient: .recipient
        case .command: .command
        case .secret(let kind, _): kind
        }
    }

    fileprivate var text: String {
        let name = name.isEmpty ? "-" : Array(name.utf8).hexadecimal
        var text = "slot \(number) \(kind.rawValue) \(added) \(name)\n"
        text += "public \(publicKey.hexadecimal)\n"
        switch parameters {
        case .passphrase(let scrypt, let salt):
            text += "scrypt \(scrypt.logarithm) \(scrypt.blockSize) \(scrypt.parallelism) \(salt.hexadecimal)\n"
        case .recovery(let salt), .secret(_, let salt): text += "salt \(salt.hexadecimal)\n"
        case .command(let blob): text += "blob \(blob.hexadecimal)\n"
        case .recipient: break
        }
        text += "sealed \(encapsulated.hexadecimal) \(sealed.hexadecimal)\n"
        if let endorsement {
            text += "endorsed \(endorsement.key.bytes.hexadecimal) \(endorsement.generation)"
            text += " \(endorsement.code.hexadecimal)\n"
        }
        return text
    }
}

/// That a slot stands for a database key: see ``SlotEndorser``.
package struct SlotEndorsement: Equatable {
    package static let codeLength = 32

    /// The identifier of the key: the newest one when it was endorsed. The keyring may have dropped it since.
    package let key: KeyIdentifier
    /// The generation that was written with it.
    package let generation: UInt64
    package let code: [UInt8]

    package init(key: KeyIdentifier, generation: UInt64, code: [UInt8]) {
        (self.key, self.generation, self.code) = (key, generation, code)
    }
}
