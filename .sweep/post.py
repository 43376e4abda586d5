import re,subprocess
R=lambda p: open(p).read()
files=[f for f in subprocess.check_output(['git','ls-files','Sources/*.swift','Tests/*.swift'],text=True).split() if not re.match(r'Sources/(SQLite|LiteVaultCore|LiteVaultEngine|LiteVaultSchemaGenerator)/|Tests/(SQLiteTests|SeedTests|CompileTests|LiteVaultCoreTests)/',f)]
for p in files:
    try: s=R(p)
    except FileNotFoundError: continue
    o=s
    if re.search(r'^import SQLite$',s,re.M): continue
    s=re.sub(r'\bscalar\((?="|prefix|sql\))','untypedValue(',s) if 'LiteVaultQuery' not in p else s
    s=s.replace('second.read { "\\(try $0.untypedValue("PRAGMA auto_vacuum") ?? "")" } == "1"','second.read { try $0.integer("auto_vacuum") } == 1')
    s=s.replace('''#expect(try db.prepare("SELECT a FROM t WHERE a > ?", 2).map { $0[0] as? Int64 } == [3])''','''#expect(try db.all("SELECT a FROM t WHERE a > ?", with: 2, as: Int.self) == [3])''')
    s=s.replace('''            while try program.advance() {
                let operation = try program.row.get(1, as: String.self)
                if operation''','''            while let step = try program.nextValues() {
                guard step.count > 4, let operation = step[1] as? String, let root = step[3] as? Int64,
                    let number = step[4] as? Int64
                else { return nil }
                if operation''').replace('''                let root = try program.row.get(3, as: Int64.self)
                let number = try program.row.get(4, as: Int64.self)
''','')
    s=s.replace('let rows = statement.prepareRowIterator()','let rows = RowIterator(statement)').replace('#expect(try statement.scalar() as? Int64 == 1)','#expect(try statement.valueOfBound() as? Int64 == 1)')
    s=s.replace('''as by `setJournalMode(_:)`.''','''as by `setPragma(.journalMode, to:)`.''')
    s=s.replace('''        for row in try db.prepare("SELECT * FROM \\"\\(table.name)\\" ORDER BY 1") { lines.append("\\(table.name) \\(row)") }''','''        try db.forEach("SELECT * FROM \\"\\(table.name)\\" ORDER BY 1") { lines.append("\\(table.name) \\($0.copy().values)") }''')
    s=s.replace('''let row = try #require(try db.prepare("SELECT * FROM t").makeIterator().next())''','''let row = try #require(try db.first("SELECT * FROM t") { $0.copy().values })''')
    # found by the compiler
    if p.startswith('Sources/'):
        s=re.sub(r'guard !readonly else',r'guard !isReadOnly else',s)
        s=re.sub(r'^(\s*)return changes$',r'\1return changedRowCount',s,flags=re.M) if 'LiteVaultQuery' in p else s
        s=s.replace('return try prepare(builder.sql, builder.bindings)\n','let statement = try prepare(builder.sql)\n        try statement.setBindings(builder.bindings)\n        return statement\n')
        s=s.replace('let names = try prepare(builder.sql, builder.bindings).columnNames.map(quoted)','let statement = try prepare(builder.sql)\n            try statement.setBindings(builder.bindings)\n            let names = statement.columnNames.map(quoted)')
        s=s.replace('(self, version: sqliteVersion)','(self, version: EngineInfo.linked.sqliteVersion)')
        s=s.replace('walMode: journalMode == .wal','walMode: pragma(.journalMode) == .wal').replace('let walMode = journalMode == .wal','let walMode = try pragma(.journalMode) == .wal')
        s=s.replace('busyTimeout: busyTimeout).unlock(self)','busyTimeout: lockTimeoutSeconds).unlock(self)')
    if s!=o: open(p,'w').write(s)
