"""The commands as users run them: start, stop with Ctrl-C, go on, invite, the bundled example."""

import re
import signal
import ssl
import subprocess
import sys
import threading
from dataclasses import dataclass

import httpx
import pytest

from samecluster.cli.main import main
from samecluster.errors import InvalidInputError
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.example_data import write_digits
from samecluster.web.server import PORT, Address, ServeOptions, Server
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.web.served import TLS, in_process, in_thread, write_data


@dataclass
class Finished:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process: a new interpreter each time would take most of the time."""

    def run_command(*arguments: str) -> Finished:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["samecluster", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
        said = capsys.readouterr()
        return Finished(int(ended.value.code or 0), said.out, said.err)

    return run_command


def test_ctrl_c_keeps_all_answers_and_says_how_to_go_on(tmp_path, run) -> None:
    data = write_data(tmp_path)
    with in_process(data, "--id", "shell", "--port", "0") as (served, process):
        owner = served.owner()
        for _ in range(3):
            (question,) = owner.next()
            owner.answer(question, data.verdict(question))
        with owner.client.stream("GET", "/api/v1/events"):
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate()
        assert process.returncode == 130
    assert "All answers are kept" in said
    assert f"samecluster serve {data.path}" in said
    assert "Traceback" not in said
    assert not data.session.with_name(data.session.name + "-wal").exists(), "closed properly"
    assert "after 3 questions" in run("status", str(data.session)).stdout


def test_a_session_that_is_deleted_meanwhile_takes_no_answers_and_is_saved(tmp_path, run) -> None:
    data = write_data(tmp_path)
    with in_process(data, "--id", "shell", "--port", "0") as (served, process):
        owner, ann = served.owner(), served.invite("Ann")
        for person in (owner, ann):
            (question,) = person.next()
            person.answer(question, data.verdict(question))
        data.session.unlink()
        for number in range(30):
            (question,) = ann.next()
            sent = {"question": question["id"], "verdict": "same", "key": f"answer-{number:04d}"}
            refused = ann.client.post("/api/v1/answers", json=sent)
            assert refused.status_code == 503
            assert "was deleted or moved while it was in use, so this is not kept" in refused.text
            assert str(tmp_path) not in refused.text, "no path of this machine"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
        assert process.returncode == 1
    copy = tmp_path / "shells.csv.saved.samecluster"
    assert "kept." not in said
    assert f"samecluster: {data.session} was deleted" in said, "at the end"
    assert 2 <= said.count(f"saved in {copy}") < 10, "and when it was noticed, not 30 times"
    copy.rename(data.session)
    assert "after 2 questions" in run("status", str(data.session)).stdout


def test_invite_prints_a_link_that_works_now_and_after_a_restart(tmp_path, run) -> None:
    data = write_data(tmp_path)
    with httpx.Client(follow_redirects=True, verify=TLS) as ann:
        with in_thread(data) as served:
            link = run("invite", str(data.path), "Ann").stdout.strip()
            assert link.startswith(f"{served.base}/join?token=")
            assert ann.get(link).status_code == 200
            told = ann.get(f"{served.base}/api/v1/session").json()
            assert (told["who"], told["role"]) == ("Ann", "annotator")
        with in_thread(data, Address()) as again:
            assert again.base == served.base, "the same port as before"
            assert ann.get(f"{again.base}/api/v1/session").status_code == 200
            assert run("invite", str(data.session), "Ann", "--revoke").returncode == 0
            assert ann.get(f"{again.base}/api/v1/session").status_code == 401


def test_invite_needs_a_session(tmp_path, run) -> None:
    found = run("invite", str(tmp_path / "nothing.csv"), "Ann")
    assert found.returncode == 1
    assert "no session" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_start_without_a_token_makes_one_that_browsers_can_keep(tmp_path) -> None:
    data = write_data(tmp_path)
    links = []
    with httpx.Client(verify=TLS) as browser:
        for _ in range(2):
            with in_thread(data, token=None) as served:
                links.append(served.link)
                if len(links) == 1:
                    browser.get(served.link)
                assert browser.get(f"{served.base}/api/v1/session").status_code == 200
    assert len({link.partition("token=")[2] for link in links}) == 2
    assert all(len(link.partition("token=")[2]) >= 32 for link in links)


def test_plain_http_beyond_this_machine_is_warned_about() -> None:
    assert Address().warning() is None
    assert Address(host="localhost").warning() is None
    assert Address(host="::1").warning() is None
    for host in ("0.0.0.0", "::", "192.168.0.5"):
        assert "plain HTTP" in str(Address(host=host).warning())


def test_halves_of_a_certificate_and_missing_files_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidInputError, match="go together"):
        Address(tls_cert=tmp_path / "cert.pem")
    with pytest.raises(InvalidInputError, match="there is no file"):
        Address(tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem")


@pytest.fixture
def certificate(tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    try:
        made = subprocess.run(
            [*command, "-keyout", str(key), "-out", str(cert), *names], capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    assert made.returncode == 0, made.stderr
    return cert, key


def test_tls(tmp_path, certificate) -> None:
    cert, key = certificate
    data = write_data(tmp_path)
    address = Address(port=0, tls_cert=cert, tls_key=key)
    assert address.warning() is None
    with in_thread(data, address) as served:
        assert served.link.startswith("https://127.0.0.1:")
        with httpx.Client(verify=ssl.create_default_context(cafile=str(cert))) as client:
            joined = client.get(served.link)
            assert "; secure" in joined.headers["set-cookie"].lower()
            assert client.get(f"{served.base}/api/v1/progress").status_code == 200


def test_a_broken_certificate_is_one_line(tmp_path, run) -> None:
    data = write_data(tmp_path)
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("nonsense")
    tls = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    found = run("serve", str(data.path), "--id", "shell", "--port", "0", *tls)
    assert found.returncode == 2
    assert "--tls-cert" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_taken_port_is_named_if_it_was_asked_for_and_else_avoided(tmp_path) -> None:
    data, other = (write_data(tmp_path, name=name) for name in ("one.csv", "two.csv"))
    with in_thread(data) as served:
        port = int(served.base.rpartition(":")[2])
        with (
            open_session(Request(str(other.path), id_column="shell")) as opened,
            pytest.raises(InvalidInputError, match=f"port {port}.*--port"),
        ):
            Server(opened, str(other.path), Address(port=port), ServeOptions())
    assert port != PORT


def test_the_bundled_example_needs_nothing_but_a_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = write_digits(tmp_path / "digits")
    assert len(list((tmp_path / "digits" / "images").iterdir())) == 1797
    lines = table.read_text().splitlines()
    assert len(lines) == 1798
    assert lines[1].startswith("0000,images/0000.png,")
    before = table.stat().st_mtime_ns
    assert write_digits(tmp_path / "digits") == table
    assert table.stat().st_mtime_ns == before
    image = pytest.importorskip("PIL.Image")
    with image.open(tmp_path / "digits" / "images" / "0007.png") as picture:
        assert (picture.size, picture.mode) == ((8, 8), "L")


def test_serve_digits_asks_with_pictures(tmp_path, monkeypatch, run) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def look(serving: Server) -> None:
        """Instead of `Server.run`, which answers until Ctrl-C."""
        answering = threading.Thread(target=answer, args=[serving])
        answering.start()
        try:
            with httpx.Client(headers={"X-Samecluster": "1"}, timeout=60, verify=TLS) as browser:
                browser.get(serving.link)
                base = serving.link.partition("/join")[0]
                reply = browser.post(f"{base}/api/v1/next", json={"count": 1}).json()
                (question,) = reply["questions"]
                for item in (question["item"], question["comparator"]):
                    assert item["cells"] == []
                    shown = browser.get(base + item["image"])
                    assert shown.headers["content-type"] == "image/png"
                    asked.append(item["key"])
        finally:
            serving.stop()
            answering.join()

    answer = Server.run
    monkeypatch.setattr(Server, "run", look)
    found = run("serve", "digits", "--port", "0", "--no-browser")
    assert len(set(asked)) == 2
    assert re.search(r"Open http://127.0.0.1:\d+/join\?token=\S+", found.stdout)
    assert found.returncode == 130
    store = SqliteStore(tmp_path / "digits" / "digits.csv.samecluster", read_only=True)
    parameters = next(iter(store.read())).body["parameters"]
    store.close()
    assert parameters["looks"] == "auto"
    assert not {"max_questions", "max_looks"} & {k for k, v in parameters.items() if v is not None}


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, run) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = run("serve", "nothing.csv")
    assert found.returncode == 2
    assert re.search(r"pip install samecluster\[serve\]", found.stderr)
