extension Module {
    /// An index of ranges in one to five dimensions: `rtree("id", "minX", "maxX")` (https://sqlite.org/rtree.html).
    ///
    /// Coordinates are stored with 32 bits: the lower ones are rounded down, the upper ones up.
    ///
    /// - Parameters:
    ///   - primaryKey: the rows' number.
    ///   - pairs: for each dimension the lower and the upper end.
    public static func RTree<T: Value, U: Value>(
        _ primaryKey: SQLExpression<T>, _ pairs: (SQLExpression<U>, SQLExpression<U>)...
    ) -> Module where T.Datatype == Int64, U.Datatype == Double {
        Module(builtIn: "rtree", [primaryKey.root] + pairs.flatMap { [$0.0.root, $0.1.root] })
    }

    /// An index of ranges of integers with 32 bits: `rtree_i32("id", "from", "to")`. Parameters as of the form for
    /// floating-point numbers.
    public static func RTree<T: Value, U: Value>(
        integers primaryKey: SQLExpression<T>, _ pairs: (SQLExpression<U>, SQLExpression<U>)...
    ) -> Module where T.Datatype == Int64, U.Datatype == Int64 {
        Module(builtIn: "rtree_i32", [primaryKey.root] + pairs.flatMap { [$0.0.root, $0.1.root] })
    }
}
