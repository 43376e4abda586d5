import LiteVaultCore
import Testing

@Suite struct BlobTests {
    @Test func `hexadecimal digits are in lower case, two to the byte`() {
        #expect(Blob(bytes: [0, 10, 255]).toHex() == "000aff")
        #expect(Blob(bytes: []).toHex() == "")
    }

    @Test func `the description is the SQL literal`() {
        #expect(Blob(bytes: [0, 10, 255]).description == "x'000aff'")
    }

    @Test func `memory is copied, and no bytes for a length below 1`() {
        let bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            #expect(Blob(bytes: start, length: 2) == Blob(bytes: [1, 2]))
            #expect(Blob(bytes: start, length: 0) == Blob(bytes: []))
            #expect(Blob(bytes: start, length: -1) == Blob(bytes: []))
        }
    }

    @Test func `blobs of equal bytes are equal and hash alike`() {
        #expect(Blob(bytes: [1]) == Blob(bytes: [1]))
        #expect(Blob(bytes: [1]) != Blob(bytes: [2]))
        #expect(Set([Blob(bytes: [1]), Blob(bytes: [1])]).count == 1)
    }
}
