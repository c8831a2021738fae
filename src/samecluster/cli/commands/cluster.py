"""``samecluster cluster``: questions answered by a program, a language model or the truth."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from samecluster._files import is_stdout
from samecluster.cli.commands.label import INTERRUPTED
from samecluster.cli.options import Force, Json, LanguageModel, Program, takes_request
from samecluster.cli.terminal.harmless import print_json
from samecluster.errors import CostLimitError, InvalidInputError, OracleError
from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.export import ResultFiles
    from samecluster.workspace.open import OpenSession


@takes_request("looks")
def cluster(
    request: Request,
    oracle_cmd: str | None = None,
    llm: str | None = None,
    model: str | None = None,
    criterion: str | None = None,
    prices: str | None = None,
    max_cost: float | None = None,
    both_orders: bool = False,
    confirm: bool = False,
    no_cache: bool = False,
    yes: bool = False,
    parallel: int | None = None,
    timeout: float = 60.0,
    retries: int | None = None,
    join: bool = False,
    out: str | None = None,
    proof: Path | None = None,
    report: Path | None = None,
    prefix: str = "",
    raw: bool = False,
    force: Force = False,
    json: Json = False,
    no_session: bool = False,
) -> None:
    """Find the groups in data with a program that answers, or with the truth as a simulation.

    Answers are kept as they come: if the run stops for whatever reason, the same command goes on
    and asks nothing again. With --truth COLUMN that column answers; with --oracle-cmd a program
    does (and the truth, where given, only measures the error). Simulated answers never go into a
    session with others; a program goes by the name "program", or "program NAME" with --who NAME.

    With --llm a language model answers, under the name "model NAME": docs/models.md. Its key is in
    the variable SAMECLUSTER_LLM_KEY.

    With --in-blocks the truth is a column of numbers or a .npy file, and labels of all rows go to
    the folder -o.

    Exit code 0 when nothing is left to ask or the budget is spent, 2 if the data or an option
    cannot be used, 1 if the program fails or something else is wrong, 130 after Ctrl-C.

    Example: samecluster cluster letters.csv --oracle-cmd "python ask.py" -o out.csv
    """
    from samecluster.cli.terminal.screen import Screen
    from samecluster.oracles import ChatOracle, CommandOracle
    from samecluster.workspace.export import ResultFiles
    from samecluster.workspace.open import session_path

    if oracle_cmd is None and llm is None and request.truth is None:
        raise InvalidInputError(
            "somebody must answer: --oracle-cmd PROGRAM, --llm ADDRESS or --truth COLUMN (a person "
            "answers in `samecluster label`)"
        )
    if no_session and request.session is not None:
        raise InvalidInputError("--session and --no-session exclude each other")
    on_stdout = [path for path in (out, report) if path is not None and is_stdout(path)]
    if len(on_stdout) + json > 1:
        raise InvalidInputError("only one of --json, -o and --report can go to standard output")
    if request.dask is not None and proof is not None:
        raise InvalidInputError(
            "--proof does not go with --dask: a proof needs a fingerprint of all rows in order"
        )
    program: Program | None = None
    if oracle_cmd is not None:
        at_once, tries = 1 if parallel is None else parallel, 2 if retries is None else retries
        start = partial(CommandOracle, oracle_cmd, parallel=at_once, timeout=timeout, retries=tries)
        program = Program(start, at_once, request.show)
    if llm is not None:
        _check_chat(request, program, model, criterion)
        at_once, tries = 4 if parallel is None else parallel, 6 if retries is None else retries
        model, criterion = model or "", criterion or ""
        begin = partial(
            ChatOracle,
            llm,
            model,
            criterion=criterion,
            parallel=at_once,
            timeout=timeout,
            retries=tries,
            both_orders=both_orders,
            prices=_two_prices(prices, max_cost),
            max_cost=max_cost,
        )
        if no_session or not session_path(request).exists():
            request = replace(request, looks="auto")
        program = LanguageModel(
            begin, at_once, request.show, model, confirm, is_kept=not no_cache, is_agreed=yes
        )
    request = replace(request, in_blocks=request.in_blocks or request.dask is not None)
    inputs = tuple(Path(path) for path in (request.pairs, request.truth) if path is not None)
    files = ResultFiles(out, proof, report, prefix, raw, force, inputs)
    progress = Screen(stderr=True)
    try:
        with _place_for_answers(request, no_session) as placed, _workers(request.dask):
            _check_who_answers(placed, program, join)
            _cluster(placed, program, files, json, progress, is_kept=not no_session)
    except KeyboardInterrupt:
        kept = (
            "Nothing is kept." if no_session else "All answers are kept; the same command goes on."
        )
        progress.print(f"Stopped. {kept}")
        raise typer.Exit(INTERRUPTED) from None


def _check_chat(
    request: Request, program: Program | None, model: str | None, criterion: str | None
) -> None:
    """What a model needs, and what it cannot give."""
    if program is not None:
        raise InvalidInputError("--llm and --oracle-cmd exclude each other")
    if not model or not criterion:
        raise InvalidInputError(
            "--llm needs the name of a model there and what it is asked: --model NAME --criterion "
            "'same request'"
        )
    if request.who is not None:
        raise InvalidInputError("--who is for people and programs; a model goes by its own name")
    if request.dask is not None or request.in_blocks:
        raise InvalidInputError("--llm does not go with --in-blocks and --dask; take a sample")


def _two_prices(prices: str | None, max_cost: float | None) -> tuple[float, float] | None:
    """The prices of a million tokens of prompts and of replies, if they are given."""
    from samecluster.oracles.chat.costs import Prices

    if prices is None and max_cost is not None:
        raise InvalidInputError(
            "--max-cost needs prices: what a million tokens of prompts and of replies cost, such "
            "as --prices 0.15,0.60"
        )
    try:
        found = None if prices is None else Prices.checked(prices.split(","))
    except InvalidInputError:
        raise InvalidInputError(
            "--prices must be two numbers, for a million tokens of prompts and of replies, "
            f"such as 0.15,0.60, got {prices}"
        ) from None
    return None if found is None else (found.prompt, found.reply)


def _check_who_answers(request: Request, program: Program | None, join: bool) -> None:
    """Before anything is written, also that the margin is another one now."""
    from samecluster.sessions.parameters import check_people_only
    from samecluster.workspace.answerers import (
        check_program,
        check_simulation,
        model_name,
        program_name,
        simulation_name,
    )
    from samecluster.workspace.open import is_in_blocks

    if isinstance(program, LanguageModel):
        check_people_only(request.declared(), [model_name(program.name)])
        check_program(request, model_name(program.name), join)
    elif program is not None:
        check_program(request, program_name(request.who), join)
    else:
        truth = request.truth or ""
        is_file = truth.endswith(".npy") and is_in_blocks(request)
        check_simulation(request, simulation_name(truth, is_file))


@contextmanager
def _place_for_answers(request: Request, no_session: bool) -> Iterator[Request]:
    if not no_session:
        yield request
        return
    with tempfile.TemporaryDirectory() as folder:
        yield replace(request, session=Path(folder, "answers.samecluster"))


def _workers(address: str | None) -> AbstractContextManager[object]:
    """Those of a Dask scheduler, if there is an address of one."""
    if address is None:
        return nullcontext()
    from samecluster.points.dask_cluster import connected

    return connected(address)


def _cluster(
    request: Request,
    program: Program | None,
    files: ResultFiles,
    json: bool,
    progress: Screen,
    is_kept: bool,
) -> None:
    from samecluster.cli.terminal.answerers import TrueGroups, answerer_for
    from samecluster.cli.terminal.closing import check_files, facts, write_files
    from samecluster.cli.terminal.drive import drive, label_blocks
    from samecluster.recovery.result.sentences import count
    from samecluster.workspace.open import is_in_blocks, open_session
    from samecluster.workspace.status import row_facts

    audit = None
    if is_in_blocks(request):
        # An audit of the session would be about its items alone.
        request, audit = replace(request, audit=None), _audit_of_all_rows(request)
    with progress.status("reading the data"):
        opened = open_session(request, by_model=isinstance(program, LanguageModel))
    with _gone_if_refused(opened):
        check_files(opened, files)
        truth = None if request.truth is None else TrueGroups(opened, request.truth)
        opened = _greeted(progress, opened, request, is_kept)
        try:
            with answerer_for(opened, request, program, truth, progress) as answerer:
                if opened.blocks is None:
                    drive(progress, opened.session, answerer)
                    about_rows = {}
                else:
                    answerer.follow(opened)  # rows may have joined for answers that were imported
                    opened, found, report = label_blocks(progress, opened, answerer, files, audit)
                    about_rows = row_facts(opened, found, report, files.out)
        except CostLimitError as error:
            # Like a budget that is spent: what is known so far is the result.
            progress.print(f"Stopped: {error}.", soft_wrap=True)
            about_rows = {}
        except OracleError as error:
            n = opened.session.state.n_questions
            kept = f"{count(n, 'answer')} kept in {opened.path}; the same command goes on"
            kept = kept if is_kept else ""
            raise OracleError(f"{error}\n{kept}".strip()) from error
        told = {**facts(opened, None if truth is None else truth.groups), **about_rows}
        told["session"] = str(opened.path) if is_kept else None
        written = write_files(opened, files)
        if json:
            print_json(told)
        else:
            _print_end(opened, files, written, told, is_kept)


def _audit_of_all_rows(request: Request) -> tuple[float, float] | None:
    """The error and the confidence of an audit of all rows, if one is asked for."""
    from samecluster.validation import checked_audit

    declared = request.declared()
    audit = checked_audit(declared.get("audit"))
    if audit is not None and declared.get("max_questions") is not None:
        raise InvalidInputError("--max-questions does not go with --audit of data in blocks")
    return audit


@contextmanager
def _gone_if_refused(opened: OpenSession) -> Iterator[None]:
    """A session that a wrong option ends before the first answer leaves no file.

    Its features would stay, and the command could not be tried again with others.
    """
    refused = False
    try:
        with opened:
            yield
    except InvalidInputError:
        refused = opened.is_new and not opened.session.state.n_questions
        raise
    finally:
        if refused:
            opened.path.unlink()


def _greeted(progress: Screen, opened: OpenSession, request: Request, is_kept: bool) -> OpenSession:
    """Say what there is; the session with answers that were kept elsewhere."""
    from samecluster.cli.commands.inspect import print_inspection
    from samecluster.recovery.result.sentences import count

    if opened.is_new:
        print_inspection(progress, opened.data.inspection(), opened.data.notes)
        if is_kept:
            progress.print(f"Answers go to {opened.path}.")
    else:
        n = opened.session.state.n_questions
        progress.print(f"Going on with {opened.path} after {count(n, 'answer')}.")
    if opened.blocks is not None:
        from samecluster.workspace.in_blocks.old_answers import import_answer_log

        opened, line = import_answer_log(opened, request.who)
        if line is not None:
            progress.print(line, soft_wrap=True)
    return opened


def _print_end(
    opened: OpenSession,
    files: ResultFiles,
    written: list[str],
    told: dict[str, object],
    is_kept: bool,
) -> None:
    from samecluster.cli.terminal.closing import next_steps, summary
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.item_names import ItemNames

    taken = any(path is not None and is_stdout(path) for path in (files.out, files.report))
    console = Screen(stderr=taken)
    following = next_steps(opened, files.out is not None, is_kept)
    readable = ItemNames(opened.data).in_text
    for line in (*map(readable, summary(told)), *written, *following):
        console.print(line, soft_wrap=True)
