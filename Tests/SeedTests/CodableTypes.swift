import SQLite
import Testing

@Suite struct CodableTypeSeeds {
    let db: Connection
    let users = Table("users")

    init() throws {
        db = try Connection()
        try db.run(users.create { t in
            t.column(id, primaryKey: true)
            t.column(name)
        })
    }

    // seeds 000:1872 001:1103 002:134 003:1110
    @Test func `an encodable is inserted`() throws {
        struct User: Encodable {
            let name: String
        }
        try db.run(users.insert(User(name: "test")))
        #expect(try db.scalar(users.select(name)) == "test")
        try db.run(users.insert(User(name: "other"), userInfo: [:], otherSetters: [id <- 7]))
        #expect(try db.scalar(users.filter(id == 7).select(name)) == "other")
    }

    // seeds 000:1893 001:1118 002:1368 003:1127
    @Test func `an encodable updates the rows of a filter`() throws {
        struct User: Encodable {
            let name: String?
        }
        let userId = try db.run(users.insert(name <- "before"))
        try db.run(users.insert(name <- "other"))
        let user = User(name: "after")
        try db.run(users.filter(id == userId).update(user))
        #expect(try db.prepareRowIterator(users).map { $0[name] } == ["after", "other"])
        try db.run(users.filter(id == userId).update(User(name: nil)))
        #expect(try db.prepareRowIterator(users).map { $0[name] } == [nil, "other"])
    }

    // seeds 000:1914 001:1132 002:918 003:1143
    @Test func `rows are decoded`() throws {
        struct User: Codable, Equatable {
            let id: Int64
            let name: String?
        }
        try db.run(users.insertMany([User(id: 1, name: "a"), User(id: 2, name: nil)]))
        let loadedUsers: [User] = try db.prepare(users).map { row in
            return try row.decode()
        }
        #expect(loadedUsers == [User(id: 1, name: "a"), User(id: 2, name: nil)])
    }

    // seeds 000:1928 001:1138 002:924 003:1151
    @Test func `a row gives a decoder, and the type is chosen by a column`() throws {
        enum ImageCodingKeys: String, CodingKey {
            case kind
        }

        enum ImageKind: Int, Codable {
            case png, jpg, heif
        }
        class Image: Decodable { let size: Int }
        class PNGImage: Image {}
        class JPGImage: Image {}
        class HEIFImage: Image {}
        let images = Table("images")
        try db.execute("CREATE TABLE images (kind INTEGER, size INTEGER); INSERT INTO images VALUES (2, 20), (0, 5), (1, 10)")

        let loadedImages: [Image] = try db.prepare(images).map { row in
            let decoder = row.decoder()
            let container = try decoder.container(keyedBy: ImageCodingKeys.self)
            switch try container.decode(ImageKind.self, forKey: .kind) {
            case .png:
                return try PNGImage(from: decoder)
            case .jpg:
                return try JPGImage(from: decoder)
            case .heif:
                return try HEIFImage(from: decoder)
            }
        }
        #expect(loadedImages.map { "\(type(of: $0)) \($0.size)" } == ["HEIFImage 20", "PNGImage 5", "JPGImage 10"])
    }
}
