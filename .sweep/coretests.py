import re,glob
for p in glob.glob('LiteVaultCoreTests/**/*.swift',recursive=True):
    s=open(p).read();o=s
    if 'Backup' not in p.split('/')[-1]:
        s=re.sub(r'(?<!backup)\.step\(\)','.advance()',s)
    s=re.sub(r'Backup\(([^()]*)\)\.advance\(\)',r'Backup(\1).step()',s)
    s=s.replace('backup.advance()','backup.step()')
    s=re.sub(r'\b(reading|select|statement)\.reset\(\)',r'\1.clear()',s)
    s=s.replace('.failableNext()','.nextValues()').replace('statement.makeIterator()','Statement(iterating: statement)')
    s=re.sub(r'\b(kept|select|mine|yours|statement\??|reading)\.scalar\(\)',r'\1.valueOfBound()',s)
    s=re.sub(r'\bdb\.trace\b( ?[({])',r'db.setTrace\1',s); s=re.sub(r'\.busyHandler\b( ?[({])',r'.setBusyHandler\1',s)
    s=s.replace('.savepoint(','.withSavepoint(named: ').replace('.savepoint {','.withSavepoint {')
    s=s.replace('usesExtendedErrorCodes','throwsExtendedErrors').replace('db.handle','db.unguardedHandle')
    s=re.sub(r'\bdb\.changes\b','db.changedRowCount',s).replace('lastInsertRowid','lastInsertedRowID')
    s=s.replace('.readonly','.isReadOnly')
    s=re.sub(r'(?<!try )\bdb\.createFunction\(','try db.defineFunction(',s)
    s=re.sub(r'#expect\((!?)(try )?([^#\n]*?)\.(journalMode|userVersion|synchronous|walAutoCheckpoint|foreignKeys|deferForeignKeys)( (?:==|<=) [^\n]*|)\)(.*)$',lambda m:f'#expect(try {m.group(1)}{m.group(3)}.pragma(.{m.group(4)}){m.group(5)}){m.group(6)}',s,flags=re.M)
    s=re.sub(r'^(\s*)db\.(journalMode|synchronous|walAutoCheckpoint) = (.*)$',r'\1try db.setPragma(.\2, to: \3)',s,flags=re.M)
    s=re.sub(r'#expect\(db\.busyTimeout == ([\d.]+)\)',r'#expect(db.lockTimeout == .seconds(\1))',s)
    s=re.sub(r'\b(db|source)\.busyTimeout = (\d[\d.]*)',r'\1.lockTimeout = .seconds(\2)',s)
    s=s.replace('.busyTimeout','.lockTimeoutSeconds')
    s=re.sub(r'(\w+)\.backup\(databaseName: ([^\n]*?), usingConnection: (\w+), andDatabaseName: ([^\n]*?\))\)',r'Backup(sourceConnection: \1, sourceName: \2, targetConnection: \3, targetName: \4)',s)
    s=re.sub(r'(\w+)\.backup\(databaseName: ([^\n]*?), usingConnection: (\w+)\)',r'Backup(sourceConnection: \1, sourceName: \2, targetConnection: \3)',s)
    if s!=o: open(p,'w').write(s)
