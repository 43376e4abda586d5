public import LiteVaultQuery

extension QueryType {
    /// An UPDATE of the rows of the query to a value. What is nil becomes NULL.
    ///
    /// SQLite.swift leaves out what is nil, and the row keeps its old value. Here it is written; only `asSQL()` and
    /// `description` still show the assignments as SQLite.swift does, without those of nil. `template`, `bindings` and the
    /// trace have them all.
    ///
    /// - Throws: what encoding throws.
    public func update(
        _ encodable: any Encodable, userInfo: [CodingUserInfoKey: Any] = [:], otherSetters: [Setter] = []
    ) throws -> Update {
        try updatePrintingValues(encodable, userInfo: userInfo, otherSetters: otherSetters)
    }
}
