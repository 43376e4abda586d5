public import LiteVaultQuery

// The one set of overloads that only SQLite.swift's code asks for: a column that is the primary key and refers to another
// table. `import LiteVault` has no such form; see the article "Migrating from SQLite.swift".

extension TableBuilder {
    /// `"name" TYPE PRIMARY KEY NOT NULL CHECK … REFERENCES "table" ("other")`
    public func column<V: Value>(
        _ name: Expression<V>, primaryKey: Bool, check: Expression<Bool>? = nil, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        reference(name, primaryKey ? .default : nil, false, check?.root, (table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY NOT NULL CHECK … REFERENCES "table" ("other")`, with a condition that may be NULL
    public func column<V: Value>(
        _ name: Expression<V>, primaryKey: Bool, check: Expression<Bool?>, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        reference(name, primaryKey ? .default : nil, false, check.root, (table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY CHECK … REFERENCES "table" ("other")`
    public func column<V: Value>(
        _ name: Expression<V?>, primaryKey: Bool, check: Expression<Bool>? = nil, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        reference(name, primaryKey ? .default : nil, false, check?.root, (table, other.root))
    }

    /// `"name" TYPE PRIMARY KEY CHECK … REFERENCES "table" ("other")`, with a condition that may be NULL
    public func column<V: Value>(
        _ name: Expression<V?>, primaryKey: Bool, check: Expression<Bool?>, references table: any QueryType,
        _ other: Expression<V>
    ) where V.Datatype == Int64 {
        reference(name, primaryKey ? .default : nil, false, check.root, (table, other.root))
    }
}
