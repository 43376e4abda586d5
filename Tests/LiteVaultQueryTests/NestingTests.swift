import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

/// An expression, and what it has to be for a row: NULL is nil, a Boolean is its number.
private struct Tree<T: Value & Sendable> {
    let expression: SQLExpression<T?>
    let value: ([String: Int64?]) -> Int64?
}

private func truth(_ value: Bool?) -> Int64? { value.map { $0 ? 1 : 0 } }

private func compared(_ left: Int64?, _ right: Int64?, _ order: (Int64, Int64) -> Bool) -> Int64? {
    guard let left, let right else { return nil }
    return truth(order(left, right))
}

private func and(_ left: Int64?, _ right: Int64?) -> Int64? {
    if left == 0 || right == 0 { return 0 }
    return left == nil || right == nil ? nil : 1
}

private func or(_ left: Int64?, _ right: Int64?) -> Int64? {
    if left.map({ $0 != 0 }) == true || right.map({ $0 != 0 }) == true { return 1 }
    return left == nil || right == nil ? nil : 0
}

/// Makes random expressions, the same in every run.
private struct Forest {
    var state: UInt64

    mutating func next(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }

    mutating func number(_ depth: Int) -> Tree<Int64> {
        guard depth > 0, next(4) > 0 else {
            let name = ["a", "b"][next(2)]
            return Tree(expression: SQLExpression(name)) { $0[name]! }
        }
        let left = number(depth - 1)
        switch next(7) {
        case 0:
            let right = number(depth - 1)
            return Tree(expression: left.expression + right.expression) { row in
                left.value(row).flatMap { left in right.value(row).map { left + $0 } }
            }
        case 1:
            let right = number(depth - 1)
            return Tree(expression: left.expression - right.expression) { row in
                left.value(row).flatMap { left in right.value(row).map { left - $0 } }
            }
        case 2: return Tree(expression: left.expression * 3) { row in left.value(row).map { $0 * 3 } }
        case 3: return Tree(expression: -left.expression) { row in left.value(row).map { -$0 } }
        case 4: return Tree(expression: ~left.expression) { row in left.value(row).map { ~$0 } }
        case 5:
            let right = number(depth - 1)
            return Tree(expression: left.expression & right.expression) { row in
                left.value(row).flatMap { left in right.value(row).map { left & $0 } }
            }
        default:
            let condition = logical(depth - 1)
            return Tree(expression: cast(condition.expression) + left.expression) { row in
                left.value(row).flatMap { left in condition.value(row).map { left + $0 } }
            }
        }
    }

    mutating func logical(_ depth: Int) -> Tree<Bool> {
        guard depth > 0, next(5) > 0 else {
            let name = ["p", "q"][next(2)]
            return Tree(expression: SQLExpression(name)) { $0[name]! }
        }
        let bound = Int64(next(5)) - 2
        switch next(15) {
        case 0:
            let operand = number(depth - 1)
            return Tree(expression: bound...bound + 2 ~= operand.expression) { row in
                truth(operand.value(row).map { (bound...bound + 2).contains($0) })
            }
        case 1:
            let operand = number(depth - 1)
            return Tree(expression: bound..<bound + 2 ~= operand.expression) { row in
                truth(operand.value(row).map { (bound..<bound + 2).contains($0) })
            }
        case 2:
            let operand = number(depth - 1)
            return Tree(expression: ...bound ~= operand.expression) { truth(operand.value($0).map { $0 <= bound }) }
        case 3:
            let operand = number(depth - 1)
            return Tree(expression: ..<bound ~= operand.expression) { truth(operand.value($0).map { $0 < bound }) }
        case 4:
            let operand = number(depth - 1)
            return Tree(expression: bound... ~= operand.expression) { truth(operand.value($0).map { $0 >= bound }) }
        case 5:
            let operand = number(depth - 1)
            return Tree(expression: [bound, bound + 1].contains(operand.expression)) { row in
                truth(operand.value(row).map { $0 == bound || $0 == bound + 1 })
            }
        case 6:
            let (left, right) = (number(depth - 1), number(depth - 1))
            return Tree(expression: left.expression < right.expression) { compared(left.value($0), right.value($0), <) }
        case 7:
            let (left, right) = (number(depth - 1), number(depth - 1))
            return Tree(expression: left.expression === right.expression) { truth(left.value($0) == right.value($0)) }
        case 8:
            let (left, right) = (logical(depth - 1), logical(depth - 1))
            return Tree(expression: left.expression == right.expression) {
                compared(left.value($0), right.value($0), ==)
            }
        case 9:
            let (left, right) = (logical(depth - 1), logical(depth - 1))
            return Tree(expression: left.expression !== right.expression) { truth(left.value($0) != right.value($0)) }
        case 10:
            let operand = logical(depth - 1)
            let isTrue = next(2) == 0
            return Tree(expression: operand.expression == isTrue) { compared(operand.value($0), isTrue ? 1 : 0, ==) }
        case 11:
            let operand = logical(depth - 1)
            return Tree(expression: [true].contains(operand.expression)) { compared(operand.value($0), 1, ==) }
        case 12:
            let operand = logical(depth - 1)
            return Tree(expression: !operand.expression) { row in truth(operand.value(row).map { $0 == 0 }) }
        case 13:
            let (left, right) = (logical(depth - 1), logical(depth - 1))
            return Tree(expression: left.expression && right.expression) { and(left.value($0), right.value($0)) }
        default:
            let (left, right) = (logical(depth - 1), logical(depth - 1))
            return Tree(expression: left.expression || right.expression) { or(left.value($0), right.value($0)) }
        }
    }
}

@Suite struct NestingTests {
    /// Every combination of values that matter, NULL and a true that is not 1 among them.
    private static let rows: [[String: Int64?]] = {
        let numbers: [Int64?] = [nil, -2, 0, 1, 3]
        let logical: [Int64?] = [nil, 0, 1, 5]
        return numbers.flatMap { a in
            numbers.flatMap { b in
                logical.flatMap { p in logical.map { q in ["a": a, "b": b, "p": p, "q": q] } }
            }
        }
    }()

    private func database() throws -> Connection {
        let db = try Connection()
        try db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, p INTEGER, q INTEGER)")
        for (id, row) in Self.rows.enumerated() {
            try db.run("INSERT INTO t VALUES (?, ?, ?, ?, ?)", with: id, row["a"]!, row["b"]!, row["p"]!, row["q"]!)
        }
        return db
    }

    @Test func `every operator means the same inside every other one`() throws {
        let db = try database()
        var forest = Forest(state: 20_261_128)
        for _ in 0..<400 {
            let tree = forest.logical(4)
            let expected = Self.rows.indices.filter { (tree.value(Self.rows[$0]) ?? 0) != 0 }.map(Int64.init)
            let found = try db.all(Table("t").select(id).filter(tree.expression).order(id))
            #expect(found == expected, "\(sql(tree.expression))")
        }
    }

    @Test func `a range is one operand`() throws {
        let db = try database()
        let a = SQLExpression<Int64?>("a")
        func count(_ condition: SQLExpression<Bool?>) throws -> Int { try db.value(Table("t").filter(condition).count) }
        let each = Self.rows.count / 5
        #expect(try count((0..<3 ~= a) == false) == 2 * each)
        #expect(try count(!(0..<3 ~= a)) == 2 * each)
        #expect(try count((0...3 ~= a) == true) == 3 * each)
        #expect(sql((0..<3 ~= a) == false) == #"(("a" >= 0 AND "a" < 3) = 0)"#)
        #expect(sql((0...3 ~= a) == false) == #"(("a" BETWEEN 0 AND 3) = 0)"#)
        #expect(sql(!(0...3 ~= a)) == #"NOT (("a" BETWEEN 0 AND 3))"#)
    }

    @Test func `a negation is one operand`() throws {
        #expect(sql(!admin == true) == #"((NOT ("admin")) = 1)"#)
        #expect(sql([true].contains(!admin)) == #"((NOT ("admin")) IN (1))"#)
        #expect(sql(!admin && !admin) == #"(NOT ("admin") AND NOT ("admin"))"#)
    }
}
