/// Where a key is read from. The key itself is never an argument: every process of the machine can read those.
enum KeySource: Equatable {
    case file(String)
    case descriptor(Int32)
    case environment(String)
    case command(String)
    case credential(String)
    case prompt

    /// How messages name the source. A command's text is left out: somebody may have put the key into it.
    var description: String {
        switch self {
        case .file(let path): "the key file '\(path)'"
        case .descriptor(let number): "file descriptor \(number)"
        case .environment(let name): "the environment variable '\(name)'"
        case .command: "the key command"
        case .credential(let name): "the credential '\(name)'"
        case .prompt: "the terminal"
        }
    }
}
