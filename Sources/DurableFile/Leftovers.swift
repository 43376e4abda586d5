/// Files that SQLite would take for part of a database that is about to appear under a name.
package enum Leftovers {
    /// The `-wal` and `-journal` files beside `path`, as SQLite would look for them.
    ///
    /// A `-shm` is not among them: SQLite rebuilds it, and it holds no content.
    /// - Parameter ignoringEmpty: leave out files of no bytes, from which nothing is replayed. A database that is open
    ///   elsewhere may have one.
    package static func find(
        beside path: String, ignoringEmpty: Bool = false
    ) throws(DurableFileError) -> [String] {
        var found: [String] = []
        for ending in ["-wal", "-journal"] {
            guard let metadata = try FileMetadata.ifExists(path: path + ending) else { continue }
            if ignoringEmpty && metadata.kind == .regular && metadata.size == 0 { continue }
            found.append(path + ending)
        }
        return found
    }

    /// - Throws: ``DurableFileError`` with the reason `leftover`, its path being that of the first file found.
    package static func refuse(beside path: String, ignoringEmpty: Bool = false) throws(DurableFileError) {
        if let first = try find(beside: path, ignoringEmpty: ignoringEmpty).first {
            throw DurableFileError(.leftover, operation: "check for leftovers", path: first)
        }
    }
}
