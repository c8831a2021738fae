"""From data and options to an open session.

A session fits its preparation once and keeps it, with the columns that items are known by; whoever
opens it again gets the same features from the same cells, or an error that says what has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from samecluster.errors import (
    DataMismatchError,
    InvalidInputError,
    SameClusterError,
    SchemaError,
    SessionNotFoundError,
)
from samecluster.sessions.session import Session
from samecluster.sessions.state.items import Changes, Items
from samecluster.sessions.state.state import BUDGETS, State
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.tables import FeatureOptions, Preparation, Table, item_keys
from samecluster.tables.features.missing import MissingCells
from samecluster.tables.features.select import ColumnSelection, select_columns
from samecluster.tables.reading.load import LoadedData
from samecluster.workspace.data import BlockData, SessionData
from samecluster.workspace.in_blocks.sample import newly_sampled, sampled_again
from samecluster.workspace.known_answers import import_known
from samecluster.workspace.request import Request
from samecluster.workspace.stored_preparation import StoredPreparation
from samecluster.workspace.typed_command import typed

SUFFIX = ".samecluster"

MissingDecision = Callable[[MissingCells], str]
"""What becomes of missing cells ("median", "drop" or "error"), where the request does not say."""


@dataclass(frozen=True, eq=False)
class OpenSession:
    """A session with its data; close it, or use it in a ``with`` statement.

    ``checked`` are language models whose labels people check from this opening on.
    """

    session: Session
    data: SessionData
    path: Path
    is_new: bool
    checked: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        return self.data.table

    @property
    def options(self) -> FeatureOptions:
        return self.data.preparation.options

    @property
    def blocks(self) -> BlockData | None:
        """The data that the items are a sample of, if they are one."""
        return self.data.blocks

    @property
    def block_data(self) -> BlockData:
        """The same, for those who know that the items are a sample."""
        assert self.data.blocks is not None, "the session must be about data in blocks"
        return self.data.blocks

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The session and what its data was read from: no result may replace them."""
        return (self.path, *self.data.files)

    def check_line(self) -> str | None:
        """What people are told who begin to check the labels of a model."""
        if not self.checked:
            return None
        return (
            f"From here on only answers of people count, who check the labels that "
            f"{', '.join(self.checked)} gave."
        )

    def table_row(self, row: int) -> int:
        """The row of the table that has the item in this row of the session."""
        return int(self.data.rows[row])

    def __enter__(self) -> OpenSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()


def session_path(request: Request) -> Path:
    """Where the session is: as told, or beside the data."""
    if request.session is not None:
        return request.session
    if request.data == "-":
        raise InvalidInputError(
            "data from standard input needs a place for answers: --session FILE"
        )
    return session_beside(Path(request.data))


def session_beside(data: Path) -> Path:
    """The session of data that is named: a file beside it, also if the name is a mere dot."""
    named = data.resolve() if data.name in ("", "..") else data
    if not named.name:
        raise InvalidInputError(f"{data} has nothing beside it; name a place with --session FILE")
    return named.with_name(named.name + SUFFIX)


def data_beside(session: Path) -> str:
    """The data of a session file: what its name says, in the same folder."""
    data = session.with_suffix("") if session.suffix == SUFFIX else None
    if data is None or not data.exists():
        raise InvalidInputError(
            f"{session} does not say by its name where its data is; add --data FILE"
        )
    return str(data)


def named_in_command(session: Path, data: str) -> list[str]:
    """The data, and the session if it is not beside it, as a command that asks has them."""
    beside = data != "-" and session_beside(Path(data)) == session
    return [data] if beside else [data, "--session", str(session)]


def export_command(session: Path, data: str, out: str) -> str:
    """The command that writes the results of a session, as somebody could type it."""
    beside = session.suffix == SUFFIX and session.with_suffix("") == Path(data)
    named = [] if beside else ["--data", data]
    return typed("export", session, *named, "-o", out)


def open_session(
    request: Request, decide: MissingDecision | None = None, *, by_model: bool = False
) -> OpenSession:
    """Begin a session, or go on with it. ``decide`` is called if cells are missing at the begin.

    Where language models have answered, from here on people check their labels, unless it is
    opened ``by_model``.

    What is declared anew (margin, clusters, audit, budget) is noted, and known labels and pairs
    become imported answers. Other features are refused, and so is other data. A session that cannot
    be begun leaves no file.
    """
    path = session_path(request)
    if path.exists():
        with _store(path) as store:
            stored = _stored_in(store)
            if stored is not None:
                return _go_on(store, stored, request, path, by_model)
            store.close()
    data = _new_data(request, decide)
    with _store(path, create=True) as store:
        return _begin(store, data, request, path)


def is_in_blocks(request: Request) -> bool:
    """Whether a session would be about a sample: by the request, or since it is already."""
    path = session_path(request)
    if request.in_blocks or not path.exists():
        return request.in_blocks
    with _store(path, read_only=True) as store:
        stored = _stored_in(store)
        store.close()
    return stored is not None and "drawn" in stored


def reopen(
    path: Path, request: Request | None = None, *, read_only: bool = False, update: bool = False
) -> OpenSession:
    """Open a session that exists, with the data beside it unless the request names other data.

    With ``read_only`` nothing can be written and nobody is kept from writing. With ``update`` other
    rows are taken in.
    """
    if not path.exists():
        raise SessionNotFoundError(
            f"there is no session {path}; `samecluster label DATA` begins one"
        )
    request = request or Request(data=data_beside(path))
    with _store(path, read_only=read_only) as store:
        stored = _stored_in(store)
        if stored is None:
            raise SessionNotFoundError(
                f"{path} holds no session yet; `samecluster label` begins one"
            )
        data = data_again(request, stored)
        session = _session_in(store, data, request, update)
    return OpenSession(session, data, path, is_new=False)


def data_changes(path: Path, request: Request) -> tuple[Changes, SessionData]:
    """How the data differs from what the session is about, and the data; nothing is written."""
    with _store(path, read_only=True) as store:
        state = State(store.read())
        store.close()
    data = data_again(request, state.preparation)
    return state.items.changes(Items.of(data.keys, data.X, data.contents)), data


def data_again(request: Request, stored: Mapping[str, Any]) -> SessionData:
    """The data as a session takes it that has kept this preparation."""
    with _usable_preparation():
        preparation = StoredPreparation.from_json(stored)
        preparation.refuse_other_features(request)
        if preparation.draw is not None:
            return sampled_again(request, preparation)
        read = replace(request, **preparation.reading_for(request))
        loaded = read.load(preparation.words_replace)
        return _data_of(loaded, preparation)


@contextmanager
def _usable_preparation() -> Iterator[None]:
    """SchemaError if what a session says about its data is no preparation, or of other data."""
    try:
        yield
    except SameClusterError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise SchemaError(
            f"the session does not say in a usable way how its rows were made ({error!a}); it was "
            "altered, or written by another program"
        ) from error


def _stored_in(store: SqliteStore) -> Mapping[str, Any] | None:
    """How the rows of a session were prepared; None if the store holds none."""
    found: Mapping[str, Any] | None = None
    for event in store.read():
        found = event.body.get("preparation", found)
        if found is not None and "drawn" not in found:
            break  # only a sample grows
    return found


@contextmanager
def _store(path: Path, *, create: bool = False, read_only: bool = False) -> Iterator[SqliteStore]:
    """A store that is closed if the session is not opened after all; a file made for it goes."""
    store = SqliteStore(path, create=create, read_only=read_only)
    try:
        yield store
    except BaseException:
        store.discard()
        raise


def _begin(store: SqliteStore, data: SessionData, request: Request, path: Path) -> OpenSession:
    session = Session.create(
        store,
        data.keys,
        data.X,
        preparation=data.preparation.to_json(),
        parameters=request.declared(),
        contents=data.contents,
        hints=data.hints(),
        who=request.who,
        seed=_seed(data) if request.seed is None else request.seed,
        prepared=data.premises(),
    )
    import_known(session, data.table, data.rows, request, data.preparation.hint_column)
    return OpenSession(session, data, path, is_new=True)


def _go_on(
    store: SqliteStore, stored: Mapping[str, Any], request: Request, path: Path, by_model: bool
) -> OpenSession:
    data = data_again(request, stored)
    session = _session_in(store, data, request)
    if request.seed not in (None, session.state.seed):
        raise InvalidInputError(
            f"--seed cannot change in a session that has begun (it is {session.state.seed}); leave "
            "it out, or begin another with --session FILE"
        )
    models = () if by_model else session.let_people_check(request.who)
    if models and request.looks is None and session.state.parameters.get("looks") is None:
        request = replace(request, looks="auto")  # sheets take people a fraction of the time
    before = session.state.parameters
    # What a model might spend is no limit for people; they may set their own.
    lapsed = dict.fromkeys(BUDGETS) if models else {}
    changes = {
        name: value
        for name, value in {**lapsed, **request.declared()}.items()
        if before.get(name, "auto" if name == "margin" else None) != value
    }
    if changes:
        session.set_parameters(who=request.who, **changes)
    if not by_model:
        session.use_measured_seconds(request.who)
    import_known(session, data.table, data.rows, request, data.preparation.hint_column)
    return OpenSession(session, data, path, is_new=False, checked=models)


def _session_in(
    store: SqliteStore, data: SessionData, request: Request, update: bool = False
) -> Session:
    try:
        return data.session(store, update=update, who=request.who)
    except DataMismatchError as error:
        command = typed("update", store.path, request.data)
        told = str(error).partition("; to go on")[0]
        raise DataMismatchError(f"{told}; to go on with these rows: {command}") from None


def _seed(data: SessionData) -> int:
    """From the data, so that the same file asks the same questions on every machine."""
    if data.contents is None:
        return 0
    digest = hashlib.blake2b("\n".join(data.contents).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def _new_data(request: Request, decide: MissingDecision | None) -> SessionData:
    if request.in_blocks:
        return newly_sampled(request)
    loaded = request.load()
    names = loaded.table.names
    choice = _decided(select_columns(loaded.table, request.wanted(names)), request, decide)
    wanted = choice.options
    kept_back = {wanted.truth, wanted.labels, *wanted.ignore}
    preparation = StoredPreparation(
        Preparation.of_selection(choice),
        wanted,
        tuple(name for name in names if name not in kept_back),
        StoredPreparation.reading_of(request),
        request.checked_labels_as() or "known",
    )
    return replace(_data_of(loaded, preparation), choice=choice)


def _decided(
    choice: ColumnSelection, request: Request, decide: MissingDecision | None
) -> ColumnSelection:
    """The same columns with missing cells treated as somebody decides who is asked now."""
    is_said = request.missing_cells is not None or request.drop_missing
    if is_said or decide is None or choice.problems or not choice.missing.n_rows:
        return choice
    return replace(choice, options=replace(choice.options, missing=decide(choice.missing)))


def _data_of(loaded: LoadedData, preparation: StoredPreparation) -> SessionData:
    table = loaded.table
    rows = preparation.features.kept(table)
    X = preparation.features.apply(table)
    wanted = frozenset(preparation.columns)
    ignoring = [name for name in table.names if name not in wanted]
    by_content = item_keys(table, ignoring=ignoring)
    id_column = preparation.options.id_column
    keys = by_content if id_column is None else item_keys(table, id_column)
    contents = _with_vectors([key.partition("#")[0] for key in by_content], table)
    chosen = rows.tolist()
    return SessionData(
        table,
        loaded.notes,
        preparation,
        rows,
        X,
        [keys[row] for row in chosen],
        [contents[row] for row in chosen],
        files=loaded.files,
    )


def _with_vectors(contents: list[str], table: Table) -> list[str]:
    """Vectors count as content; pixels do not, as the bytes of their image do already."""
    vectors = table.matrices.get("vectors")
    if vectors is None:
        return contents
    rows = np.ascontiguousarray(vectors, dtype="<f8")
    digests = (hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in rows)
    return [f"{content}|{found}" for content, found in zip(contents, digests, strict=True)]
