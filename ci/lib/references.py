"""Which file refers to which, exactly: read from the index that the compiler writes beside a debug build.

Used by ci/house. The index is read with the toolchain's libIndexStore, through its C interface.
"""

import collections
import ctypes
import os
import pathlib
import sys

from symbolgraphs import ROOT, SOURCES, tool

STORE = ROOT / ".build/debug/index/store"
DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8
RECORD = 2


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


def _library():
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = pathlib.Path(tool("swiftc")).parent.parent / f"lib/libIndexStore.{suffix}"
    if not path.exists():
        sys.exit(f"the toolchain has no {path.name}")
    library = ctypes.CDLL(str(path))
    pointer, text, integer = ctypes.c_void_p, Text, ctypes.c_int
    for name, result, arguments in [
        ("store_create", pointer, [ctypes.c_char_p, pointer]),
        ("store_units_apply_f", ctypes.c_bool, [pointer, ctypes.c_uint, pointer, pointer]),
        ("unit_reader_create", pointer, [pointer, ctypes.c_char_p, pointer]),
        ("unit_reader_dispose", None, [pointer]),
        ("unit_reader_get_main_file", text, [pointer]),
        ("unit_reader_get_modification_time", None, [pointer, pointer, pointer]),
        ("unit_reader_dependencies_apply_f", ctypes.c_bool, [pointer, pointer, pointer]),
        ("unit_dependency_get_kind", integer, [pointer]),
        ("unit_dependency_get_filepath", text, [pointer]),
        ("unit_dependency_get_name", text, [pointer]),
        ("record_reader_create", pointer, [pointer, ctypes.c_char_p, pointer]),
        ("record_reader_dispose", None, [pointer]),
        ("record_reader_occurrences_apply_f", ctypes.c_bool, [pointer, pointer, pointer]),
        ("occurrence_get_symbol", pointer, [pointer]),
        ("occurrence_get_roles", ctypes.c_uint64, [pointer]),
        ("occurrence_get_line_col", None, [pointer, pointer, pointer]),
        ("symbol_get_usr", text, [pointer]),
        ("symbol_get_name", text, [pointer]),
    ]:
        function = getattr(library, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
    return library


ON_TEXT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
ON_POINTER = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)


class Index:
    """The newest record of each Swift file that is in Sources now."""

    def __init__(self):
        if not STORE.exists():
            sys.exit("the debug build has no index: run 'swift build' first")
        self.library = _library()
        self.store = self.library.indexstore_store_create(os.fsencode(STORE), None)
        if not self.store:
            sys.exit(f"{STORE} cannot be read")
        self.records = self._newest_records()

    def _newest_records(self):
        units = []
        keep = ON_TEXT(lambda _, name: units.append(str(name)) or True)
        self.library.indexstore_store_units_apply_f(self.store, 0, None, keep)
        newest = {}
        for unit in units:
            reader = self.library.indexstore_unit_reader_create(self.store, unit.encode(), None)
            if not reader:
                continue
            file = str(self.library.indexstore_unit_reader_get_main_file(reader))
            if file.startswith(f"{SOURCES}/") and file.endswith(".swift") and os.path.exists(file):
                seconds, nanoseconds = ctypes.c_int64(), ctypes.c_int64()
                self.library.indexstore_unit_reader_get_modification_time(
                    reader, ctypes.byref(seconds), ctypes.byref(nanoseconds))
                time = (seconds.value, nanoseconds.value)
                if file not in newest or newest[file][0] < time:
                    record = self._record(reader, file)
                    if record:
                        newest[file] = (time, record)
            self.library.indexstore_unit_reader_dispose(reader)
        return {file: record for file, (_, record) in newest.items()}

    def _record(self, reader, file):
        found = []

        def look(_, dependency):
            if self.library.indexstore_unit_dependency_get_kind(dependency) == RECORD:
                if str(self.library.indexstore_unit_dependency_get_filepath(dependency)) == file:
                    found.append(str(self.library.indexstore_unit_dependency_get_name(dependency)))
            return True

        self.library.indexstore_unit_reader_dependencies_apply_f(reader, None, ON_POINTER(look))
        return found[0] if found else None

    def occurrences(self, file):
        """Yields (identifier, name, roles, line) of what is defined and referred to in a file."""
        found = []

        def look(_, occurrence):
            roles = self.library.indexstore_occurrence_get_roles(occurrence)
            if roles & (DEFINITION | REFERENCE) and not roles & IMPLICIT:
                symbol = self.library.indexstore_occurrence_get_symbol(occurrence)
                line, column = ctypes.c_uint(), ctypes.c_uint()
                self.library.indexstore_occurrence_get_line_col(occurrence, ctypes.byref(line), ctypes.byref(column))
                found.append((
                    str(self.library.indexstore_symbol_get_usr(symbol)),
                    str(self.library.indexstore_symbol_get_name(symbol)), roles, line.value))
            return True

        reader = self.library.indexstore_record_reader_create(self.store, self.records[file].encode(), None)
        self.library.indexstore_record_reader_occurrences_apply_f(reader, None, ON_POINTER(look))
        self.library.indexstore_record_reader_dispose(reader)
        return found


def files():
    """The references between files, [(file, line, name, file that defines it)], and the files that the index lacks.

    Paths are relative to Sources. A file without a record was not compiled by the last debug build: that one is stale.
    """
    index = Index()
    defined, referred = {}, []
    lacking = [file for file in sorted(SOURCES.rglob("*.swift")) if str(file) not in index.records]
    for file in sorted(index.records):
        path = pathlib.PurePath(file).relative_to(SOURCES)
        for identifier, name, roles, line in index.occurrences(file):
            if roles & DEFINITION:
                defined[identifier] = path
            else:
                referred.append((path, line, name, identifier))
    found = [(path, line, name, defined[identifier]) for path, line, name, identifier in referred if identifier in defined]
    return found, [file.relative_to(SOURCES) for file in lacking]


def directories(found):
    """Of these references, those between directories of a target: {target: {(from, to): [(file, line, name)]}}.

    A directory is the first one below the target; files in the target itself are in the directory `.`.
    """
    between = collections.defaultdict(lambda: collections.defaultdict(list))
    for file, line, name, home in found:
        one, other = (path.parts[1] if len(path.parts) > 2 else "." for path in (file, home))
        if file.parts[0] == home.parts[0] and one != other:
            between[file.parts[0]][one, other].append((f"Sources/{file}", line, name))
    return between
