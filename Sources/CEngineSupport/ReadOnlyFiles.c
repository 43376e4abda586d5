#include "CEngineSupport.h"

#include "EngineHeader.h"

#include <stdlib.h>
#include <string.h>

// A VFS of SQLite (https://sqlite.org/vfs.html) under which nothing can be written: there is one database, whose bytes a
// callback gives, and beside it nothing. The engine may open a log and make an index for it, as a database in WAL mode
// needs both; the log is empty, and the index is memory of the connection.

struct lv_read_only_files {
    sqlite3_vfs vfs;
    struct lv_byte_source source;
};

struct file {
    sqlite3_file base;
    const struct lv_byte_source *source;  // NULL: a file of no bytes
    void **regions;
    int count;
};

static int read_bytes(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    struct file *file = (struct file *)base;
    int read = file->source ? file->source->read(file->source->context, buffer, count, offset) : 0;
    if (read < 0) return SQLITE_IOERR_READ;
    if (read == count) return SQLITE_OK;
    memset((char *)buffer + read, 0, (size_t)(count - read));
    return SQLITE_IOERR_SHORT_READ;
}

static int size_of(sqlite3_file *base, sqlite3_int64 *size) {
    struct file *file = (struct file *)base;
    *size = file->source ? file->source->size : 0;
    return SQLITE_OK;
}

static int refuse_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    return SQLITE_READONLY;
}
static int refuse_truncate(sqlite3_file *base, sqlite3_int64 size) { return SQLITE_READONLY; }
static int sync_nothing(sqlite3_file *base, int flags) { return SQLITE_OK; }
static int lock_nothing(sqlite3_file *base, int level) { return SQLITE_OK; }
static int nobody_reserved(sqlite3_file *base, int *result) {
    *result = 0;
    return SQLITE_OK;
}
static int no_control(sqlite3_file *base, int operation, void *argument) { return SQLITE_NOTFOUND; }
static int sector_size(sqlite3_file *base) { return 4096; }
static int no_characteristics(sqlite3_file *base) { return 0; }

static int map_region(sqlite3_file *base, int index, int size, int extend, void volatile **region) {
    struct file *file = (struct file *)base;
    *region = NULL;
    if (index >= file->count) {
        if (!extend) return SQLITE_OK;
        void **regions = realloc(file->regions, (size_t)(index + 1) * sizeof *regions);
        if (!regions) return SQLITE_NOMEM;
        file->regions = regions;
        for (; file->count <= index; file->count++) {
            if (!(regions[file->count] = calloc(1, (size_t)size))) return SQLITE_NOMEM;
        }
    }
    *region = file->regions[index];
    return SQLITE_OK;
}
static int lock_region(sqlite3_file *base, int offset, int count, int flags) { return SQLITE_OK; }
static void barrier(sqlite3_file *base) { __sync_synchronize(); }
static int unmap_regions(sqlite3_file *base, int delete) {
    struct file *file = (struct file *)base;
    for (int index = 0; index < file->count; index++) free(file->regions[index]);
    free(file->regions);
    file->regions = NULL;
    file->count = 0;
    return SQLITE_OK;
}
static int close_file(sqlite3_file *base) { return unmap_regions(base, 0); }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = refuse_write,
    .xTruncate = refuse_truncate,
    .xSync = sync_nothing,
    .xFileSize = size_of,
    .xLock = lock_nothing,
    .xUnlock = lock_nothing,
    .xCheckReservedLock = nobody_reserved,
    .xFileControl = no_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = no_characteristics,
    .xShmMap = map_region,
    .xShmLock = lock_region,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_regions,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *result) {
    struct file *file = (struct file *)base;
    struct lv_read_only_files *files = vfs->pAppData;
    memset(file, 0, sizeof *file);
    int isDatabase = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    // Temporary files would be in plaintext.
    if (!isDatabase && !(flags & SQLITE_OPEN_WAL)) return SQLITE_CANTOPEN;
    file->base.pMethods = &methods;
    file->source = isDatabase ? &files->source : NULL;
    // A connection that asks for writing may begin to: some statements that write nothing do. Each write fails.
    if (isDatabase) flags &= ~SQLITE_OPEN_CREATE;
    if (result) *result = flags;
    return SQLITE_OK;
}

static int delete_nothing(sqlite3_vfs *vfs, const char *name, int sync) { return SQLITE_OK; }

static int nothing_exists(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    *result = 0;
    return SQLITE_OK;
}

struct lv_read_only_files *lv_read_only_files(const char *name, struct lv_byte_source source) {
    sqlite3_vfs *standard = sqlite3_vfs_find(NULL);
    struct lv_read_only_files *files = calloc(1, sizeof *files + strlen(name) + 1);
    if (!files || !standard) {
        free(files);
        return NULL;
    }
    files->source = source;
    files->vfs = *standard;
    files->vfs.pNext = NULL;
    files->vfs.zName = strcpy((char *)(files + 1), name);
    files->vfs.pAppData = files;
    files->vfs.szOsFile = sizeof(struct file);
    files->vfs.xOpen = open_file;
    files->vfs.xDelete = delete_nothing;
    files->vfs.xAccess = nothing_exists;
    if (sqlite3_vfs_register(&files->vfs, 0) != SQLITE_OK) {
        free(files);
        return NULL;
    }
    return files;
}

void lv_read_only_files_end(struct lv_read_only_files *files) {
    sqlite3_vfs_unregister(&files->vfs);
    free(files);
}
