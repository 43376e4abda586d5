internal import CBaseline
internal import Foundation

@main
enum Benchmarks {
    static func main() {
        baseline_keep_memory()
        let status = runBenchmarks([
            ("insert", insert), ("fetch by position", fetchByPosition), ("fetch by name", fetchByName),
            ("point look-up", lookUp), ("text", text), ("blob", blob),
            ("insert by setters", insertBySetters), ("insert by Codable", insertByCodable),
            ("fetch by expression", fetchByExpression), ("structs", fetchStructs),
            ("structs of numbers", fetchNumbers), ("structs by Codable", fetchByCodable),
            ("structs of numbers by Codable", fetchNumbersByCodable), ("typed look-up", typedLookUp),
            ("build", build), ("records", fetchRecords), ("records of numbers", fetchNumberRecords),
            ("record insert", insertRecords), ("record find", findRecords),
            ("parents with children", fetchChildren),
        ])
        exit(status)
    }
}
