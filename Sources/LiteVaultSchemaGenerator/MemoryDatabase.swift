internal import CEngineSupport
internal import LiteVaultEngine

/// An in-memory database on the bare engine: a build tool that used the library would compile all of it a second time.
final class MemoryDatabase {
    /// An error of the engine, with its place in the SQL text.
    struct Failure: Error {
        let message: String
        /// In bytes; nil if the engine does not report it (before 3.38, or for an error without a place).
        let offset: Int?
    }

    private let handle: OpaquePointer

    /// What a script may use: a build that does not end, or that takes all memory, is an error of the script. Rows that a schema needs
    /// take some twenty instructions each.
    private enum Limit {
        /// Instructions of the engine's virtual machine for one statement: some seconds.
        static let instructions = 500_000_000
        static let instructionsPerTick = 100_000
        /// Bytes of one value.
        static let value = 64 << 20
        /// Pages of 4 KiB of the database.
        static let pages = 65_536
    }

    /// How often the engine has reported progress in the current statement.
    private var ticks = 0

    init() throws {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK,
            let opened
        else {
            sqlite3_close(opened)
            throw Failure(message: "the engine cannot open an in-memory database", offset: nil)
        }
        handle = opened
        // A build must not touch other files.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(Limit.value))
        sqlite3_exec(handle, "PRAGMA max_page_count = \(Limit.pages)", nil, nil, nil)
        sqlite3_progress_handler(
            handle, Int32(Limit.instructionsPerTick),
            { context in
                guard let context else { return 0 }
                let database = Unmanaged<MemoryDatabase>.fromOpaque(context).takeUnretainedValue()
                database.ticks += 1
                return database.isExhausted ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private var isExhausted: Bool { ticks > Limit.instructions / Limit.instructionsPerTick }

    deinit { sqlite3_close_v2(handle) }

    /// Makes a function known that the application adds to its connections. It is compiled, and not called.
    func declare(function name: String) {
        sqlite3_create_function_v2(
            handle, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, _, _ in sqlite3_result_null(context) },
            nil, nil, nil)
    }

    /// Makes a collation known that the application adds to its connections.
    func declare(collation name: String) {
        sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, { _, _, _, _, _ in 0 }, nil)
    }

    /// Calls a function of the engine with the database.
    func withHandle(_ body: (OpaquePointer) -> Int32) -> Int32 { body(handle) }

    /// Runs the first statement of the text to its end.
    ///
    /// - Returns: the length of the statement in bytes; 0 if there is none left.
    func runFirst(_ text: UnsafePointer<CChar>) throws(Failure) -> Int {
        ticks = 0
        var statement: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        guard lv_prepare(handle, text, -1, false, &statement, &tail) == SQLITE_OK else { throw failure() }
        defer { sqlite3_finalize(statement) }
        guard let tail else { return 0 }
        if let statement {
            var code = sqlite3_step(statement)
            while code == SQLITE_ROW { code = sqlite3_step(statement) }
            guard code == SQLITE_DONE else { throw failure() }
        }
        return statement == nil && tail.pointee == 0 ? 0 : tail - text
    }

    /// Makes the engine read the schema again, in which a script may have written.
    func rereadSchema() {
        guard let version = try? rows("PRAGMA schema_version").first?[0].flatMap(Int.init) else { return }
        sqlite3_exec(handle, "PRAGMA schema_version = \(version &+ 1 & 0x7fff_ffff)", nil, nil, nil)
    }

    /// What the engine finds out when it compiles a statement.
    struct Compiled {
        struct Column {
            let name: String
            /// The declared type, if it is a column of a table.
            let declaredType: String?
        }

        let columns: [Column]
        let isReadOnly: Bool
    }

    /// Compiles a statement without running it.
    @discardableResult
    func compile(_ sql: String) throws(Failure) -> Compiled {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
        defer { sqlite3_finalize(statement) }
        func text(_ bytes: UnsafePointer<CChar>?) -> String? { bytes.map { String(cString: $0) } }
        let columns = (0..<sqlite3_column_count(statement)).map {
            Compiled.Column(
                name: text(sqlite3_column_name(statement, $0)) ?? "",
                declaredType: text(sqlite3_column_decltype(statement, $0)))
        }
        return Compiled(columns: columns, isReadOnly: sqlite3_stmt_readonly(statement) != 0)
    }

    /// The version of the engine: 3040001 is 3.40.1.
    static var versionNumber: Int { Int(sqlite3_libversion_number()) }

    func rows(_ sql: String) throws(Failure) -> [[String?]] {
        ticks = 0
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
        defer { sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { column in
                        sqlite3_column_text(statement, column).map { String(cString: $0) }
                    })
            case SQLITE_DONE: return rows
            default: throw failure()
            }
        }
    }

    private func failure() -> Failure {
        if isExhausted {
            return Failure(message: "the statement runs on and on: a build does not wait for it", offset: nil)
        }
        let offset = Int(lv_error_offset(handle))
        return Failure(message: String(cString: sqlite3_errmsg(handle)), offset: offset < 0 ? nil : offset)
    }
}
