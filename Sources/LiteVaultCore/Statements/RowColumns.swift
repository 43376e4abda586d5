public import CEngineSupport

/// What the columns of a row are called.
@usableFromInline
package final class RowColumns: @unchecked Sendable {  // constants, and words that are read and written atomically
    /// As the query gives them.
    package let names: [String]
    private let givenKeys: [String]?
    /// Which keys are one quoted name, and not repeated by a later column: the last one is meant then.
    private let isPlain: [Bool]
    /// How many columns there are.
    @usableFromInline let count: Int
    /// The position that is tried first, then for each column the identity of an expression that was found to name it.
    @usableFromInline let words: UnsafeMutablePointer<UInt>
    /// What keeps these expressions.
    private let owners: UnsafeMutablePointer<UInt>

    package init(names: [String], keys: [String]? = nil) {
        self.names = names
        givenKeys = keys
        count = names.count
        var later: Set<String> = []
        var isPlain = [Bool](repeating: false, count: names.count)
        for index in names.indices.reversed() where keys.map({ $0[index] == quoted(names[index]) }) ?? true {
            isPlain[index] = later.insert(names[index]).inserted
        }
        self.isPlain = isPlain
        words = .allocate(capacity: count + 2)
        words.initialize(repeating: 0, count: count + 2)
        owners = .allocate(capacity: count + 1)
        owners.initialize(repeating: 0, count: count + 1)
    }

    deinit {
        for index in 0..<count {
            if let owner = UnsafeRawPointer(bitPattern: owners[index]) {
                Unmanaged<AnyObject>.fromOpaque(owner).release()
            }
        }
        words.deallocate()
        owners.deallocate()
    }

    /// As expressions name them: quoted, and with the table where the query says so.
    package var keys: [String] { givenKeys ?? names.map(quoted) }

    /// The position of each key; of the last column where several have it.
    package var positions: [String: Int] {
        Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
    }

    /// The position of a column that is named without its table, by its name without quotes.
    ///
    /// Rows are read in the same order again and again: the column after the one that was found last is tried first.
    package func plainPosition(of name: String) -> Int? {
        // Another thread may write the hint meanwhile: it is read once, and never trusted.
        let hint = Int(bitPattern: lv_word_load(words))
        if hint < count, isPlain[hint], names[hint] == name {
            lv_word_store(words, UInt(bitPattern: hint + 1 < count ? hint + 1 : 0))
            return hint
        }
        for index in 0..<count where isPlain[index] && names[index] == name {
            lv_word_store(words, UInt(bitPattern: index + 1 < count ? index + 1 : 0))
            return index
        }
        return nil
    }

    /// The position of a column by an expression that was found before.
    ///
    /// - Parameter identity: the address of the expression's tree. It can be trusted: a tree that was found is kept for as
    ///   long as these columns live, so no other can have its address.
    @inlinable
    @inline(__always)
    package func position(ofIdentity identity: UInt) -> Int? {
        // A hint that is out of bounds cannot be stored: every store is of a position, or 0. There is always one word
        // behind it, which is 0 where there is no column.
        let hint = Int(bitPattern: lv_word_load(words))
        guard lv_word_load(words + hint + 1) == identity else { return positionElsewhere(ofIdentity: identity) }
        lv_word_store(words, UInt(bitPattern: hint + 1 < count ? hint + 1 : 0))
        return hint
    }

    @usableFromInline
    func positionElsewhere(ofIdentity identity: UInt) -> Int? {
        for index in 0..<count where lv_word_load(words + index + 1) == identity {
            lv_word_store(words, UInt(bitPattern: index + 1 < count ? index + 1 : 0))
            return index
        }
        return nil
    }

    /// Notes the expression that names a column, the first one for each.
    package func remember(_ owner: AnyObject, identity: UInt, at index: Int) {
        guard index >= 0, index < count, lv_word_load(words + index + 1) == 0 else { return }
        let reference = Unmanaged.passRetained(owner)
        guard lv_word_claim(owners + index, UInt(bitPattern: reference.toOpaque())) else { return reference.release() }
        // Only who claimed the slot gets here, and the owner is kept already.
        lv_word_store(words + index + 1, identity)
    }
}
