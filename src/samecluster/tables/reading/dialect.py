"""How a text table is written: encoding, separator, decimal mark, line ends; and how to find out.

Only text is looked at here; files are opened in ``detect.py`` and cut into cells in
``delimited.py``.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import re
from collections import Counter
from dataclasses import dataclass

from samecluster._files import MAX_BYTES
from samecluster.errors import InvalidInputError

MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?")
"""Cells that stand for "no value" unless others are named. A blank cell always does."""

SEPARATORS = ("\t", ";", "|", ",")
_SAMPLE_CHARACTERS = 100_000  # what the dialect is found from: milliseconds, whatever the file
_SAMPLE_RECORDS = 200
_LONGEST_NAME = 60  # characters of a column name in a message; longer ones are probably cells
_START_BYTES, _ZERO_SHARE = 2_000, 0.4  # mostly ASCII: nearly half of all bytes of UTF-16 are 0
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # The mark of UTF-32 begins with that of UTF-16, so it is looked for first.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")  # encodings of names
_SIGNATURES = {
    b"PK\x03\x04": "a zip file (perhaps Excel): save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save the sheet as CSV",
    b"\x1f\x8b": "packed with gzip: unpack it first",
    b"PAR1": "a Parquet file: give it a name that ends in .parquet",
    b"\x93NUMPY": "a NumPy file: give it a name that ends in .npy",
    b"SQLite format 3": "a database: write the table out as CSV",
    b"%PDF": "a PDF",
}


@dataclass(frozen=True)
class CsvOptions:
    """What a user says about a text table; None is found out from the text.

    ``max_bytes`` is what any file may take in memory.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    header: bool | None = None
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.separator) != 1:
            raise InvalidInputError(
                f"the separator must be one character (or 'tab'), got {self.separator!r}"
            )
        if self.decimal not in (None, ".", ","):
            raise InvalidInputError(f"the decimal mark must be '.' or ',', got {self.decimal!r}")
        if self.separator is not None and self.separator == self.decimal:
            raise InvalidInputError(
                f"separator and decimal mark cannot both be {self.separator!r}; choose two"
            )
        if self.encoding is not None:
            try:
                "a".encode(self.encoding)  # others than text have names as well
                is_known = codecs.lookup(self.encoding).name not in _NO_FILES
            except (LookupError, ValueError):
                is_known = False
            if not is_known:
                raise InvalidInputError(
                    f"there is no encoding {self.encoding!r} of files; try utf-8, cp1252 or utf-16"
                )


@dataclass(frozen=True)
class Dialect:
    """How a text table is written; results are written in the same way."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    byte_order_mark: bool = False
    newline: str = "\n"
    header: bool = True
    missing: tuple[str, ...] = MISSING

    def encoded(self, text: str) -> bytes:
        """Text as the bytes of a file in this dialect."""
        mark = "\ufeff" if self.byte_order_mark else ""
        return (mark + text).encode(self.encoding)


def decoded(data: bytes, source: str, encoding: str | None) -> tuple[str, str, bool]:
    """The text of a file, its encoding, and whether it began with a byte order mark."""
    used, is_marked = encoding_of(data, source, encoding)
    try:
        text = data.decode(used)
    except UnicodeDecodeError as error:
        raise InvalidInputError(_undecodable(data, source, used, error)) from None
    text, begins_marked = text.removeprefix("\ufeff"), text.startswith("\ufeff")
    check_text(text, source, used)
    return text, used, is_marked and begins_marked


def encoding_of(data: bytes, source: str, encoding: str | None) -> tuple[str, bool]:
    """The encoding of a file that begins with these bytes, and whether a mark says so."""
    for signature, meaning in _SIGNATURES.items():
        if data.startswith(signature):
            raise InvalidInputError(f"{source} is {meaning}")
    mark, marked = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", None))
    return encoding or marked or _unmarked(data), bool(mark)


def check_text(text: str, source: str, encoding: str, before: int = 0) -> None:
    """InvalidInputError if text has NUL in it; ``before`` lines came before it."""
    if "\0" in text:
        line = before + text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInputError(
            f"{source}, line {line}: a NUL character; this is no text file in {encoding}"
        )


def _unmarked(data: bytes) -> str:
    """UTF-16 without a mark shows as every other byte zero; all else is taken for UTF-8."""
    start = data[:_START_BYTES]
    even, odd = start[0::2].count(0), start[1::2].count(0)
    many = _ZERO_SHARE * len(start)
    if len(start) >= 4 and odd > many and not even:
        return "utf-16-le"
    if len(start) >= 4 and even > many and not odd:
        return "utf-16-be"
    return "utf-8"


def _undecodable(data: bytes, source: str, encoding: str, error: UnicodeDecodeError) -> str:
    """Name line and column of the byte that is no text."""
    # Every byte is a character of Latin-1, so cells can be counted whatever the encoding is.
    text = data.decode("latin-1")
    begin = text.rfind("\n", 0, error.start) + 1
    separator = sniffed_dialect(text, CsvOptions()).separator
    header = text.split("\n", 1)[0].rstrip("\r").split(separator)
    cell = text.count(separator, begin, error.start)
    is_named = begin and cell < len(header) and len(header[cell]) <= _LONGEST_NAME
    column = f", column {header[cell]!r}" if is_named else f", cell {cell + 1}"
    return (
        f"{source}, line {text.count(chr(10), 0, begin) + 1}{column}: byte "
        f"0x{data[error.start]:02X} is no {encoding}; name the encoding, such as --encoding cp1252"
    )


def sniffed_dialect(
    text: str, options: CsvOptions, encoding: str = "utf-8", mark: bool = False
) -> Dialect:
    """The dialect of a text: as the options say, and found out from the text where they do not."""
    records = {s: _first_records(text, s) for s in SEPARATORS}
    separator = options.separator or _separator(records, options.decimal)
    if separator not in records:
        records[separator] = _first_records(text, separator)
    header = options.header
    if header is None:
        header = not _all_numbers(records[separator][:1], options.decimal)
    body = records[separator][1 if header else 0 :]
    if options.decimal is not None:
        decimal = options.decimal
    else:
        decimal = "." if separator == "," else _decimal(body, text, separator)
    missing = MISSING if options.missing is None else options.missing
    return Dialect(separator, decimal, encoding, mark, _newline(text), header, missing)


def number_pattern(decimal: str) -> re.Pattern[str]:
    """Cells that are numbers: no digits grouped, no other mark than ``decimal``."""
    mark = re.escape(decimal)
    return re.compile(
        rf"\s*[-+]?(?:(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][-+]?[0-9]+)?"
        r"|inf|infinity|nan)\s*",
        re.IGNORECASE | re.ASCII,
    )


def _newline(text: str) -> str:
    first = re.search("\r\n|\n|\r", text)
    return first.group() if first else "\n"


def _first_records(text: str, separator: str) -> list[list[str]]:
    sample = text[:_SAMPLE_CHARACTERS]
    lines = re.split("\r\n|\n|\r", sample)
    if len(text) > len(sample) and len(lines) > 1:
        del lines[-1]  # cut in the middle
    reader = csv.reader(lines, delimiter=separator)
    try:
        return [record for record in itertools.islice(reader, _SAMPLE_RECORDS) if record]
    except csv.Error:
        return []


def _separator(records: dict[str, list[list[str]]], decimal: str | None) -> str:
    """The first that gives every record the same number of cells, or else the most records.

    The comma comes last because it may be the decimal mark: `1,5;2,5` has as many commas per line.
    """
    allowed = [s for s in SEPARATORS if s != decimal]
    for separator in allowed:
        widths = {len(record) for record in records[separator]}
        if len(widths) == 1 and widths.pop() > 1:
            return separator
    agreeing = {}
    for separator in allowed:
        counts = Counter(len(record) for record in records[separator])
        agreeing[separator] = max((n for width, n in counts.items() if width > 1), default=0)
    best = max(allowed, key=lambda s: agreeing[s])
    # A column of texts alone: a mark in a few of them separates nothing, as the header shows.
    found = records[best]
    is_text = bool(found) and len(found[0]) == 1 and 2 * agreeing[best] < len(found)
    return best if agreeing[best] and not is_text else ","


def _all_numbers(records: list[list[str]], decimal: str | None) -> bool:
    patterns = [number_pattern(mark) for mark in (decimal or ".,")]
    return bool(records) and all(
        any(p.fullmatch(cell) for p in patterns) for record in records for cell in record
    )


def _decimal(body: list[list[str]], text: str, separator: str) -> str:
    """The mark under which more columns are numbers; where it is even, the one that occurs."""
    numeric = {}
    columns = list(zip(*body, strict=False))
    for mark in ".,":
        matches = number_pattern(mark).fullmatch
        numeric[mark] = sum(
            all(matches(cell) or not cell.strip() for cell in column) for column in columns
        )
    if numeric["."] != numeric[","]:
        return max(".,", key=lambda mark: numeric[mark])
    edge = rf"[{re.escape(separator)}\r\n\"]"
    with_comma = re.search(rf"{edge}[-+]?[0-9]+,[0-9]+{edge}", text)
    with_point = re.search(rf"{edge}[-+]?[0-9]+\.[0-9]+{edge}", text)
    return "," if with_comma and not with_point else "."
