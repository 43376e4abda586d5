internal import Foundation

/// Measures the workloads that the command line asks for, and prints a report.
///
/// - Parameter workloads: names, and what makes each at a scale.
/// - Returns: the exit status: 1 if `--check` is given and a bar was missed, 64 if something failed.
func runBenchmarks(_ workloads: [(name: String, make: (Int) throws -> Workload)]) -> Int32 {
    do {
        let options = try Options(CommandLine.arguments.dropFirst())
        let results = try workloads.filter { options.only.isEmpty || options.only.contains($0.name) }.map {
            try measure($0.name, $0.make(options.scale), options)
        }
        let report = Report(results: results, rounds: options.rounds)
        print(options.json ? try report.json : report.table)
        return options.check && !report.failures.isEmpty ? 1 : 0
    } catch {
        FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
        return 64
    }
}

/// What the command line asks for.
struct Options {
    var rounds = 7
    var scale = 1
    var json = false
    var check = false
    var only: Set<String> = []
    var implementations: Set<String> = []

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--json": json = true
            case "--check": check = true
            case "--rounds": rounds = try Self.number(rest.next(), of: argument)
            case "--scale": scale = try Self.number(rest.next(), of: argument)
            case "--only": only.insert(try Self.value(rest.next(), of: argument))
            case "--implementation": implementations.insert(try Self.value(rest.next(), of: argument))
            default: throw Failure("unknown argument '\(argument)'; Benchmarks/README.md lists them")
            }
        }
    }

    private static func value(_ value: String?, of option: String) throws -> String {
        guard let value else { throw Failure("\(option) needs a value") }
        return value
    }

    private static func number(_ value: String?, of option: String) throws -> Int {
        guard let number = value.flatMap({ Int($0) }), number > 0 else {
            throw Failure("\(option) needs a number above 0")
        }
        return number
    }
}

/// Why there is no result.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
