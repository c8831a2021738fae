# mypy: disable-error-code="misc,assignment,arg-type,dict-item,func-returns-value"
"""Inputs that are broken, absurd or evil, made from seeds: files, sessions, proofs and options.

A case has a command line and the files that it needs. Where what it says is wrong beyond doubt, it
must be refused; the others may be taken or refused, in words. No case may end in a traceback, take
20 seconds of CPU or 2 GiB of memory.
"""

import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from samecluster.instances import make_ellipsoids
from samecluster.sessions.storage.schema import APPLICATION, STEPS
from tests.cases.command_line import run

# ruff: noqa: E501

Make = Callable[[Path], Any]
N_MUTANTS = {"csv": 150, "jsonl": 60, "npy": 60, "npz": 30, "parquet": 60, "images": 40,
             "sessions": 150, "answers": 80, "proofs": 120, "pairs": 40, "new rows": 60}  # fmt: skip
AT = "2026-01-31T12:00:00+00:00"


@dataclass(frozen=True)
class Case:
    """A command line, relative to a folder that ``make`` has filled."""

    group: str
    name: str
    arguments: tuple[str, ...]
    make: Make
    is_wrong: bool = False
    is_large: bool = False


@dataclass
class Material:
    """What cases are made of: sound data, a session about it, its proof and points."""

    folder: Path
    events: list[list[Any]] = field(default_factory=list)
    proof: list[Any] = field(default_factory=list)

    @classmethod
    def made(cls, folder: Path) -> "Material":
        made = make_ellipsoids(90, 2, 3, random_state=0)
        with (folder / "d.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "a", "b", "kind"])
            for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
                writer.writerow([f"i{row}", *point, "xyz"[label]])
        np.save(folder / "truth.npy", made.labels)
        data, proof = folder / "d.csv", folder / "p.jsonl.gz"
        begin = ("--id", "id", "--features", "a,b", "--margin", "1")
        done = run("cluster", data, "--truth", "kind", *begin, "--proof", proof)
        assert done.returncode == 0, done.stderr
        with contextlib.closing(sqlite3.connect(folder / "d.csv.samecluster")) as stored:
            rows = stored.execute("SELECT sequence, kind, at, who, body FROM events")
            events = [list(row) for row in rows]
        lines = [json.loads(line) for line in gzip.decompress(proof.read_bytes()).splitlines()]
        return cls(folder, events, lines)

    def copy(self, folder: Path, *names: str) -> None:
        for name in names:
            shutil.copy(self.folder / name, folder / name)


def cases(material: Material) -> list[Case]:
    """All of them, in an order that does not change."""
    found: list[Case] = []
    for make in (_csv, _json_lines, _arrays, _archives, _parquet, _images, _sessions, _proofs,
                 _pairs, _options, _new_rows):  # fmt: skip
        found += make(material)
    return found


def _file(name: str, content: bytes | Callable[[], bytes]) -> Make:
    return lambda folder: (folder / name).write_bytes(content() if callable(content) else content)


def _read(group: str, name: str, file: str, content: Any, *options: str, **more: bool) -> Case:
    return Case(group, name, ("label", file, *options), _file(file, content), **more)


def mutant(sound: bytes, rng: random.Random, most: int = 8, alphabet: bytes = b"") -> bytes:
    """Some bytes changed, deleted or put in."""
    changed = bytearray(sound)
    for _ in range(rng.randint(1, most)):
        at, choice = rng.randrange(max(len(changed), 1)), rng.random()
        noise = bytes(rng.choices(alphabet or bytes(range(256)), k=rng.randint(1, 5)))
        if choice < 0.5:
            changed[at : at + 1] = noise[:1]
        elif choice < 0.75:
            del changed[at : at + rng.randint(1, 40)]
        else:
            changed[at:at] = noise
    return bytes(changed)


# -- tables ---------------------------------------------------------------------------------------

HEAD, ROWS = b"id,a,b\n", b"".join(b"r%d,%d.5,%d.25\n" % (i, i % 7, i * i % 11) for i in range(40))
WRONG_CSV: dict[str, bytes] = {
    "empty": b"", "only a header": HEAD, "NUL": HEAD + ROWS.replace(b"r3", b"r\x003"),
    "all NUL": bytes(4096), "open quote": HEAD + b'"x,1,2\n' + ROWS, "ragged": HEAD + ROWS + b"x,1\n",
    "too many": HEAD + ROWS + b"x,1,2,3,4\n", "header twice": b"id,a,a\n" + ROWS,
    "infinite": HEAD + ROWS + b"z,inf,2.5\n", "1e400": HEAD + ROWS + b"z,1e400,2.5\n",
    "hex": HEAD + ROWS + b"z,0x1F,2.5\n", "grouped": HEAD + ROWS + b"z,1_000,2.5\n",
    "Arabic digits": HEAD + ROWS + "z,٣.٤,2.5\n".encode(), "latin": HEAD + ROWS + b"\xe9,1.5,2.5\n",
    "overlong": HEAD + ROWS + b"\xc0\xaf,1,2\n", "surrogate": HEAD + ROWS + b"\xed\xa0\x80,1,2\n",
    "odd UTF-16": b"\xff\xfe" + (HEAD + ROWS).decode().encode("utf-16-le") + b"\0",
    "only commas": b",,,\n" * 50, "constant": b"a,b\n" + b"1,2\n" * 50, "HTML": b"<html>hi</html>",
    "Excel": b"PK\x03\x04" + bytes(3000), "gzip": gzip.compress(HEAD + ROWS), "PDF": b"%PDF-1.4\n",
    "database": b"SQLite format 3\0" + bytes(500), "one row": HEAD + b"x,1.0,2.0\n",
    "a few words": HEAD + ROWS + b"z,many,2.5\n",
}  # fmt: skip
ODD_CSV: dict[str, bytes | Callable[[], bytes]] = {
    "missing": HEAD + ROWS + b"z,nan,2.5\n",
    "quote inside": HEAD + b'x"y,1,2\n' + ROWS, "no names": b",,\n" + ROWS,
    "huge range": HEAD + ROWS + b"z,1e308,2.5\ny,-1e308,1.5\n", "wide": HEAD + ROWS + "z,１.５,2\n".encode(),
    "CR": (HEAD + ROWS).replace(b"\n", b"\r"), "mixed ends": HEAD + ROWS.replace(b"\n", b"\r\n", 9),
    "Ctrl-Z": HEAD + ROWS + b"\x1a", "UTF-16": (HEAD + ROWS).decode().encode("utf-16"),
    "UTF-16 unmarked": (HEAD + ROWS).decode().encode("utf-16-be"), "two marks": b"\xef\xbb\xbf" * 2 + HEAD + ROWS,
    "UTF-32": (HEAD + ROWS).decode().encode("utf-32"), "same rows": b"a,b\n" + b"1.5,2.5\n" * 50,
    "formula": b"=cmd|calc,a,b\n" + ROWS, "escape": b"\x1b[31mid,a,b\n" + ROWS, "cluster": b"cluster,a,b\n" + ROWS,
    "long number": HEAD + ROWS + b"z," + b"9" * 5000 + b",2.5\n", "denormal": HEAD + ROWS + b"z,5e-324,2.5\n",
    "-0": HEAD + ROWS + b"z,-0.0,2.5\n", "tab and comma": b"a\tb,c\n1\t2,3\n" * 30, "VT": HEAD + ROWS + b"z\x0b,1\x0c,2\n",
    "line separator": HEAD + ROWS + "z\u2028q,1.5,2.5\n".encode(), "bidi": HEAD + ROWS + "\u202ez,1,2\n".encode(),
    "long cell": lambda: HEAD + ROWS + b"z" * 20_000_000 + b",1.5,2.5\n",
    "long quoted cell": lambda: HEAD + ROWS + b'"' + b"z\n" * 3_000_000 + b'",1.5,2.5\n',
    "blank lines": lambda: HEAD + ROWS + b"\n" * 1_000_000,
    "many columns": lambda: _wide(20_000),
}  # fmt: skip


def _wide(count: int) -> bytes:
    rows = (",".join(str(i * j % 17 / 3) for i in range(count)) for j in range(1, 6))
    return "\n".join([",".join(f"c{i}" for i in range(count)), *rows]).encode()


def _csv(material: Material) -> Iterator[Case]:
    for name, content in WRONG_CSV.items():
        yield _read("csv", name, "x.csv", content, is_wrong=True)
    for name, odd in ODD_CSV.items():
        yield _read("csv", name, "x.csv", odd, is_large=callable(odd))
    for name, last in {"twice": b"r1,3.5,3.5\n", "blank": b",3.5,3.5\n"}.items():
        yield _read("csv", f"id {name}", "x.csv", HEAD + ROWS + last, "--id", "id", is_wrong=True)
    for name, last in {
        "line": b'"a\nb",3,3\n',
        "escape": b"\x1b]0;x\x07,3,3\n",
        "long": b"q" * 10**6 + b",3,3\n",
    }.items():
        yield _read("csv", f"id {name}", "x.csv", HEAD + ROWS + last, "--id", "id")
    sound, rng = (material.folder / "d.csv").read_bytes()[:3000], random.Random("csv")
    for number in range(N_MUTANTS["csv"]):
        content = mutant(sound, rng, 12, b'",;\n\r\t\0\xff=|-+e.' if number % 2 else b"")
        yield _read("csv", f"mutant {number}", rng.choice(["x.csv", "x.tsv", "x.txt"]), content)


WRONG_JSON = [b"", b"[]\n", b"1\n2\n", b"null\n", b'{"a":1,"a":2,"b":3}\n' * 20, b'{"a":' + b"[" * 10**5,
              b'{"a":' * 50000 + b"1" + b"}" * 50000, b'{"a":"\\ud800","b":1.5}\n' * 10, b'{"a":1.5,"b":2}\n{"a":',
              b'{"a":1.5}\0\n' * 3, b"{'a':1}\n", b'{"a":1}{"a":2}\n', b'// c\n{"a":1}\n', b"\xff\xfe{\0}\0",
              b'{"a":1e999,"b":2}\n' * 20]  # fmt: skip
ODD_JSON = [b'{"a":NaN,"b":1}\n' * 20, b'{"a":' + b"9" * 6000 + b"}\n", b'{"a":true,"b":false}\n' * 10,
            b'{"a":{"b":1}}\n' * 10, b'{"a":[1,2]}\n{"a":[1]}\n' * 5, b'{"":1.5,"b":2.5}\n' * 10,
            b'{"__proto__":1.5,"b":2.5}\n' * 10, b'{"a":-0.0,"b":1e-400}\n' * 10, b"{}\n" * 9]  # fmt: skip


def _json_lines(_: Material) -> Iterator[Case]:
    for number, content in enumerate(WRONG_JSON):
        yield _read("jsonl", f"wrong {number}", "x.jsonl", content, is_wrong=True)
    for number, content in enumerate(ODD_JSON):
        yield _read("jsonl", f"odd {number}", "x.jsonl", content)
    rng = random.Random("jsonl")
    sound = b"".join(
        b'{"a":%d.5,"b":%d.25,"t":"x%d"}\n' % (i % 7, i * i % 11, i) for i in range(40)
    )
    for number in range(N_MUTANTS["jsonl"]):
        content = mutant(sound, rng, 8, b'{}[]":,\\\n\0\xffeE-')
        yield _read("jsonl", f"mutant {number}", "x.jsonl", content)


# -- arrays ---------------------------------------------------------------------------------------


def _npy(array: Any, pickled: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickled)
    return file.getvalue()


def _headed(header: str, body: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    kind = "<H" if version[0] == 1 else "<I"
    return b"\x93NUMPY" + bytes(version) + struct.pack(kind, len(header)) + header.encode() + body


def _shaped(shape: str, kind: str = "<f8", body: bytes = bytes(64)) -> bytes:
    return _headed(f"{{'descr':'{kind}','fortran_order':False,'shape':{shape}}}\n", body)


RNG = np.random.default_rng(0)
WRONG_NPY: dict[str, bytes] = {
    "pickle": _npy(np.array([{1: 2}], dtype=object), pickled=True), "1e12 rows": _shaped("(1000000000000,2)"),
    "overflow": _shaped("(9223372036854775807,9223372036854775807)"), "negative": _shaped("(-1,2)"),
    "no columns": _shaped("(200000000,0)"), "V0": _shaped("(100000000000,2)", "|V0"), "S0": _shaped("(1000,2)", "|S0"),
    "code": _headed("{'descr':__import__('os'),'fortran_order':False,'shape':(1,2)}\n"),
    "nested": _headed("(" * 9000 + ")" * 9000), "4 GB of header": b"\x93NUMPY\x02\0\xff\xff\xff\xff{",
    "version 9": _headed("{}", version=(9, 0)), "complex": _npy(np.ones((5, 2), complex)), "3d": _npy(np.ones((5, 2, 2))),
    "0d": _npy(np.float64(3)), "inf": _npy(np.array([[1.0, np.inf], [2, 3]] * 9)), "empty": b"",
    "cut": _npy(RNG.random((30, 2)))[:-100], "void": _npy(np.zeros((5, 2), dtype="V4")), "nan": _npy(np.array([[1, np.nan]] * 9)),
}  # fmt: skip
ODD_NPY: dict[str, bytes] = {
    "text": _npy(np.array([["a", "b"]] * 5)), "dates": _npy(np.array(["2020-01-01"] * 5, dtype="M8[D]")),
    "half": _npy(RNG.random((30, 2)).astype("f2")), "long": _npy(RNG.random((30, 2)).astype(np.longdouble)),
    "big end": _npy(RNG.random((30, 2)).astype(">f8")), "u8": _npy(np.arange(60, dtype="u8").reshape(30, 2) + 2**63),
    "fields": _npy(np.zeros(5, dtype=[("a", "f8"), ("b", "S3")])), "huge": _npy(np.array([[1e308, -1e308], [-1e308, 1e308]] * 9)),
    "nested fields": _npy(np.zeros(5, dtype=[("a", [("q", "f8")]), ("b", "f8", (3,))])), "bool": _npy(np.eye(20) > 0),
}  # fmt: skip


def _arrays(_: Material) -> Iterator[Case]:
    for name, content in WRONG_NPY.items():
        yield _read("npy", name, "x.npy", content, is_wrong=True)
        if name not in ("nan", "inf"):
            yield _read("npy", f"{name} in blocks", "x.npy", content, "--in-blocks", is_wrong=True)
    for name, content in ODD_NPY.items():
        yield _read("npy", name, "x.npy", content)
        yield _read("npy", f"{name} in blocks", "x.npy", content, "--in-blocks")
    sound, rng = _npy(RNG.random((50, 3))), random.Random("npy")
    for number in range(N_MUTANTS["npy"]):
        content = mutant(sound[:160], rng, 4) + sound[160:]
        yield _read(
            "npy",
            f"mutant {number}",
            "x.npy",
            content,
            *(["--in-blocks"] if number % 3 == 0 else []),
        )


def _zip(*members: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return file.getvalue()


def _bomb() -> bytes:
    file, rows = io.BytesIO(), 192 << 20
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open("X.npy", "w", force_zip64=True) as member,
    ):
        member.write(_shaped(f"({rows},2)", body=b""))
        for _ in range(192):
            member.write(bytes(16 << 20))
    return file.getvalue()


def _archives(_: Material) -> Iterator[Case]:
    array = _npy(RNG.random((20, 2)))
    wrong: dict[str, bytes] = {
        "empty": b"", "no zip": b"hello", "nothing inside": _zip(), "pickle": _zip(("X.npy", WRONG_NPY["pickle"])),
        "a text": _zip(("a.txt", b"hi")), "lengths": _zip(("a.npy", _npy(RNG.random(20))), ("b.npy", _npy(RNG.random(21)))),
        "a lie": _zip(("X.npy", WRONG_NPY["1e12 rows"])), "cut": _zip(("X.npy", array))[:-50], "no rows": _zip(("X.npy", _npy(np.zeros((0, 2))))),
        "an .npy": array,
    }  # fmt: skip
    for name, content in wrong.items():
        yield _read("npz", name, "x.npz", content, is_wrong=True)
    yield _read("npz", "3 GiB", "x.npz", _bomb, is_wrong=True, is_large=True)
    many = [(f"m{i}.npy", _npy(np.array([1.0, 2.0]))) for i in range(3000)]
    yield _read("npz", "many", "x.npz", lambda: _zip(*many), is_large=True)
    yield _read("npz", "traversal", "x.npz", _zip(("../../evil.npy", array)))
    yield _read("npz", "escape", "x.npz", _zip(("\x1b[31m.npy", _npy(RNG.random(20)))))
    yield _read("npz", "bzip", "x.npz", _zip(("X.npy", array), packing=zipfile.ZIP_BZIP2))
    sound, rng = _zip(("X.npy", array)), random.Random("npz")
    for number in range(N_MUTANTS["npz"]):
        yield _read("npz", f"mutant {number}", "x.npz", mutant(sound, rng, 5))


def _table(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, store_schema=False)
    return file.getvalue()


def _parquet(_: Material) -> Iterator[Case]:
    numbers = [1.5 * i for i in range(40)]
    sound = _table(id=[f"i{i}" for i in range(40)], a=[i % 7 + 0.5 for i in range(40)], b=numbers)
    wrong: dict[str, Any] = {
        "empty": b"", "a mark": b"PAR1PAR1", "no rows": _table(a=pa.array([], pa.float64())), "no columns": _table(),
        "nothing": _table(a=pa.nulls(20)), "cut": sound[:-10], "half": sound[: len(sound) // 2], "CSV": b"a,b\n1,2\n",
        "infinite": _table(a=[float("inf"), *numbers[1:]], b=numbers), "footer": sound[:-8] + b"\xff\xff\xff\x7fPAR1",
        "300 million rows": lambda: _table(a=np.zeros(300_000_000)),
        "a long text": lambda: _table(a=pa.DictionaryArray.from_arrays(pa.array(np.zeros(4000, "i4")), pa.array(["x" * 10**6])), b=np.arange(4000.0)),
    }  # fmt: skip
    odd = {
        "nested": _table(a=[{"x": 1}] * 20, b=[[1, 2]] * 20), "binary": _table(a=[b"\xff\0"] * 40, b=numbers),
        "lists": _table(a=[[1.0] * (i % 3 + 1) for i in range(20)]), "u64": _table(a=pa.array([2**64 - 1 - i for i in range(40)], pa.uint64()), b=numbers),
        "half": _table(a=pa.array(RNG.random(40).astype("f2")), b=numbers), "nan": _table(a=[float("nan"), *numbers[1:]], b=numbers),
        "escape": _table(**{"\x1b[31ma": numbers, "b": [x * x for x in numbers]}), "words": _table(a=pa.array(["x", "y"] * 20).dictionary_encode(), b=numbers),
    }  # fmt: skip
    for name, content in wrong.items():
        yield _read(
            "parquet", name, "x.parquet", content, is_wrong=True, is_large=callable(content)
        )
    for name, content in odd.items():
        yield _read("parquet", name, "x.parquet", content)
        yield _read("parquet", f"{name} in blocks", "x.parquet", content, "--in-blocks")
    rng = random.Random("parquet")
    for number in range(N_MUTANTS["parquet"]):
        yield _read("parquet", f"mutant {number}", "x.parquet", mutant(sound, rng, 5))


# -- images ---------------------------------------------------------------------------------------


def _noise(seed: int, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, (20, 20), dtype=np.uint8)
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def _png(width: int, height: int, mode: str = "L") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, "PNG")
    return file.getvalue()


def _png_head(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000)))


def _images(_: Material) -> Iterator[Case]:
    def case(name: str, make: Make, *options: str, **more: bool) -> Case:
        def fill(folder: Path) -> None:
            (folder / "pics").mkdir()
            for number in range(5):
                (folder / "pics" / f"g{number}.png").write_bytes(_noise(number))
            make(folder / "pics")

        return Case("images", name, ("label", "pics", *options), fill, **more)

    wrong: dict[str, tuple[str, bytes]] = {
        "no bytes": ("z.png", b""), "cut": ("z.jpg", _noise(9, "JPEG")[:200]), "SVG": ("z.png", b"<svg/>"),
        "EPS": ("z.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), "random": ("z.png", random.Random(1).randbytes(3000)),
        "60000 wide": ("z.png", _png_head(60000, 60000)), "2^31 wide": ("z.png", _png_head(2**31 - 1, 2**31 - 1)),
        "no size": ("z.png", _png_head(0, 0)), "TIFF": ("z.tif", b"II*\0" + bytes(3000)),
    }  # fmt: skip
    for name, (file, content) in wrong.items():
        yield case(name, _file(file, content), is_wrong=True)
    for name, size, mode in (
        ("gray", 13000, "L"),
        ("RGBA", 13000, "RGBA"),
        ("16 bits", 9000, "I;16"),
    ):
        yield case(
            f"large {name}", _file("z.png", lambda s=size, m=mode: _png(s, s, m)), is_large=True
        )
    yield case("passwd", lambda f: (f / "z.png").symlink_to("/etc/passwd"), is_wrong=True)
    yield case("loop", lambda f: (f / "a.png").symlink_to("a.png"))
    yield case("up", lambda f: (f / "up").symlink_to(".."))
    yield case("pipe", lambda f: os.mkfifo(f / "z.png"))
    yield case("zero", lambda f: (f / "z.png").symlink_to("/dev/zero"))
    yield case("folder", lambda f: (f / "z.png").mkdir())
    yield case("escape", _file("\x1b[31m.png", _noise(8)))
    yield case("line", _file("a\nb.png", _noise(8)))
    yield case(
        "half a character",
        lambda f: Path(os.fsdecode(os.fsencode(f) + b"/\xff\xfe.png")).write_bytes(_noise(8)),
    )
    yield case("the same twice", _file("z.png", _noise(0)))
    yield case("none", lambda f: [file.unlink() for file in f.iterdir()], is_wrong=True)
    for size in ("0", "-1", "100000", "nan"):
        yield case(f"size {size}", lambda f: None, "--image-size", size, is_wrong=True)
    kinds, rng = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"), random.Random("images")
    for number in range(N_MUTANTS["images"]):
        kind = kinds[number % len(kinds)]
        yield case(f"mutant {number}", _file(f"z.{kind.lower()}", mutant(_noise(3, kind), rng)))


# -- sessions -------------------------------------------------------------------------------------

COMMANDS = (
    ("status", "s"),
    ("label", "d.csv"),
    ("doctor", "s"),
    ("history", "s"),
    ("export", "s", "-o", "out.csv"),
)
BAD: list[Any] = [
    None,
    -1,
    10**30,
    "",
    [],
    {},
    "x",
    True,
    1e308,
    [None],
    {"a": 1},
    [[[]]],
    10**12,
    "\x1b[31m",
]


def _stored(
    path: Path, events: list[list[Any]], also: tuple[str, ...] = (), version: int = 1
) -> None:
    """A session file with a sound chain of digests, whatever its events say."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute(STEPS[0])
        before = ""
        for number, kind, at, who, body in events:
            text = (
                body
                if isinstance(body, str)
                else json.dumps(body, sort_keys=True, separators=(",", ":"))
            )
            fields = json.dumps(
                [before, number, kind, at, who, text], ensure_ascii=False, separators=(",", ":")
            )
            before = hashlib.blake2b(
                fields.encode("utf-8", "surrogatepass"), digest_size=12
            ).hexdigest()
            file.execute(
                "INSERT INTO events VALUES (?,?,?,?,?,?)", (number, kind, at, who, text, before)
            )
        for statement in also:
            file.execute(statement)
        file.execute(f"PRAGMA application_id={APPLICATION}")
        file.execute(f"PRAGMA user_version={version}")


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:2])
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield (*path, key)
        yield from _places(inner, (*path, key))


def _spoilt(value: Any, rng: random.Random) -> Any:
    """A copy with one field replaced by something absurd, or gone."""
    copy = json.loads(json.dumps(value))
    *path, last = rng.choice(list(_places(copy)))
    inside = copy
    for key in path:
        inside = inside[key]
    if rng.random() < 0.15 and isinstance(inside, dict):
        del inside[last]
    else:
        inside[last] = rng.choice(BAD)
    return copy


def _sessions(material: Material) -> Iterator[Case]:
    def case(name: str, store: Make, command: tuple[str, ...], **more: bool) -> Case:
        words = tuple("d.csv.samecluster" if word == "s" else word for word in command)

        def fill(folder: Path) -> None:
            material.copy(folder, "d.csv")
            store(folder / "d.csv.samecluster")

        return Case("sessions", f"{name}, {command[0]}", words, fill, **more)

    events, n = material.events, len(material.events)
    trigger = "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END"
    endless = (
        "CREATE VIEW v AS WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a+1 FROM r) SELECT a FROM r",
    )
    raw = (material.folder / "d.csv.samecluster").read_bytes()
    wrong: dict[str, Make] = {
        "text": lambda p: p.write_bytes(b"hello"), "cut": lambda p: p.write_bytes(raw[:5000]), "folder": lambda p: p.mkdir(),
        "pipe": lambda p: os.mkfifo(p), "newer": lambda p: _stored(p, events, version=99), "older than all": lambda p: _stored(p, events, version=-5),
        "trigger": lambda p: _stored(p, events, (trigger,)), "view": lambda p: _stored(p, events, endless),
    }  # fmt: skip
    for name, store in wrong.items():
        for command in COMMANDS:
            yield case(name, store, command, is_wrong=True)
    more: dict[str, tuple[str, Any]] = {
        "unknown kind": ("zzz", {}), "deep": ("named", '{"anchor":"i1","number":0,"text":' + "[" * 5000 + "]" * 5000 + "}"),
        "a list": ("closed", "[]"), "no JSON": ("closed", "{"), "a long number": ("retracted", '{"sequence":' + "9" * 5000 + "}"),
        "itself": ("retracted", {"sequence": n + 1}), "the first": ("retracted", {"sequence": 1}), "opened": tuple(events[0][1::3]),
        "strangers": ("answered", {"items": ["no", "yes"], "role": "plan", "verdict": "same"}), "escape": ("named", {"anchor": "i1", "number": 0, "text": "\x1b[31m"}),
        "note": ("flagged", {"note": "\x1b]0;x\x07", "item": "i5"}), "the year 1": ("closed", {}),
    }  # fmt: skip
    for name, (kind, body) in more.items():
        at = "0001-01-01T00:00:00+00:00" if "year" in name else AT
        for command in COMMANDS:
            yield case(
                name, lambda p, e=[n + 1, kind, at, None, body]: _stored(p, [*events, e]), command
            )
    rng = random.Random("sessions")
    for number in range(N_MUTANTS["sessions"] + N_MUTANTS["answers"]):
        at_event = 0 if number < N_MUTANTS["sessions"] else rng.randrange(1, n)
        body = _spoilt(json.loads(events[at_event][4]), rng)
        changed = [*events[:at_event], [*events[at_event][:4], body], *events[at_event + 1 :]]
        yield case(
            f"mutant {number}", lambda p, c=changed: _stored(p, c), COMMANDS[number % len(COMMANDS)]
        )


# -- proofs and pairs -----------------------------------------------------------------------------


def _proofs(material: Material) -> Iterator[Case]:
    def case(name: str, content: Any, file: str = "p.gz", **more: bool) -> Case:
        def fill(folder: Path) -> None:
            material.copy(folder, "p.points.npy")
            _file(file, content)(folder)

        return Case("proofs", name, ("verify", "p.points.npy", file), fill, **more)

    header, *records = material.proof
    rest = b"\n".join(json.dumps(record).encode() for record in records)
    first = json.dumps(header).encode()
    wrong: dict[str, Any] = {
        "empty": b"", "nothing packed": gzip.compress(b""), "text": b"hello", "cut": gzip.compress(first + b"\n" + rest)[:-20],
        "deep": gzip.compress(first + b"\n" + b"[" * 200000), "long number": first + b'\n["cluster",' + b"9" * 4000 + b"]",
        "1e400": first + b'\n["cluster",1e400]', "negative": first + b'\n["cluster",-5]', "nan": first + b'\n["cluster",NaN]', "list": b"[]",
        "random": random.Random(2).randbytes(5000),
    }  # fmt: skip
    for name, content in wrong.items():
        yield case(name, content, is_wrong=True)
    for name, change in {"exponent": {"margin": "0x1p1000000000"}, "nan": {"margin": "nan"}, "inf": {"margin": "inf"},
                         "negative": {"margin": "-0x1p-1"}, "no text": {"margin": 1}, "format": {"format": "x"},
                         "print": {"fingerprint": "x"}, "resolution": {"resolution": ["nan"]}, "none": {"resolution": None}}.items():  # fmt: skip
        changed = json.dumps({**header, **change}).encode() + b"\n" + rest
        yield case(f"header {name}", gzip.compress(changed), is_wrong=True)
    yield case("3 GiB in a line", lambda: _long_line(), is_wrong=True, is_large=True)
    yield case("Parquet", b"PAR1" + bytes(100) + b"PAR1", "p.parquet", is_wrong=True)
    rng = random.Random("proofs")
    conclusions = [at for at, record in enumerate(records) if record[0] not in ("answer",)]
    for number in range(N_MUTANTS["proofs"]):
        lines, at = [header, *records], rng.choice(conclusions) + 1
        spoilt = _spoilt_record(records[at - 1][1:], rng)
        lines[at] = [records[at - 1][0], *spoilt] if isinstance(spoilt, list) else spoilt
        content = gzip.compress("\n".join(map(json.dumps, lines)).encode())
        yield case(f"mutant {number}", content)


def _spoilt_record(fields: Any, rng: random.Random) -> Any:
    if isinstance(fields, list) and fields and rng.random() < 0.9:
        at = rng.randrange(len(fields))
        return [*fields[:at], _spoilt_record(fields[at], rng), *fields[at + 1 :]]
    if isinstance(fields, int):
        return rng.choice([fields + 1, -fields - 1, 10**9, -(10**9), None, "x", 1.5, True, 10**30])
    return rng.choice([None, [], "same", "different", "0x1p9999", {}, -1])


def _long_line() -> bytes:
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
        for _ in range(192):
            packed.write(b" " * (16 << 20))
    return file.getvalue()


def _pairs(material: Material) -> Iterator[Case]:
    def case(name: str, content: Any, file: str = "pairs.csv", **more: bool) -> Case:
        def fill(folder: Path) -> None:
            material.copy(folder, "d.csv", "d.csv.samecluster")
            _file(file, content)(folder)

        return Case("pairs", name, ("import", "d.csv.samecluster", file), fill, **more)

    same = next(json.loads(e[4]) for e in material.events if e[1] == "answered")
    one, two = same["items"]
    opposite = {"same": "different", "different": "same"}[same["verdict"]]
    wrong: dict[str, bytes] = {
        "empty": b"", "strangers": b"zz,yy,same\n", "itself": b"i1,i1,same\n", "maybe": b"i1,i2,maybe\ni1,i3,maybe\n", "two": b"i1,i2\n",
        "five": b"i1,i2,same,x,y\n", "torn": b"i1,i2,same\ni2,i3,same\ni1,i3,different\n", "both": b"i1,i2,same\ni2,i1,different\n",
        "against": f"{two},{one},{opposite}\n".encode(), "random": random.Random(3).randbytes(3000), "NUL": b"i1,i2,sa\0me\n",
        "quote": b'"i1","i2","same\n', "JSON": b'{"a":1}\n', "escape": b"\x1b[31mi1,i2,same\n",
    }  # fmt: skip
    for name, content in wrong.items():
        yield case(name, content, is_wrong=True)
    yield case("text as session", b"hello", "x.samecluster", is_wrong=True)
    yield case("array", _npy(RNG.random((5, 2))), "p.npy", is_wrong=True)
    for name, content in {
        "SAME": b"i1,i2,SAME\n",
        "UTF-16": "i1,i2,same\n".encode("utf-16"),
        "blanks": b" i1 , i2 , same \n",
    }.items():
        yield case(name, content)
    yield case(
        "many",
        lambda: b"".join(b"i%d,i%d,different\n" % (i % 90, (i * 7 + 1) % 90) for i in range(50000)),
        is_large=True,
    )
    rng = random.Random("pairs")
    for number in range(N_MUTANTS["pairs"]):
        yield case(
            f"mutant {number}",
            mutant(b"i1,i2,same\ni3,i4,different\ni5,i6,same\n", rng, 4, b',\n"same\0i\xff'),
        )


def _new_rows(material: Material) -> Iterator[Case]:
    def case(name: str, content: Any, file: str = "x.csv", **more: bool) -> Case:
        def fill(folder: Path) -> None:
            material.copy(folder, "d.csv", "d.csv.samecluster")
            _file(file, content)(folder)

        arguments = ("assign", "d.csv.samecluster", file, "-o", "o.csv")
        return Case("new rows", name, arguments, fill, **more)

    may_be = ("constant", "one row", "hex", "grouped", "a few words")
    for name, content in WRONG_CSV.items():
        yield case(name, content, is_wrong=name not in may_be)
    for name, odd in ODD_CSV.items():
        yield case(f"odd {name}", odd, is_large=callable(odd))
    for number, content in enumerate([*WRONG_JSON, *ODD_JSON]):
        yield case(f"JSON {number}", content, "x.jsonl", is_wrong=number < len(WRONG_JSON))
    for name, content in (WRONG_NPY | ODD_NPY).items():
        yield case(f"array {name}", content, "x.npy", is_wrong=True)  # its columns have no names
    for name, file in {"a session": "d.csv.samecluster", "a folder": ".", "none": "no.csv"}.items():
        found = case(name, b"", "unused")
        yield replace(
            found, arguments=("assign", "d.csv.samecluster", file, "-o", "o.csv"), is_wrong=True
        )
    for name, out in {"session": "d.csv.samecluster", "data": "d.csv", "itself": "x.csv"}.items():
        found = case(f"over {name}", HEAD + ROWS)
        arguments = ("assign", "d.csv.samecluster", "x.csv", "-o", out, "--force")
        yield replace(found, arguments=arguments, is_wrong=True)
    rng = random.Random("new rows")
    for number in range(N_MUTANTS["new rows"]):
        yield case(f"mutant {number}", mutant(HEAD + ROWS, rng, 12, b'",;\n\r\t\0\xff=|-+e.'))


# -- options --------------------------------------------------------------------------------------

LONG = "x" * 300
VALUES: dict[str, tuple[str, ...]] = {
    "--margin": ("nan", "-1", "inf", "", "abc", "0"), "--clusters": ("0", "-1", "1e9", "nan", "2.5", "99999999999999999999", ""),
    "--audit": ("2", "-1", "nan", "0.01,2", "0.01,nan", "0.01,0.99,3", ""), "--max-questions": ("-1", "0", "1e30", "nan"),
    "--reduce": ("0", "-1", "1000", "nan"), "--seed": ("-1", "nan"), "--sep": ("", "ab", "\n", '"'), "--decimal": ("x", "", "..", "٫"),
    "--encoding": ("bogus", "rot13", "base64", "zlib", "hex", "undefined", "idna", "punycode", "unicode_escape", "../../etc", "bz2", ""),
    "--features": ("zz", "kind", ""), "--id": ("zz", "kind", ""), "--vectors": ("nowhere", "."), "--labels": ("zz", ""), "--pairs": ("nowhere", "."),
    "--show": ("zz",), "--session": (".", "d.csv", "/proc/x", "/dev/null", "no/such/s", LONG), "--who": ("", "\x1b[31m", "x\ny"), "--text": ("zz",),
    "--categories": ("zz",), "--ignore": ("zz",), "--order": ("x",), "--in-blocks": (), "--max-memory": ("0", "-1", "nan", "1e99"), "--image-size": ("nan",),
}  # fmt: skip
SERVE = (("--port", "99999"), ("--port", "-1"), ("--port", "x"), ("--host", "bogus.invalid"), ("--token", "short"), ("--token", "é" * 20), ("--lease-seconds", "0"),
         ("--tls-cert", "d.csv", "--tls-key", "d.csv"), ("--tls-cert", "d.csv"), ("--image-column", "zz"), ("--show", "zz"))  # fmt: skip
LLM = (("--llm", "http://192.0.2.1/v1"), ("--llm", "file:///etc/passwd"), ("--llm", "https://[::"), ("--llm", f"https://{LONG}"), ("--model", ""), ("--criterion", " "), ("--prices", "1"), ("--prices", "nan,1"),
       ("--prices", "1,1", "--max-cost", "-1"), ("--max-cost", "1"), ("--audit", "0.1"), ("--who", "ann"), ("--oracle-cmd", "true"), ("--yes",))  # fmt: skip
CLUSTER = (("--timeout", "nan"), ("--timeout", "-1"), ("--timeout", "0"), ("--timeout", "1e30"), ("--retries", "-1"), ("--parallel", "0"), ("--oracle-cmd", ""), ("--oracle-cmd", "'open"),
           ("--oracle-cmd", "/no/such"), ("--oracle-cmd", "."), ("-o", "."), ("-o", "no/such/x.csv"), ("-o", "x.exe"), ("-o", "d.csv"), ("-o", f"{LONG}.csv"), ("--proof", "no/p"),
           ("--report", "no/r"), ("--report", "d.csv"), ("--truth", "zz"), ("--oracle-cmd", "true", "--retries", "0"))  # fmt: skip
OTHERS = (("status", "."), ("status", "nowhere"), ("status", "d.csv", "--data", "nowhere"), ("history", "/dev/null"), ("undo", "d.csv", "--event", "999999"), ("undo", "d.csv", "--event", "-1"),
          ("undo", "d.csv", "--event", "99999999999999999999"), ("name", "d.csv", "99", "x"), ("name", "d.csv", "0", "\x1b[31m"), ("name", "d.csv", "0", " "), ("doubt", "d.csv", "zz"),
          ("merge", "d.csv", "0", "99"), ("merge", "d.csv", "0", "0"), ("split", "d.csv", "99", "i1"), ("split", "d.csv", "0", "zz"), ("export", "d.csv", "-o", "d.csv"), ("export", "d.csv", "-o", "."),
          ("export", "d.csv", "-o", "d.csv.samecluster"), ("report", "d.csv", "-o", "d.csv"), ("report", "d.csv", "-o", "."), ("update", "d.csv", "nowhere"), ("update", "d.csv", "."), ("import", "d.csv", "nowhere"),
          ("import", "d.csv", "."), ("margin", "d.csv", "--labels", "zz"), ("margin", "nowhere", "--labels", "a"), ("verify", "d.csv", "nowhere"), ("verify", "nowhere", "d.csv"), ("verify", "d.csv", "."),
          ("verify", "d.csv", "d.csv"), ("doctor", "d.csv", "--save", "d.csv"), ("invite", "nowhere", "x"), ("demo", "--points", "-1"), ("demo", "--points", "3", "--clusters", "9"), ("demo", "--margin", "nan"),
          ("demo", "--dimension", "0"), ("demo", "--points", "90", "--condition", "nan"), ("reproduce", "figure1", "--runs", "0"), ("reproduce", "bogus"), ("reproduce", "figure1", "--out", "d.csv"), ("bogus",), ("label",),
          ("label", "d.csv", "d.csv"), ("label", "/"), ("label", LONG), ("label", "d.csv\0"), ("inspect", "..", "--sep", ","))  # fmt: skip


def _options(material: Material) -> Iterator[Case]:
    def fresh(folder: Path) -> None:
        material.copy(folder, "d.csv")

    def begun(folder: Path) -> None:
        material.copy(folder, "d.csv", "d.csv.samecluster")

    for option, values in VALUES.items():
        for value in values:
            words = ("label", "d.csv", option, value)
            yield Case("options", " ".join(words)[:60], words, fresh, is_wrong=True)
    for words in SERVE:
        yield Case(
            "options",
            f"serve {words[0]} {words[1][:20]}",
            ("serve", "d.csv", "--no-browser", *words),
            fresh,
            is_wrong=True,
        )
    for words in CLUSTER:
        by = () if "--oracle-cmd" in words or "--truth" in words else ("--oracle-cmd", "true")
        yield Case(
            "options",
            f"cluster {words[0]} {words[1][:20]}",
            ("cluster", "d.csv", "--id", "id", *words, *by),
            fresh,
            is_wrong=True,
        )
    for words in LLM:
        model = ("--llm", "http://127.0.0.1:1/v1", "--model", "m", "--criterion", "same")
        yield Case(
            "options",
            f"cluster --llm {' '.join(words)[:40]}",
            ("cluster", "d.csv", "--id", "id", *model, *words),
            fresh,
            is_wrong=True,
        )
    for words in OTHERS:
        yield Case("options", " ".join(words)[:60], words, begun, is_wrong=True)
