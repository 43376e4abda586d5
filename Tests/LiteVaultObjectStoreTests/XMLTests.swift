import Foundation
import LiteVaultObjectStore
import Testing

@Suite struct XMLTests {
    private func read(_ text: String) -> XMLTree? { XMLTree(Array(text.utf8)) }

    @Test func `elements, text, references and CDATA are read`() throws {
        let tree = try #require(
            read(
                """
                 \n<?xml version="1.0" encoding="UTF-8"?>
                <!-- a comment -->
                <List xmlns='http://s3.amazonaws.com/doc/2006-03-01/' a = "x > y">
                  <Contents><Key>a&amp;b&#x20;&#99;</Key><Size>12</Size></Contents>
                  <Contents><Key><![CDATA[<&>]]>d</Key><Empty/></Contents><Ümlaut>ä</Ümlaut>
                </List>
                <!-- the end --><?done?>

                """))
        #expect(tree.name == "List")
        #expect(tree.all("Contents").compactMap { $0["Key"] } == ["a&b c", "<&>d"])
        #expect(tree.all("Contents").last?["Empty"]?.isEmpty == true)
        #expect(tree["Ümlaut"] == "ä")
    }

    @Test(arguments: [
        "", " ", "text", "<a>", "<a></b>", "<a></a><b/>", "<a></a>x", "<a b></a>", "<a b=c></a>", "<a b=\"<\"/>",
        "</a>",
        "<a>&x;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#99999999999;</a>", "<a>&#-1;</a>", "<a>&amp</a>",
        "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a><!-- </a>", "<a><![CDATA[x</a>", "<?x",
        "<1/>",
        "<a b=\"1\"c=\"2\"/>", "<a>\u{0}</a>", "<", "<a", "<a ", "<a/", "<a b", "<a b=", "<a b=\"", "<a b=\"\"", "&",
        "]]>",
    ])
    func `an invalid document is rejected`(text: String) { #expect(read(text) == nil) }

    @Test func `H-DEC-07 bytes that are not text, and unlimited depth, attributes and elements are rejected at once`() {
        let start = Date()
        #expect(XMLTree(Array("<a>".utf8) + [0xFF, 0xFE] + Array("</a>".utf8)) == nil)
        #expect(XMLTree(Array("<".utf8) + [0xC3, 0x28] + Array("/>".utf8)) == nil)
        #expect(XMLTree(Array("<a b".utf8) + [0x80] + Array("=\"\"/>".utf8)) == nil)
        #expect(read(String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17)) == nil)
        #expect(read(String(repeating: "<a>", count: 4_000_000)) == nil)
        let attributes = (0..<100_000).map { " a\($0)=\"\"" }.joined()
        #expect(read("<a\(attributes)/>") == nil)
        #expect(read("<a>" + String(repeating: "<b/>", count: 300_000) + "</a>") == nil)
        #expect(read("<\(String(repeating: "a", count: 10_000_000))/>") == nil)
        #expect(read("<a>\(String(repeating: "&#65;", count: 1_000_000))</a>")?.text.utf8.count == 1_000_000)
        // A debug build takes several times as long as what is used.
        #expect(Date().timeIntervalSince(start) < 300, "it hangs")
    }

    @Test func `H-DEC-08 a time in an answer is one of the calendar`() {
        #expect(HTTPDate.isoDate("2013-05-24T00:00:00.000Z") == Date(timeIntervalSince1970: 1_369_353_600))
        #expect(HTTPDate.isoDate("2013-05-24T00:00:00.25Z") == Date(timeIntervalSince1970: 1_369_353_600.25))
        for text in [
            "2013-05-24T99:00:00Z", "2013-05-24T00:00:2147483647Z", "9999999999-01-01T00:00:00Z",
            "2013-99-24T00:00:00Z",
        ] {
            #expect(HTTPDate.isoDate(text) == nil, "\(text)")
        }
        for text in ["2013-05-24T00:00:00.5e999Z", "2013-05-24T00:00:00.nanZ", "2013-05-24T00:00:00.Z"] {
            #expect(HTTPDate.isoDate(text).map { $0 < Date(timeIntervalSince1970: 1_369_353_601) } ?? true, "\(text)")
        }
        #expect(HTTPDate.date("Fri, 24 May 2013 99:00:00 GMT") == nil)
    }
}
