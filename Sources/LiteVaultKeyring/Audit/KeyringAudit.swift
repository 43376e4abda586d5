/// Which copies of databases need which database key, and which slots open them: of snapshots and their keyrings, without any
/// secret.
///
/// A slot that was removed from a keyring without a new database key opens whatever has that key, as long as somebody has
/// an older copy of the keyring. A slot whose secret was changed counts as a removed one and a new one.
public struct KeyringAudit: Sendable {
    /// A copy of a database, and the keyring that was stored with it.
    public struct Item: Sendable {
        /// What the caller calls it.
        public let name: String
        /// The first 16 bytes of the database. Each key of a keyring has its own salt, which stands there.
        public let salt: [UInt8]
        /// The keyring of its time.
        public let keyring: KeyringCopy

        /// Creates an item.
        ///
        /// - Parameters:
        ///   - name: what the caller calls it.
        ///   - salt: the first 16 bytes of the database.
        ///   - keyring: the keyring that was stored with it.
        public init(name: String, salt: [UInt8], keyring: KeyringCopy) {
            self.name = name
            self.salt = salt
            self.keyring = keyring
        }
    }

    /// What one item needs.
    public struct Finding: Sendable {
        /// What the caller calls it.
        public let name: String
        /// The identifier of the database key that it needs; several where the keyrings do not tell which of them.
        public let keys: [String]
        /// The slots that open it, those that were removed included: indexes of ``KeyringAudit/slots``.
        public let slots: [Int]
    }

    /// A slot of any of the copies.
    public struct Slot: Sendable {
        /// The keyring that has or had it.
        public let keyringID: String
        /// The slot, as the newest copy that has it says.
        public let slot: KeyringSlot
        /// Whether the newest copy of the keyring does not have it.
        public let isRemoved: Bool
        /// The names of the items that it opens.
        public let opens: [String]
    }

    /// What each item needs, in the order of the items.
    public let findings: [Finding]
    /// The slots of all copies, by keyring and number.
    public let slots: [Slot]

    /// Audits copies of databases.
    ///
    /// - Parameters:
    ///   - items: the copies.
    ///   - current: keyrings that are in use. Without one, the copy with the highest generation counts as the current one.
    public init(_ items: [Item], current: [KeyringCopy] = []) {
        let needed = Self.keys(of: items)
        let copies = (items.map(\.keyring) + current).sorted { ($0.id, $0.generation) < ($1.id, $1.generation) }
        let newest = Dictionary(copies.map { ($0.id, $0) }) { $1 }
        var known: [Place: (slot: KeyringSlot, keys: Set<String>)] = [:]
        for copy in copies {
            for slot in copy.slots {
                let keys = copy.keyIdentifiers(openedBy: slot)
                let place = Place(keyring: copy.id, publicKey: slot.publicKey)
                known[place] = (slot, (known[place]?.keys ?? []).union(keys))
            }
        }
        let ordered = known.sorted {
            ($0.key.keyring, $0.value.slot.id, $0.value.slot.added)
                < ($1.key.keyring, $1.value.slot.id, $1.value.slot.added)
        }
        findings = zip(items, needed).map { item, keys in
            Finding(
                name: item.name, keys: keys,
                slots: ordered.indices.filter {
                    // Where the key is not certain, a slot that may open it counts.
                    ordered[$0].key.keyring == item.keyring.id && !ordered[$0].value.keys.isDisjoint(with: keys)
                })
        }
        let found = findings
        slots = ordered.indices.map { index in
            let (place, value) = ordered[index]
            return Slot(
                keyringID: place.keyring, slot: value.slot,
                isRemoved: newest[place.keyring]?.slots.contains { $0.publicKey == place.publicKey } != true,
                opens: found.filter { $0.slots.contains(index) }.map(\.name))
        }
    }

    /// A slot is the same in two copies of a keyring if its public key is.
    private struct Place: Hashable {
        let keyring: String
        let publicKey: [UInt8]
    }

    /// The key of each item, as far as salts and keyrings tell.
    ///
    /// A keyring with several keys does not say which one a database has. But all databases with one salt have the same key, and
    /// those with another salt another one: so a copy of a time at which there was one key decides for the others.
    private static func keys(of items: [Item]) -> [[String]] {
        struct Group: Hashable {
            let keyring: String
            let salt: [UInt8]
        }
        let groups = items.map { Group(keyring: $0.keyring.id, salt: $0.salt) }
        var candidates: [Group: [String]] = [:]
        for (group, item) in zip(groups, items) {
            let keys = item.keyring.keyIdentifiers
            candidates[group] = candidates[group]?.filter(keys.contains) ?? keys
        }
        // Each round decides at least one more group, or is the last.
        for _ in candidates.keys {
            var isChanged = false
            for (group, keys) in candidates where keys.count == 1 {
                for (other, those) in candidates
                where other != group && other.keyring == group.keyring && those.count > 1 && those.contains(keys[0]) {
                    candidates[other] = those.filter { $0 != keys[0] }
                    isChanged = true
                }
            }
            if !isChanged { break }
        }
        return groups.map { candidates[$0] ?? [] }
    }
}
