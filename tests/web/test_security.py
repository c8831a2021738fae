"""Who is turned away: wrong names, other sites, no link, wrong roles, too much, odd paths."""

import http.client
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from samecluster.web.app import LARGEST_BODY
from samecluster.web.operations.document import OPERATIONS
from samecluster.web.security import CONTENT_POLICY, Hosts
from tests.web.served import TLS, TOKEN, Served, begin, in_thread, write_data


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "secret.txt").write_text("the secret of the folder above")
    (folder / "inner").mkdir()
    data = write_data(folder / "inner")
    begin(data, method="everything")
    with in_thread(data) as served:
        yield served


def raw(served: Served, path: str, host: str | None = None, **headers: str) -> tuple[int, bytes]:
    """A GET that nobody tidies up: the path goes out as it is."""
    where = urlsplit(served.base)
    assert where.port is not None
    connection = http.client.HTTPConnection(str(where.hostname), where.port)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or where.netloc)
    connection.putheader("Authorization", f"Bearer {TOKEN}")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    found = response.status, response.read()
    connection.close()
    return found


WRONG_HOSTS = [
    "evil.example",
    "evil.example:8321",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "localhost.",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1",
    "127.0.0.2",
    "0.0.0.0",
    "[::2]",
    "[::1]evil.example",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "localhost:80x",
    "10.0.0.7:8321",
]


@pytest.mark.parametrize("host", WRONG_HOSTS)
@pytest.mark.parametrize("path", ["/", "/join?token=" + TOKEN, "/api/v1/progress"])
def test_wrong_hosts_are_refused(served, host, path) -> None:
    status, said = raw(served, path, host)
    assert status == 403
    assert b"does not go by that name" in said


def test_a_request_without_a_host_is_refused(served) -> None:
    where = urlsplit(served.base)
    with socket.create_connection((where.hostname, where.port)) as connection:
        connection.sendall(b"GET /api/v1/progress HTTP/1.0\r\n\r\n")
        assert b" 403 " in connection.recv(4096).splitlines()[0]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8321"])
def test_names_of_this_machine_are_served(served, host) -> None:
    assert raw(served, "/api/v1/progress", host)[0] == 200


def test_a_server_on_all_addresses_goes_by_any_address_but_by_no_foreign_name() -> None:
    hosts = Hosts.of("0.0.0.0", ["label.example"])
    for good in ("10.0.0.7:80", "[fe80::1]", "label.example", socket.gethostname(), "localhost"):
        hosts.check(good)
    for bad in ("evil.example", "", "10.0.0.7.evil.example", "label.example.evil.example"):
        with pytest.raises(Exception, match="does not go by"):
            hosts.check(bad)


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_nothing_without_a_link(served, one) -> None:
    """Neither without a token nor with a wrong one; only the description is for all."""
    path = one.path.replace("{number}", "0").replace("{opaque}", "0" * 32)
    for secret in (None, "0123456789abcdef0124", "."):
        with served.client(secret) as client:
            response = client.request(one.method, path, json={} if one.body else None)
            assert response.status_code == (200 if one.open_to_all else 401), response.text
            assert one.open_to_all or set(response.json()) == {"error"}


OWN, OTHER = "own", "https://evil.example"
CSRF = [
    # origin, Sec-Fetch-Site, X-Samecluster, content type, whether a POST is let in
    (None, None, "1", "application/json", True),
    (OWN, "same-origin", "1", "application/json", True),
    (OWN, None, "1", "application/json; charset=utf-8", True),
    (OWN, "same-origin", None, "application/json", False),
    (OWN, "same-origin", "0", "application/json", False),
    (OWN, "same-origin", "1", "text/plain", False),
    (OWN, "same-origin", "1", "application/x-www-form-urlencoded", False),
    (OWN, "same-origin", "1", "", False),
    (OWN, "same-site", "1", "application/json", False),
    (OWN, "cross-site", "1", "application/json", False),
    (OWN, "none", "1", "application/json", False),
    (OTHER, "cross-site", "1", "application/json", False),
    (OTHER, "same-origin", "1", "application/json", False),
    (OTHER, None, "1", "application/json", False),
    (OTHER, None, None, "text/plain", False),
    ("null", None, "1", "application/json", False),
    ("null", "cross-site", None, "application/x-www-form-urlencoded", False),
    ("http://localhost:1", None, "1", "application/json", False),
    ("", None, "1", "application/json", False),
    (None, "cross-site", "1", "application/json", False),
]


@pytest.mark.parametrize(("origin", "site", "header", "kind", "let_in"), CSRF)
def test_csrf_matrix(served, origin, site, header, kind, let_in) -> None:
    sent = {"Origin": served.base if origin == OWN else origin, "Sec-Fetch-Site": site}
    sent |= {"X-Samecluster": header, "Content-Type": kind}
    headers = {name: value for name, value in sent.items() if value is not None}
    with httpx.Client(base_url=served.base, verify=TLS) as client:
        client.get("/join", params={"token": TOKEN})
        assert client.cookies, "as a browser, with the cookie"
        response = client.post("/api/v1/release", content=b"{}", headers=headers)
    assert (response.status_code == 200) == let_in, response.text
    assert let_in or response.status_code in (403, 415)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": OTHER}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_other_sites_cannot_read_either(served, headers, status) -> None:
    assert raw(served, "/api/v1/progress", **headers)[0] == status


def test_the_link_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(served) -> None:
    with httpx.Client(base_url=served.base, verify=TLS) as client:
        response = client.get("/join", params={"token": TOKEN})
        assert (response.status_code, response.headers["location"]) == (303, "/")
        cookie = response.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "path=/" in cookie
        assert "domain" not in cookie
        assert client.get("/api/v1/session").status_code == 200
        assert TOKEN not in client.get("/").text
        embedded = client.get("/join", params={"token": TOKEN}, headers={"Sec-Fetch-Dest": "image"})
        assert embedded.status_code == 403
    wrong = httpx.get(f"{served.base}/join", params={"token": "x" * 20})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/api/v1/progress", "/api/v1/nothing", "/join", "/api/v1/images/x"]
)
def test_every_response_has_the_headers(served, path) -> None:
    for secret in (TOKEN, None):
        with served.client(secret) as client:
            headers = client.get(path).headers
        assert headers["content-security-policy"] == CONTENT_POLICY
        assert "unsafe" not in CONTENT_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


TRAVERSALS = [
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%252f..%252fetc%252fpasswd",
    "..%c0%af..%c0%afetc/passwd",
    "..%ef%bc%8f..%ef%bc%8fetc/passwd",
    "..\\..\\..\\etc\\passwd",
    "..%5c..%5c..%5cetc%5cpasswd",
    "....//....//etc/passwd",
    "..;/..;/etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "file:///etc/passwd",
    "./.././../etc/passwd",
    "index.html/../../../../etc/passwd",
    "index.html%00.png",
    "%00/etc/passwd",
    "../secret.txt",
    "..%2fsecret.txt",
    "../inner/shells.csv",
    "../inner/shells.csv.samecluster",
    "../app.py",
    "..%2fapp.py",
    "..%2f__init__.py",
    "../links.py",
    "%2e%2e%5clinks.py",
    "~/.ssh/id_rsa",
    "C:%5cWindows%5cwin.ini",
    "..%u2215..%u2215etc/passwd",
    ".%2e/.%2e/etc/passwd",
]


@pytest.mark.parametrize("path", TRAVERSALS)
@pytest.mark.parametrize("prefix", ["/", "/api/v1/images/", "/static/"])
def test_no_path_leaves_the_folder(served, prefix, path) -> None:
    status, said = raw(served, prefix + path)
    assert status in (400, 403, 404), said
    for secret in (b"root:", b"the secret", b"shell,length", b"SQLite format", b"import "):
        assert secret not in said


def test_what_is_too_large_is_refused(served) -> None:
    with served.client() as client:
        body = b'{"count": 1, "x": "' + b"a" * LARGEST_BODY + b'"}'
        kind = {"Content-Type": "application/json"}
        assert client.post("/api/v1/next", content=body, headers=kind).status_code == 413

        def pieces():
            for _ in range(100):
                yield b" " * 10_000

        assert client.post("/api/v1/next", content=pieces(), headers=kind).status_code == 413
        long_path = client.get("/api/v1/why", params={"item": "a" * 40_000})
        assert long_path.status_code in (400, 414, 431)
        many = client.get("/api/v1/progress", headers={"X-Long": "a" * 40_000})
        assert many.status_code in (400, 431)
        assert client.post("/api/v1/next", json={"count": 1}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"count": "1"}',
        b'{"count": true}',
        b'{"count": 1.5}',
        b'{"count": 0}',
        b'{"count": 4}',
        b'{"count": 1, "also": 2}',
        b'{"count": 1e400}',
        b'{"count": NaN}',
        b"[" * 60_000,
        b'{"count": ' + b"9" * 5_000 + b"}",
    ],
)
def test_bodies_of_another_shape_are_refused_in_words(served, body) -> None:
    kind = {"Content-Type": "application/json"}
    with served.client() as client:
        response = client.post("/api/v1/next", content=body, headers=kind)
    assert response.status_code == 400
    assert set(response.json()) == {"error"}
    assert "Traceback" not in response.text


def test_unknown_questions_and_items_are_named(served) -> None:
    with served.client() as client:
        for question in ("s1:s1", "s1:nobody", "nonsense", "a:b:c"):
            body = {"question": question, "verdict": "same", "key": "12345678"}
            response = client.post("/api/v1/answers", json=body)
            assert response.status_code == 422
            assert "question" in response.json()["error"]


def test_annotators_may_not_do_what_is_for_owners(served) -> None:
    ann = served.invite("Ann")
    for one in OPERATIONS:
        if one.for_owners:
            response = ann.client.request(
                one.method, one.path, json={"id": "x", "key": "s"} if one.body else None
            )
            assert response.status_code == 403, one.path
            assert "owners" in response.json()["error"]
    assert sum(one.for_owners for one in OPERATIONS) == 7
