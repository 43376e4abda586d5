#include "CBaseline.h"

#include <sqlite3.h>
#include "statements.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

void baseline_keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024); // the largest that glibc takes
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024 * 1024);
#endif
}

sqlite3 *baseline_open(const char *sql) {
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    require(sqlite3_open_v2(":memory:", &db, flags, NULL) == SQLITE_OK, db);
    require(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, db);
    return db;
}

int64_t baseline_execute(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int code = sqlite3_step(statement);
    require(code == SQLITE_ROW || code == SQLITE_DONE, db);
    int64_t result = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return result;
}

static void insert(sqlite3 *db, const char *sql, int64_t count, const char *const *texts, int64_t textCount,
                   sqlite3_destructor_type lifetime) {
    sqlite3_stmt *statement = prepare(db, sql);
    for (int64_t i = 0; i < count; i++) {
        const char *text = texts[i % textCount];
        sqlite3_bind_int64(statement, 1, i);
        sqlite3_bind_int64(statement, 2, i * 7);
        sqlite3_bind_double(statement, 3, (double)i * 0.5);
        sqlite3_bind_text(statement, 4, text, (int)strlen(text), lifetime);
        if (i & 1) sqlite3_bind_int64(statement, 5, i);
        else sqlite3_bind_null(statement, 5);
        require(sqlite3_step(statement) == SQLITE_DONE, db);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
}

void baseline_insert(sqlite3 *db, const char *sql, int64_t count, const char *const *texts, int64_t textCount) {
    insert(db, sql, count, texts, textCount, SQLITE_TRANSIENT);
}

void baseline_insert_in_place(sqlite3 *db, const char *sql, int64_t count, const char *const *texts, int64_t textCount) {
    insert(db, sql, count, texts, textCount, SQLITE_STATIC);
}

int64_t baseline_fetch(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    double reals = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < 6; column++) sum += sqlite3_column_int64(statement, column);
        if (sqlite3_column_type(statement, 6) != SQLITE_NULL) sum += sqlite3_column_int64(statement, 6);
        reals += sqlite3_column_double(statement, 7) + sqlite3_column_double(statement, 8);
        if (sqlite3_column_int64(statement, 9)) sum++;
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    return sum + (int64_t)reals;
}

static int64_t look_up(sqlite3 *db, sqlite3_stmt *statement, int64_t key) {
    sqlite3_bind_int64(statement, 1, key);
    require(sqlite3_step(statement) == SQLITE_ROW, db);
    int64_t sum = sqlite3_column_int64(statement, 0) + sqlite3_column_int64(statement, 1) +
                  (int64_t)sqlite3_column_double(statement, 2);
    sqlite3_reset(statement);
    return sum;
}

int64_t baseline_lookup(sqlite3 *db, const char *sql, int64_t count, int64_t rows) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += look_up(db, statement, i * 7919 % rows + 1);
    sqlite3_finalize(statement);
    return sum;
}

int64_t baseline_lookup_preparing(sqlite3 *db, const char *sql, int64_t count, int64_t rows) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sqlite3_stmt *statement = prepare(db, sql);
        sum += look_up(db, statement, i * 7919 % rows + 1);
        sqlite3_finalize(statement);
    }
    return sum;
}

static int64_t checksum(unsigned char *bytes, int length) {
    int64_t sum = (int64_t)length * 256 + (length ? bytes[0] : 0);
    free(bytes);
    return sum;
}

int64_t baseline_text(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < 2; column++) {
            const unsigned char *text = sqlite3_column_text(statement, column);
            int length = sqlite3_column_bytes(statement, column);
            sum += checksum(copy(text, length), length);
        }
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    return sum;
}

int64_t baseline_blob(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const void *blob = sqlite3_column_blob(statement, 0);
        int length = sqlite3_column_bytes(statement, 0);
        sum += checksum(copy(blob, length), length);
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    return sum;
}

typedef struct {
    int64_t id;
    unsigned char *email;
    unsigned char *name;
    int64_t age;
    double balance;
    int admin;
} person;

static unsigned char *copy_text(sqlite3_stmt *statement, int column, int *length) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    if (!text) return NULL;
    *length = sqlite3_column_bytes(statement, column);
    return copy(text, *length);
}

// Returns the length of the texts.
static int64_t read_person(sqlite3_stmt *statement, person *one) {
    int email = 0, name = 0;
    one->id = sqlite3_column_int64(statement, 0);
    one->email = copy_text(statement, 1, &email);
    one->name = copy_text(statement, 2, &name);
    one->age = sqlite3_column_int64(statement, 3);
    one->balance = sqlite3_column_double(statement, 4);
    one->admin = sqlite3_column_int64(statement, 5) != 0;
    return email + name;
}

int64_t baseline_people(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    person *people = NULL;
    size_t count = 0, capacity = 0;
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            people = realloc(people, capacity * sizeof(person));
        }
        sum += read_person(statement, &people[count++]);
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    for (size_t i = 0; i < count; i++) {
        sum += people[i].id + people[i].age + (int64_t)people[i].balance + people[i].admin;
        free(people[i].email);
        free(people[i].name);
    }
    free(people);
    return sum;
}

typedef struct {
    int64_t a, b, c, d, e, f, g;
    double h, i;
    int has_g, j;
} wide;

int64_t baseline_wide(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    wide *rows = NULL;
    size_t count = 0, capacity = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            rows = realloc(rows, capacity * sizeof(wide));
        }
        wide *row = &rows[count++];
        row->a = sqlite3_column_int64(statement, 0);
        row->b = sqlite3_column_int64(statement, 1);
        row->c = sqlite3_column_int64(statement, 2);
        row->d = sqlite3_column_int64(statement, 3);
        row->e = sqlite3_column_int64(statement, 4);
        row->f = sqlite3_column_int64(statement, 5);
        row->has_g = sqlite3_column_type(statement, 6) != SQLITE_NULL;
        row->g = row->has_g ? sqlite3_column_int64(statement, 6) : 0;
        row->h = sqlite3_column_double(statement, 7);
        row->i = sqlite3_column_double(statement, 8);
        row->j = sqlite3_column_int64(statement, 9) != 0;
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    int64_t sum = 0;
    double reals = 0;
    for (size_t i = 0; i < count; i++) {
        wide *row = &rows[i];
        sum += row->a + row->b + row->c + row->d + row->e + row->f + row->g + row->j;
        reals += row->h + row->i;
    }
    free(rows);
    return sum + (int64_t)reals;
}

int64_t baseline_find_person(sqlite3 *db, const char *sql, int64_t count, int64_t rows) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        person one;
        sqlite3_bind_int64(statement, 1, i * 7919 % rows + 1);
        require(sqlite3_step(statement) == SQLITE_ROW, db);
        sum += read_person(statement, &one);
        sqlite3_reset(statement);
        sum += one.id + one.age + (int64_t)one.balance + one.admin;
        free(one.email);
        free(one.name);
    }
    sqlite3_finalize(statement);
    return sum;
}

typedef struct {
    int64_t id, author, pages;
    unsigned char *title;
    int has_pages;
} book;

typedef struct {
    int64_t id;
    unsigned char *name;
    book *books;
    size_t count, capacity;
} author;

static int compare_authors(const void *left, const void *right) {
    int64_t a = ((const author *)left)->id, b = ((const author *)right)->id;
    return a < b ? -1 : a > b;
}

int64_t baseline_authors(sqlite3 *db, const char *parents, const char *children) {
    author *authors = NULL;
    size_t count = 0, capacity = 0;
    int64_t sum = 0;
    int code, length = 0;
    sqlite3_stmt *statement = prepare(db, parents);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            authors = realloc(authors, capacity * sizeof(author));
        }
        author *one = &authors[count++];
        memset(one, 0, sizeof(author));
        one->id = sqlite3_column_int64(statement, 0);
        one->name = copy_text(statement, 1, &length);
        sum += length;
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);

    // The authors are in the order of their ids, and books of one author mostly follow each other.
    author *current = NULL;
    statement = prepare(db, children);
    if (sqlite3_bind_parameter_count(statement) == (int)count)
        for (size_t i = 0; i < count; i++) sqlite3_bind_int64(statement, (int)i + 1, authors[i].id);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        author key = {.id = sqlite3_column_int64(statement, 1)};
        if (!current || current->id != key.id)
            current = bsearch(&key, authors, count, sizeof(author), compare_authors);
        require(current != NULL, db);
        if (current->count == current->capacity) {
            current->capacity = current->capacity ? current->capacity * 2 : 4;
            current->books = realloc(current->books, current->capacity * sizeof(book));
        }
        book *one = &current->books[current->count++];
        one->id = sqlite3_column_int64(statement, 0);
        one->author = key.id;
        one->title = copy_text(statement, 2, &length);
        sum += length;
        one->has_pages = sqlite3_column_type(statement, 3) != SQLITE_NULL;
        one->pages = one->has_pages ? sqlite3_column_int64(statement, 3) : 0;
    }
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);

    for (size_t i = 0; i < count; i++) {
        sum += authors[i].id;
        for (size_t j = 0; j < authors[i].count; j++) {
            book *one = &authors[i].books[j];
            sum += one->id + one->author + one->pages;
            free(one->title);
        }
        free(authors[i].books);
        free(authors[i].name);
    }
    free(authors);
    return sum;
}
