internal import LiteVaultEngine
internal import LiteVaultQuoting

/// A module of virtual tables that the application loads, and a build cannot, by a directive:
///
///     -- litevault: module spellfix1 (word TEXT, rank INTEGER, distance INTEGER HIDDEN)
///     -- litevault: module my_index
///
/// Its tables have the columns in the parentheses. Without them, their columns are the arguments of `CREATE VIRTUAL TABLE` that are not
/// settings (`name = value`), as those of a full-text index are.
struct DeclaredModule {
    let name: String
    /// SQL text; nil if each table has its own.
    let columns: String?

    /// - Parameter directive: the text after `-- litevault:`; another directive returns nil.
    init?(_ directive: String) {
        let text = directive.trimmingPrefix { $0.isWhitespace }
        guard text.hasPrefix("module ") else { return nil }
        let rest = text.dropFirst("module ".count).trimmingPrefix { $0.isWhitespace }
        name = String(rest.prefix { !$0.isWhitespace && $0 != "(" })
        let list = rest.dropFirst(name.count).trimmingPrefix { $0.isWhitespace }
        guard !name.isEmpty else { return nil }
        guard !list.isEmpty else {
            columns = nil
            return
        }
        guard list.first == "(", let end = list.lastIndex(of: ")"), list[end...].dropFirst().allSatisfy(\.isWhitespace)
        else { return nil }
        columns = String(list[list.index(after: list.startIndex)..<end])
    }

    /// The statement that declares a table of the module.
    ///
    /// - Parameter arguments: those of `CREATE VIRTUAL TABLE`.
    fileprivate func declaration(_ arguments: [String]) -> String {
        let own = arguments.filter { !$0.utf8.contains(UInt8(ascii: "=")) }.joined(separator: ", ")
        return "CREATE TABLE x(\(columns ?? own))"
    }
}

extension MemoryDatabase {
    /// Makes a module known. Its tables are empty, and take any row.
    func declare(_ declared: DeclaredModule) throws(Failure) {
        let context = Unmanaged.passRetained(Declaration(declared)).toOpaque()
        let code = withHandle {
            sqlite3_create_module_v2($0, declared.name, EmptyTable.module, context) { context in
                context.map { Unmanaged<Declaration>.fromOpaque($0).release() }
            }
        }
        guard code == SQLITE_OK else {
            throw Failure(message: "the module \(declared.name) cannot be declared", offset: nil)
        }
    }
}

/// What the engine passes to the functions of a module.
private final class Declaration {
    let module: DeclaredModule
    init(_ module: DeclaredModule) { self.module = module }
}

/// A virtual table without rows (https://sqlite.org/vtab.html).
private enum EmptyTable {
    /// Lives as long as the process, as the engine requires.
    nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        var functions = sqlite3_module()
        functions.iVersion = 1
        functions.xCreate = create
        functions.xConnect = create
        functions.xBestIndex = { _, _ in SQLITE_OK }
        functions.xDisconnect = destroy
        functions.xDestroy = destroy
        functions.xOpen = { _, cursor in
            guard let made = sqlite3_malloc(Int32(MemoryLayout<sqlite3_vtab_cursor>.size)) else { return SQLITE_NOMEM }
            let typed = made.bindMemory(to: sqlite3_vtab_cursor.self, capacity: 1)
            typed.initialize(to: sqlite3_vtab_cursor())
            cursor?.pointee = typed
            return SQLITE_OK
        }
        functions.xClose = { cursor in
            sqlite3_free(cursor)
            return SQLITE_OK
        }
        functions.xFilter = { _, _, _, _, _ in SQLITE_OK }
        functions.xNext = { _ in SQLITE_OK }
        functions.xEof = { _ in 1 }
        functions.xColumn = { _, _, _ in SQLITE_OK }
        functions.xRowid = { _, rowid in
            rowid?.pointee = 0
            return SQLITE_OK
        }
        functions.xUpdate = { _, _, _, _ in SQLITE_OK }
        // MATCH and other functions that a module overloads compile without it: they are functions of the engine.
        functions.xRename = { _, _ in SQLITE_OK }
        module.initialize(to: functions)
        return UnsafePointer(module)
    }()

    private static let create:
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32 = { db, context, count, arguments, table, _ in
            guard let context else { return SQLITE_ERROR }
            let declared = Unmanaged<Declaration>.fromOpaque(context).takeUnretainedValue().module
            // The first three are the names of the module, the database and the table.
            let own = (3..<max(3, Int(count))).compactMap { arguments?[$0].map { String(cString: $0) } }
            let code = sqlite3_declare_vtab(db, declared.declaration(own))
            guard code == SQLITE_OK else { return code }
            guard let made = sqlite3_malloc(Int32(MemoryLayout<sqlite3_vtab>.size)) else { return SQLITE_NOMEM }
            let typed = made.bindMemory(to: sqlite3_vtab.self, capacity: 1)
            typed.initialize(to: sqlite3_vtab())
            table?.pointee = typed
            return SQLITE_OK
        }

    private static let destroy: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 = { table in
        sqlite3_free(table)
        return SQLITE_OK
    }
}
