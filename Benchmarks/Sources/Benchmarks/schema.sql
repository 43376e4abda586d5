-- The tables of the workloads on records. The plugin makes the records of them.
-- litevault: relations
-- litevault: record person as PersonRow
-- litevault: record item as ItemRow
-- litevault: record author as AuthorRow
-- litevault: record book as BookRow
CREATE TABLE person (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL, name TEXT, age INTEGER NOT NULL, balance REAL NOT NULL, admin BOOLEAN NOT NULL);
CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, c REAL NOT NULL, d TEXT NOT NULL, e INTEGER);
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE book (
    id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author(id), title TEXT NOT NULL, pages INTEGER);
CREATE INDEX book_author ON book(author_id);
-- litevault: record numbers as NumbersRow
CREATE TABLE numbers (
    a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, d INTEGER NOT NULL, e INTEGER NOT NULL, f INTEGER NOT NULL,
    g INTEGER, h REAL NOT NULL, i REAL NOT NULL, j BOOLEAN NOT NULL);
