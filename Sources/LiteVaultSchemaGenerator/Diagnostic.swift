/// A place in a script, counted from 1 as editors do.
struct Location: Comparable {
    let path: String
    let line: Int
    let column: Int

    static func < (one: Location, other: Location) -> Bool {
        (one.path, one.line, one.column) < (other.path, other.line, other.column)
    }
}

/// What is wrong at a place, in the form that compilers use.
struct Diagnostic: CustomStringConvertible {
    enum Severity: String { case error, warning }

    let location: Location
    var severity = Severity.error
    let message: String

    var description: String {
        "\(location.path):\(location.line):\(location.column): \(severity.rawValue): \(message)"
    }
}

/// All that is wrong.
struct Diagnostics: Error {
    let list: [Diagnostic]

    init(_ list: [Diagnostic]) { self.list = list }
    init(_ location: Location, _ message: String) { list = [Diagnostic(location: location, message: message)] }
}
