/// A path as an argument means it. SQLite reads some names in its own way; on the command line all are file names.
enum PathArgument {
    /// The same file by a name that SQLite does not read as a URI, as a database in memory or as none.
    static func literal(_ path: String) -> String {
        path.hasPrefix("file:") || path.hasPrefix(":") ? "./" + path : path
    }
}
