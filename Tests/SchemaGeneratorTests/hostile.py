"""Names, comments and scripts that would leave their comment or literal in generated Swift, which the compiler's own parser reads."""
# hazard: H-SEC-17
from support import case, compiler, generate, parses

MARK = "injected"
CODE = f"public let {MARK} = 1"
#: What ends a comment or a literal for the compiler, or looks like it.
TEXTS = [
    f"a\n{CODE} //", f"a\r{CODE} //", f"a\r\n{CODE} //", f"a`.\n}}\n{CODE}\nenum B {{ //", f'a") ; {CODE} //',
    f'a"\u0301) ; {CODE} //', f'\"\u0301\n{CODE} //', f"a\\\u0301\n{CODE} //", f"a\\({MARK})", f"*/ {CODE} /*", "a\u2028b", "a\u202eb",
    "a\x1b[2J", "a\u0085b", "\"\"\"", "\"\"\"\u0301#", "\\#(1)", "\\#\u0301(1)", "\\##(1)\"\"\"##\u200d", "\ufeffa", "caf\u00e9", "cafe\u0301",
]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def survives(name, *scripts, queries=()):
    status, said, schema, functions = generate(*scripts, queries=queries)
    why = f"{status} {said}" if status else None
    for source in (schema, functions):
        why = why or (source and parses(source, without=MARK))
    case(name, why is None, why)


if compiler is None:
    case("the compiler's parser is there", False, "no swiftc")
else:
    for number, text in enumerate(TEXTS):
        about = f"{number + 1}: {text[:24]!r}"
        table = quoted("t " + text)
        survives(f"a table and a column of any name stay names in Swift {about}",
                 ("schema.sql", f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {quoted('c ' + text)} TEXT NOT NULL);"))
        if "\n" not in text and "\r" not in text and '"' not in text:
            survives(f"a record of such a table is one record {about}",
                     ("schema.sql", f'-- litevault: record "t {text}" as Entry\nCREATE TABLE {table} (id INTEGER PRIMARY KEY, '
                                    f"{quoted('c ' + text)} TEXT DEFAULT 'x''{text.replace(chr(39), chr(39) * 2)}');"))
        survives(f"a script with such a comment and literal is kept in one literal {about}",
                 ("schema.sql", f"CREATE TABLE t (x TEXT DEFAULT '{text.replace(chr(39), chr(39) * 2)}');\n/* {text.replace('*/', '')} */"))
        if "\n" not in text:
            survives(f"the comment of a statement stays a comment {about}", ("schema.sql", "CREATE TABLE t (x TEXT NOT NULL);"),
                     queries=[("q.sql", f"-- name: all() :many\n-- {text}\nSELECT x FROM t WHERE x <> '{text.replace(chr(39), chr(39) * 2)}'"
                                        " AND x IN (:list);".replace("IN (:list)", "<> ''"))])
