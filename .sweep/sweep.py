"""Rewrites the old spellings of SQL text. usage: sweep.py FILE…"""
import re, sys

def close(s, i):
    """index after the paren that closes s[i] == '(' ; string-aware"""
    depth = 0
    n = len(s)
    while i < n:
        c = s[i]
        if c in '([{': depth += 1
        elif c in ')]}':
            depth -= 1
            if depth == 0: return i + 1
        elif c == '/' and s[i:i+2] == '//':
            i = s.index('\n', i); continue
        elif c == '"' or (c == '#' and re.match(r'#+"', s[i:])):
            i = string_end(s, i); continue
        i += 1
    return -1

def string_end(s, i):
    m = re.match(r'(#*)("""|")', s[i:])
    hashes, q = m.group(1), m.group(2)
    i += m.end()
    end = q + hashes
    while True:
        if s[i] == '\\' and s[i+1:i+1+len(hashes)] == hashes:
            j = i + 1 + len(hashes)
            if s[j] == '(':
                i = close(s, j); continue
            i = j + 1; continue
        if s.startswith(end, i): return i + len(end)
        i += 1

def split_args(t):
    out = []; i = 0; start = 0; n = len(t)
    while i < n:
        c = t[i]
        if c in '([{': i = close(t, i); continue
        if c == '"' or (c == '#' and re.match(r'#+"', t[i:])): i = string_end(t, i); continue
        if c == ',': out.append(t[start:i]); start = i + 1
        i += 1
    out.append(t[start:])
    return out

def values(args):
    """the arguments after the text -> ' with:' form, or None"""
    if not args: return ''
    a = [x.strip() for x in args]
    if any(re.match(r'[a-z]\w*:', x) for x in a): return None
    if len(a) == 1 and a[0].startswith('['): return f', with: Bindings({a[0]})'
    if len(a) == 1 and a[0] in ('values', 'bindings', 'arguments'): return f', with: Bindings({a[0]})'
    a = ['Int?.none' if x == 'nil' else x for x in a]
    if len(a) > 12: return f', with: Bindings([{", ".join(a)}])'
    return ', with: ' + ', '.join(a)

TEXT = re.compile(r'\s*(#*"|sql\b|text\b|select\b|query\b|statement\b|pragma\b|check\b)')

def sweep(s):
    # scalar
    i = 0
    out = ''
    pat = re.compile(r'(?<![\w.`])?(\bscalar|\brun|\bprepareRowIterator)\(')
    while True:
        m = re.compile(r'\b(scalar|run)\(').search(s, i)
        if not m: break
        name = m.group(1)
        o = m.end() - 1
        if s[m.start()-5:m.start()] == 'func ':
            out += s[i:m.end()]; i = m.end(); continue
        e = close(s, o)
        if e < 0: break
        args = split_args(s[o+1:e-1])
        isText = TEXT.match(args[0]) and not re.match(r'\s*(text|statement|query|select)\b\s*[.(]', args[0])
        if name == 'run' and not re.match(r'\s*(#*"+\s*(?:\\\(|[A-Z]{3,})|sql\b|insert\b|text\b)', args[0]): isText = None
        v = values(args[1:]) if isText else None
        if not isText or v is None:
            out += s[i:m.end()]; i = m.end(); continue
        first = sweep_inner(args[0])
        rest = s[e:]
        if name == 'run':
            # only where unlabelled values follow
            out += s[i:m.start()] + 'run(' + first + v + ')'
            i = e; continue
        cast = re.match(r'\s+as\?\s+(Int64|String|Double|Blob|Int|Bool)\b', rest)
        if cast:
            t = cast.group(1)
            after = rest[cast.end():]
            eq = re.match(r'\)?\s*(==|>=|<=|!=|>|<)\s*(-?[\w".#(\[]+)', after)
            q = '?'
            if eq and eq.group(2) not in ('nil',) and not eq.group(2).startswith('nil'):
                q = ''
                if t == 'Int64' and re.match(r'-?[0-9_]+$', eq.group(2)): t = 'Int'
            out += s[i:m.start()] + f'value({first}{v}, as: {t}{q}.self)'
            i = e + cast.end(); continue
        nil = re.match(r'\s*(==|!=)\s*nil\b', rest)
        if nil:
            out += s[i:m.start()] + f'value({first}{v}, as: StoredValue.self) {nil.group(1)} .null'
            i = e + nil.end(); continue
        if re.search(r'\b_ = (try[?!]? )?(await )?[\w.$]*$', s[i:m.start()]) or re.search(r'throws[^\n]*\{ (try )?[\w.$]*$', s[i:m.start()]) :
            out += s[i:m.start()] + f'value({first}{v}, as: StoredValue.self)'
            i = e; continue
        sys.stderr.write(f'{sys._getframe().f_code.co_name}: {FILE}: scalar without a cast: {s[m.start():e+40]!r}\n')
        out += s[i:m.end()]; i = m.end()
    out += s[i:]
    s = out
    # pragmas
    for n, t in [('UserVersion','userVersion'),('ApplicationID','applicationID')]:
        s = re.sub(r'\bread%s\(\)' % n, f'pragma(.{t})', s)
        s = re.sub(r'\bset%s\((?=[^_)])' % n, f'setPragma(.{t}, to: ', s)
    s = re.sub(r'\bset(ForeignKeys|DeferForeignKeys|Synchronous)\((?=[^_)])', lambda m: f'setPragma(.{m.group(1)[0].lower()+m.group(1)[1:]}, to: ', s)
    s = re.sub(r'(^|\n)(\s*)((?:try )?)([\w.$]+)\.(foreignKeys|deferForeignKeys|userVersion) = ([\w.-]+)', lambda m: f'{m.group(1)}{m.group(2)}try {m.group(4)}.setPragma(.{m.group(5)}, to: {m.group(6)})', s)
    s = re.sub(r'\bforEachRow\(', 'forEach(', s)
    s = re.sub(r'_ = try ([\w.$]+)\.enableWAL\(\)', r'try \1.setPragma(.journalMode, to: .wal)', s)
    s = re.sub(r'try ([\w.$]+)\.enableWAL\(\)', r'try \1.setPragma(.journalMode, to: .wal)', s)
    s = re.sub(r'\btotalChanges\b', 'totalChangedRowCount', s)
    s = re.sub(r'(\w+)\.backup\(usingConnection: (\w+)\)', r'Backup(sourceConnection: \1, targetConnection: \2)', s)
    s = re.sub(r'\b(db|connection|database)\.(sqliteVersion)\b', r'EngineInfo.linked.sqliteVersion', s)
    s = re.sub(r'\b(db|connection|database|writer|reader)\.busyTimeout = ([0-9.]+)', r'\1.lockTimeout = .seconds(\2)', s)
    s = re.sub(r'\.createFunction\((?=")', '.defineFunction(', s) if False else s
    return s

def sweep_inner(t): return t

for FILE in sys.argv[1:]:
    s = open(FILE).read()
    o = s
    s = sweep(s)
    if s != o: open(FILE, 'w').write(s)
