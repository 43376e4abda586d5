"""An S3 server in a few lines, whose answers are damaged as told. It keeps conditions and knows no signatures."""
import email.utils
import hashlib
import re
import socketserver
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

from .mutations import NUMBERS, TEXTS, damaged

STATUSES = [200, 201, 204, 206, 301, 307, 400, 401, 403, 404, 405, 409, 411, 412, 416, 418, 429, 500, 501, 503, 507, 599, 999, 100,
            0, 1000]


class Objects:
    """What the bucket has: names, contents and times."""

    def __init__(self):
        self.lock = threading.Lock()
        self.all = {}

    def load(self, objects):
        now = time.time()
        with self.lock:
            self.all = {name: (content, now) for name, content in objects.items()}

    @staticmethod
    def tag(content):
        return '"' + hashlib.md5(content).hexdigest() + '"'


class Plan:
    """Which answers are damaged: the one of number `at`, from 0, and with `always` all that follow."""

    def __init__(self, random=None, at=None, always=False):
        self.random, self.at, self.always = random, at, always
        self.count = 0
        self.done = []
        self.lock = threading.Lock()

    def hits(self):
        with self.lock:
            number = self.count
            self.count += 1
        return self.random is not None and (number == self.at or (self.always and number > self.at))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects, self.plan = Objects(), Plan()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass


class Handler(socketserver.StreamRequestHandler):
    timeout = 60

    def handle(self):
        line = self.rfile.readline().decode("latin-1").split()
        if len(line) != 3:
            return
        method, target, _ = line
        headers = {}
        while True:
            row = self.rfile.readline().decode("latin-1").rstrip("\r\n")
            if not row:
                break
            name, _, value = row.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length") or 0))
        if headers.get("transfer-encoding") == "chunked":
            body = self.chunks()
        status, answer, content = self.answer(method, target, headers, body)
        answer = {"Date": email.utils.formatdate(usegmt=True), "Content-Length": str(len(content)), "Connection": "close",
                  **answer}
        if method == "HEAD":
            content = b""
        if self.server.plan.hits():
            self.server.plan.done.append(f"{method} {target[:60]}")
            return self.damage(self.server.plan.random, status, answer, content)
        self.send(status, answer.items(), content)

    def chunks(self):
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return body

    def send(self, status, headers, content):
        head = f"HTTP/1.1 {status} x\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        self.wfile.write(head.encode("utf-8", "surrogateescape") + content)

    # What a server does.

    def answer(self, method, target, headers, body):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        name = urllib.parse.unquote(path).split("/", 2)[-1] if path.count("/") > 1 else ""
        objects = self.server.objects
        with objects.lock:
            if method == "GET" and "list-type" in query:
                return self.listing(objects, query.get("prefix", ""), int(query.get("continuation-token") or 0))
            found = objects.all.get(name)
            if method == "PUT":
                condition, match = headers.get("if-none-match"), headers.get("if-match")
                if (condition and found) or (match and (not found or Objects.tag(found[0]) != match)):
                    return 412, {}, b"<Error><Code>PreconditionFailed</Code></Error>"
                objects.all[name] = (body, time.time())
                return 200, {"ETag": Objects.tag(body)}, b""
            if method == "DELETE":
                objects.all.pop(name, None)
                return 204, {}, b""
            if found is None:
                return 404, {}, b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>"
            content, moment = found
            more = {"ETag": Objects.tag(content), "Last-Modified": email.utils.formatdate(moment, usegmt=True)}
            if method == "GET" and headers.get("range"):
                first, last = map(int, re.match(r"bytes=(\d+)-(\d+)", headers["range"]).groups())
                if first >= len(content):
                    return 416, more, b""
                part = content[first:last + 1]
                return 206, {**more, "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}"}, part
            return 200, more, content

    @staticmethod
    def listing(objects, prefix, start):
        names = sorted(name for name in objects.all if name.startswith(prefix))
        page = names[start:start + 20]
        more = start + 20 < len(names)
        text = '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        text += f"<IsTruncated>{str(more).lower()}</IsTruncated><EncodingType>url</EncodingType>"
        if more:
            text += f"<NextContinuationToken>{start + 20}</NextContinuationToken>"
        for name in page:
            content, moment = objects.all[name]
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(moment))
            text += (f"<Contents><Key>{escape(urllib.parse.quote(name))}</Key><LastModified>{stamp}</LastModified>"
                     f"<ETag>{escape(Objects.tag(content))}</ETag><Size>{len(content)}</Size></Contents>")
        return 200, {"Content-Type": "application/xml"}, (text + "</ListBucketResult>").encode()

    # What a server does not do.

    def damage(self, random, status, headers, content):
        kind = random.choice(["status", "header", "header", "body", "body", "xml", "xml", "xml", "cut", "close", "noise", "large"])
        self.server.plan.done.append(kind)
        pieces = 1
        if kind == "close":
            return
        if kind == "noise":
            self.wfile.write(random.randbytes(random.randint(1, 3000)))
            return
        if kind == "status":
            return self.send(random.choice(STATUSES), headers.items(), content)
        if kind == "header":
            return self.send(status, other_header(random, headers), content)
        if kind == "cut":
            head = f"HTTP/1.1 {status} x\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
            whole = head.encode() + content
            self.wfile.write(whole[:random.randrange(len(whole))])
            return
        if kind == "large":
            # In pieces: the kernel counts this process's own memory as that of each program that it starts.
            content, pieces = random.choice([b"\0", b"<a>", b"[", b"<a b=\"\"/>"]) * (1 << 16), 20 << 4
        elif kind == "xml" and content.startswith(b"<"):
            content = other_xml(random, content)
        else:
            _, content = damaged(random, content)
        headers["Content-Length"] = str(pieces * len(content))
        try:
            self.send(status, headers.items(), content)
            for _ in range(pieces - 1):
                self.wfile.write(content)
        except OSError:
            pass


def other_header(random, headers):
    headers = dict(headers)
    name = random.choice(list(headers) + ["Retry-After", "Transfer-Encoding", "Content-Encoding", "x-amz-bucket-region", "Location",
                                          "Content-Range", "x-amz-meta-litevault-write"])
    kind = random.random()
    if kind < 0.15:
        headers.pop(name, None)
        return headers.items()
    plain = [text for text in TEXTS if "\n" not in text and "\0" not in text]
    value = random.choice([str(random.choice(NUMBERS)), random.choice(plain)[:9000], "\udcff\udcfe", "chunked", "gzip", "bytes */*",
                           "bytes 0-0/0", "bytes 9223372036854775807-9223372036854775808/9223372036854775809", '""', "W/",
                           "Fri, 99 May 9999 99:99:99 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"])
    if name == "Retry-After" and value.replace(".", "").isdigit() and float(value) > 2:
        value = "1"
    if kind < 0.3:
        return list(headers.items()) + [(name, value)] * random.choice([1, 2, 50])
    headers[name] = value
    # More than there is: the connection is closed all the same.
    return headers.items()


def other_xml(random, content):
    text = content.decode()
    kind = random.choice(["utf8", "attributes", "depth", "doctype", "bomb", "value", "value", "value", "twice", "unclosed", "names",
                          "endless", "elements", "key", "key"])
    place = random.choice([match.start() for match in re.finditer("<[A-Za-z]", text)] or [0])
    if kind == "utf8":
        at = random.randrange(len(content))
        return content[:at] + random.choice([b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]) + content[at:]
    if kind == "attributes":
        end = re.compile("[A-Za-z]+").search(text, place).end()
        return (text[:end] + "".join(f' a{i}=""' for i in range(100_000)) + text[end:]).encode()
    if kind == "depth":
        return (text[:place] + "<x>" * 200_000 + text[place:]).encode()
    if kind == "doctype":
        return b'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + content.replace(b"</", b"&x;</", 1)
    if kind == "bomb":
        rows = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
        return f'<!DOCTYPE x [<!ENTITY a0 "x">{rows}]>{text.replace("</", "&a11;</", 1)}'.encode()
    if kind == "value":
        found = random.choice(list(re.finditer(r">([^<>]+)<", text)) or [None])
        if not found:
            return content
        value = random.choice([str(random.choice(NUMBERS)), escape(random.choice(TEXTS)), "true", "&#0;", "&#x10FFFF;", "%ff%fe", "%",
                               "%00", "..%2f..%2f", "9999-99-99T99:99:99Z", "2013-05-24T00:00:00.5e999Z"])
        return (text[:found.start(1)] + value + text[found.end(1):]).encode("utf-8", "surrogatepass")
    if kind == "key":
        found = random.choice(list(re.finditer(r"<Key>([^<>]+)<", text)) or [None])
        if not found:
            return content
        name = found.group(1)
        value = random.choice([name + "0", name[:-1], name + "~", name.upper(), "snapshots/x", "/" + name, name + "/", "a b", "", "%2e",
                               name.rsplit("/", 1)[0] + "/Thumbs.db", name.rsplit("/", 1)[0] + "/9999999999", name + "%0a"])
        return (text[:found.start(1)] + value + text[found.end(1):]).encode()
    if kind == "twice":
        return content + content
    if kind == "unclosed":
        return text[:random.randrange(len(text))].encode()
    if kind == "names":
        return re.sub("<(/?)([A-Z])", r"<\1ns:\2", text).encode()
    if kind == "elements":
        return (text[:place] + "<x/>" * 1_000_000 + text[place:]).encode()
    token = random.choice(["<NextContinuationToken>0</NextContinuationToken>", "<NextContinuationToken></NextContinuationToken>", ""])
    return text.replace("<IsTruncated>false</IsTruncated>", f"<IsTruncated>true</IsTruncated>{token}").encode()
