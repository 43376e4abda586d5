extension Wording {
    /// A path in a sentence.
    static func path(_ path: String) -> String { visible(path) }

    /// What was made and how long it took: `8.4 MB in 0.91 s`.
    static func outcome(of path: String, _ session: Session) -> String {
        let size = Preflight.size(path).map { "\(Self.size($0)) " } ?? ""
        return "\(size)in \(duration(session.elapsed))"
    }

    /// How a converted copy was verified.
    static let verifiedCopy =
        "Verified: read back and compared with the source, schema and every row, before it got its name."
}

extension Report {
    /// Adds what every operation that writes a file has to say about it.
    ///
    /// - Parameter verified: whether the operation read back what it wrote before it counted.
    mutating func addResult(of path: String, _ session: Session, verified: Bool = true) {
        set("size", JSONValue(Preflight.size(path)))
        set("seconds", .number(session.elapsed))
        set("verified", .bool(verified))
    }
}
