import re, sys
EX = r'((?:[\w$]+\.)*[\w$]+|(?:try )?Connection\((?:[^()]|\([^()]*\))*\))'
PR = '(journalMode|walAutoCheckpoint|synchronous|foreignKeys|deferForeignKeys)'
def sweep(s, p):
    own = r'(?:db|connection|writer|reader|source|target|copy|other|database|guardian|\$0|again|out|into|restored)'
    s = re.sub(r'\bsetJournalMode\((?!_)', 'setPragma(.journalMode, to: ', s)
    s = re.sub(r'\bsetWALAutoCheckpoint\((\d+)\)', r'setPragma(.walAutoCheckpoint, to: \1)', s)
    s = re.sub(r'^(\s*)(%s)\.%s = (.*)$' % (own, PR), r'\1try \2.setPragma(.\3, to: \4)', s, flags=re.M)
    # reads
    def expect(m):
        body = m.group(2)
        new = re.sub(r'(%s|Connection\((?:[^()]|\([^()]*\))*\))\.%s\b(?! =[^=])' % (own, PR), r'\1.pragma(.\2)', body)
        if new == body: return m.group(0)
        if not new.startswith('try '): 
            if '{' not in new and 'try' not in new.split('.pragma')[0]: new = 'try ' + new
        return m.group(1) + new
    s = re.sub(r'(#expect\()(.*)', expect, s)
    s = re.sub(r'\{ (!?)\$0\.%s' % PR, r'{ try \1$0.pragma(.\2)', s)
    s = re.sub(r'\{ (!?)\$0\.pragma', r'{ try \1$0.pragma', s)
    s = re.sub(r'\$0\.%s\b' % PR, r'$0.pragma(.\1)', s)
    s = re.sub(r'(let \w+ = |journalMode = )(%s)\.%s\b' % (own, PR), r'\1try \2.pragma(.\3)', s)
    s = re.sub(r'(walMode: )(%s)\.%s\b' % (own, PR), r'\1\2.pragma(.\3)', s)
    s = re.sub(r'(isDeferred \? false : )(%s)\.%s\b' % (own, PR), r'\1\2.pragma(.\3)', s)
    s = re.sub(r'\bif (%s)\.%s\b' % (own, PR), r'if try \1.pragma(.\2)', s)
    s = re.sub(r'(?<![\w)])(%s)\.readonly\b(?!:)' % own, r'\1.isReadOnly', s)
    s = re.sub(r'\$0\.busyTimeout == ([\d.]+)', r'$0.lockTimeout == .seconds(\1)', s)
    s = re.sub(r'(%s)\.busyTimeout == ([\d.]+)' % own, r'\1.lockTimeout == .seconds(\2)', s)
    s = re.sub(r'\bdb\.trace\b( ?[({])', r'db.setTrace\1', s)
    s = re.sub(r'\bsavepoint\((?=")', 'withSavepoint(named: ', s)
    s = re.sub(r'(?<!case )\bsavepoint \{', 'withSavepoint {', s)
    if 'LiteVaultQueryTests' not in p and 'LiteVaultQuery/' not in p:
        s = re.sub(r'(?<!try )\bdb\.createFunction\(', 'try db.defineFunction(', s)
    s = re.sub(r'\bdb\.lastInsertRowid', 'db.lastInsertedRowID', s)
    s = re.sub(r'#expect\(db\.changes\b', '#expect(db.changedRowCount', s)
    s = re.sub(r'\b(statement|others|program)\.step\(\)', r'\1.advance()', s)
    s = re.sub(r'(\.prepare\("[^"\n]*"\))\.step\(\)', r'\1.advance()', s)
    s = re.sub(r'\b(statement|others)\.reset\(\)', r'\1.clear()', s)
    s = re.sub(r'(%s)\.busyTimeout = ' % own, r'\1.lockTimeoutSeconds = ', s)
    s = re.sub(r'(?<![\w.])(db|source|target|connection)\.busyTimeout\b', r'\1.lockTimeoutSeconds', s)
    s = re.sub(r'\bdb\.prepareRowIterator\((".*?")\)', r'RowIterator(db.prepare(\1))', s)
    s = re.sub(r'(\w+)\.backup\(usingConnection: (Connection\((?:[^()]|\([^()]*\))*\))\)', r'Backup(sourceConnection: \1, targetConnection: \2)', s)
    s = s.replace('feature.isSupported(by: sqliteVersion)', 'feature.isSupported(by: EngineInfo.linked.sqliteVersion)')
    return s
for p in sys.argv[1:]:
    s = open(p).read(); o = s
    s = sweep(s, p)
    if s != o: open(p, 'w').write(s)
