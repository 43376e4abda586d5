/// A path cut at its last slash, the way the system calls with a directory descriptor want it.
struct PathParts: Equatable {
    let directory: String
    let name: String

    /// The name is empty for paths that can only be directories: "", "/", "a/".
    init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            (directory, name) = (".", path)
            return
        }
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
    }

    func sibling(_ name: String) -> String {
        switch directory {
        case ".": name
        case "/": "/" + name
        default: directory + "/" + name
        }
    }
}
