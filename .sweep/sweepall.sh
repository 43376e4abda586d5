#!/bin/bash
# in the tree
FILES=$(git ls-files 'Sources/*.swift' 'Tests/*.swift' | grep -vE "^Sources/(SQLite|LiteVaultCore|LiteVaultEngine|LiteVaultSchemaGenerator)/|^Tests/(SQLiteTests|SeedTests|CompileTests|LiteVaultCoreTests)/" | xargs grep -LE "^import SQLite$")
python3 /wt/core-sweep/sweep.py $FILES 2>&1 | cut -c1-200
python3 /wt/core-sweep/sweep2.py $FILES
echo "== left"
grep -nE "\bscalar\(\"|createFunction\(\"|\.trace\b ?[({]|\bsavepoint\b ?[({]|busyHandler|\b(db|connection|reader|writer|self|guardian|source|target|destination|other)\.busyTimeout|usesExtended|\.handle\b|\b(db|\\\$0|connection)\.changes\b|lastInsertRowid|\.readonly\b|\.step\(\)|failableNext|prepareRowIterator\(\"|\.reset\(\)|\.journalMode\b|setJournalMode|walAutoCheckpoint|\.prepare\((\"|sql|statement)[^)]*,|(db|connection|\\\$0)\.(synchronous|foreignKeys|deferForeignKeys|userVersion)|enableWAL|usingConnection|setWALAutoCheckpoint\([0-9]|for .* in .*\.prepare\(\"|sqliteVersion" $FILES | grep -vE "EngineInfo|engine\.sqliteVersion|backup\.step|\.step\(\)\$" | cut -c1-210
python3 /wt/core-sweep/post.py
