#include "CEngineSupport.h"

#include "EngineHeader.h"

#include <string.h>

size_t lv_read_cells(sqlite3_stmt *statement, struct lv_cell *cells, int count) {
    size_t length = 0;
    for (int index = 0; index < count; index++) {
        sqlite3_value *value = sqlite3_column_value(statement, index);
        struct lv_cell *cell = &cells[index];
        cell->type = sqlite3_value_type(value);
        switch (cell->type) {
        case SQLITE_INTEGER: cell->bits = sqlite3_value_int64(value); break;
        case SQLITE_FLOAT: {
            double number = sqlite3_value_double(value);
            memcpy(&cell->bits, &number, sizeof number);
            break;
        }
        case SQLITE_TEXT:
        case SQLITE_BLOB: {
            // First the pointer, then the length: it is in UTF-8 only after sqlite3_value_text. The pointer is null for
            // an empty blob, and when there was no memory to convert a text.
            const void *bytes = cell->type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
            cell->bits = (int64_t)(intptr_t)bytes;
            cell->length = bytes ? sqlite3_value_bytes(value) : 0;
            length += (size_t)cell->length;
            break;
        }
        default: cell->bits = 0;
        }
    }
    return length;
}

void lv_copy_cells(struct lv_cell *cells, int count, void *memory) {
    char *end = memory;
    for (int index = 0; index < count; index++) {
        struct lv_cell *cell = &cells[index];
        if (cell->type != SQLITE_TEXT && cell->type != SQLITE_BLOB) continue;
        if (cell->length > 0) memcpy(end, (const void *)(intptr_t)cell->bits, (size_t)cell->length);
        cell->bits = (int64_t)(intptr_t)end;
        end += cell->length;
    }
}
