import LiteVaultCore
import Testing

@Suite struct KeyStatementsTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x)")
    }

    static let refused = [
        "PRAGMA key = 'x'", "PRAGMA rekey = 'x'", "PRAGMA main.key = 'x'", "PRAGMA hexkey = '00'",
        "PRAGMA cipher_page_size = 1024",
        "PRAGMA cipher_compatibility = 3", "PRAGMA cipher_default_kdf_iter = 1", "PRAGMA CIPHER_MIGRATE",
        "PRAGMA kdf_iter = 1",
        "PRAGMA temp_store = FILE", "PRAGMA temp_store_directory = '/'", "PRAGMA writable_schema = ON",
        "ATTACH ':memory:' AS a", "ATTACH ':memory:' AS a KEY 'x'",
    ]

    @Test(arguments: refused) func `while it is set, a statement about keys is rejected`(sql: String) throws {
        #expect(!db.refusesKeyStatements)
        db.refusesKeyStatements = true
        #expect(db.refusesKeyStatements)
        for run in [{ try db.execute(sql) }, { try db.run(SQL(sql: sql)) }, { try db.execute("SELECT 1; " + sql) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: DatabaseError.self) { try run() }
            #expect(error?.resultCode == .authorization)
        }
    }

    @Test(arguments: ["load_extension", "sqlcipher_export"])
    func `while it is set, a function that accesses anything outside of the database is rejected`(name: String) throws {
        try db.defineFunction(name) { _ in 1 }
        db.refusesKeyStatements = true
        let error = #expect(throws: DatabaseError.self) { try db.run("SELECT \(sql: name)('x')") }
        #expect(error?.message == "not authorized to use function: \(name)")
    }

    @Test(arguments: [
        "SELECT 1", "INSERT INTO t VALUES (1)", "PRAGMA user_version = 1", "CREATE TABLE u(x)",
        "PRAGMA foreign_keys = ON", "PRAGMA page_size = 8192",
    ])
    func `other statements run as ever`(sql: String) throws {
        db.refusesKeyStatements = true
        try db.run(SQL(sql: sql))
    }

    @Test func `statements prepared before it was set are refused too`() throws {
        let attach = try db.prepare("ATTACH ':memory:' AS a")
        db.refusesKeyStatements = true
        let error = #expect(throws: DatabaseError.self) { try attach.run() }
        #expect(error?.resultCode == .authorization)
    }

    @Test func `switching it off allows them again`() throws {
        db.refusesKeyStatements = true
        db.refusesKeyStatements = false
        try db.run("PRAGMA temp_store = MEMORY")
        try db.attach(.inMemory, as: "a")
    }

    @Test func `backups of such a connection work`() throws {
        db.refusesKeyStatements = true
        let target = try Connection()
        target.refusesKeyStatements = true
        try Backup(sourceConnection: db, targetConnection: target).step()
        #expect(try target.number("SELECT count(*) FROM t") == 0)
        #expect(throws: DatabaseError.self) { try target.run("PRAGMA temp_store = FILE") }
    }

    @Test func `attaching through the connection is refused as well`() throws {
        db.refusesKeyStatements = true
        let error = #expect(throws: DatabaseError.self) { try db.attach(.inMemory, as: "a") }
        #expect(error?.resultCode == .authorization)
    }

    @Test(arguments: [
        ("key = 'x'", "key"), ("main.rekey('x')", "rekey"), ("CIPHER_USE_HMAC = OFF", "cipher_use_hmac"), ("kdf_iter = 1", "kdf_iter"),
        ("cipher_default_page_size = 8192", "cipher_default_page_size"), ("cipher_migrate", "cipher_migrate"),
        ("cipher_profile = 'file'", "cipher_profile"), ("temp_store = FILE", "temp_store"), ("temp_store = 1", "temp_store"),
        ("temp_store_directory = '/'", "temp_store_directory"), ("main.page_size = 8192", "page_size"),
    ])
    func `the guard of settings rejects what changes them, and knows what it was`(pragma: String, name: String) throws {
        db.settingsGuard = SettingsGuard(encryptedPageSize: 4096)
        #expect(db.refusedPragma == nil)
        for sql in ["PRAGMA ", "EXPLAIN PRAGMA "] {
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql + pragma) }
            #expect(error?.resultCode == .authorization)
            #expect(db.refusedPragma?.name == name)
        }
        db.settingsGuard = nil
        try db.execute("PRAGMA user_version = 1")
    }

    @Test(arguments: [
        "PRAGMA cipher_version", "PRAGMA cipher_use_hmac", "PRAGMA kdf_iter", "PRAGMA temp_store", "PRAGMA temp_store = MEMORY",
        "PRAGMA temp_store(2)", "PRAGMA page_size", "PRAGMA page_size = 4096", "PRAGMA writable_schema = ON", "ATTACH ':memory:' AS a",
        "INSERT INTO t VALUES (1)",
    ])
    func `the guard of settings lets them be read, and other statements run`(sql: String) throws {
        db.settingsGuard = SettingsGuard(encryptedPageSize: 4096)
        try db.run(SQL(sql: sql))
        #expect(db.refusedPragma == nil)
    }

    @Test(arguments: ["PRAGMA temp_store = FILE", "PRAGMA page_size = 8192"])
    func `of a plaintext database, temporary data and page size are not guarded`(sql: String) throws {
        db.settingsGuard = SettingsGuard(encryptedPageSize: nil)
        try db.run(SQL(sql: sql))
    }
}
