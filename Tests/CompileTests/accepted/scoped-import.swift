// The way around Foundation's Expression that SQLite.swift's documentation gives.
import Foundation
import SQLite
import struct SQLite.Expression

let id = Expression<Int64>("id")
let name = Expression<String?>("name")
let setters = [id <- 1, name <- nil, name <- "Ada", id += 2, id++, id--]
let found = Table("users").filter(id == 1 && name == "Ada" || !(id > 3))

func change(_ db: Connection) throws { try db.run(found.update(setters)) }
