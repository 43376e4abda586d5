internal import CBaseline
internal import Foundation

@main
enum Benchmarks {
    static func main() {
        baseline_keep_memory()
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let workloads: [(String, (Int) throws -> Workload)] = [
                ("insert", insert), ("fetch by position", fetchByPosition), ("fetch by name", fetchByName),
                ("point look-up", lookUp), ("text", text), ("blob", blob),
                ("insert by setters", insertBySetters), ("insert by Codable", insertByCodable),
                ("fetch by expression", fetchByExpression), ("structs", fetchStructs),
                ("structs of numbers", fetchNumbers), ("structs by Codable", fetchByCodable),
                ("structs of numbers by Codable", fetchNumbersByCodable), ("typed look-up", typedLookUp),
                ("build", build), ("records", fetchRecords), ("records of numbers", fetchNumberRecords),
                ("record insert", insertRecords), ("record find", findRecords),
                ("parents with children", fetchChildren),
            ]
            let results = try workloads.filter { options.only.isEmpty || options.only.contains($0.0) }.map {
                name, make in
                try measure(name, make(options.scale), options)
            }
            let report = Report(results: results, rounds: options.rounds)
            print(options.json ? try report.json : report.table)
            if options.check, !report.failures.isEmpty { exit(1) }
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(64)
        }
    }
}
