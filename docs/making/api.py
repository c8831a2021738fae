"""docs/api.md, made from the signatures and docstrings: ``python -m docs.making.api``."""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_HEAD = """# API reference

This page is made from the docstrings by `python -m docs.making.api > docs/api.md`. What is listed
first comes from `samecluster` itself, the rest from the module that its heading names. Examples run
as tests.
"""

SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Three doors": (
        "samecluster",
        ("recover", "recover_async", "start", "SameCluster", "RecoveryRun"),
    ),
    "What comes out": (
        "samecluster",
        (
            "Recovery",
            "Assignment",
            "load",
            "Claim",
            "How",
            "Round",
            "MarginSearch",
            "clustering_error",
        ),
    ),
    "Questions and answers": ("samecluster", ("Question", "Verdict", "Answer")),
    "Looks": (
        "samecluster",
        ("LookSizes", "LookSeconds", "Choice", "Picks", "Sheet", "Marks", "Board", "Unions"),
    ),
    "Methods": (
        "samecluster",
        ("Certify", "Predict", "Recur", "ScqKMeans", "AskEverything", "register_method"),
    ),
    "Margins, and one cluster": (
        "samecluster",
        ("true_margin", "ClusterMargin", "learn_cluster", "LearnedCluster", "Polynomial", "Lift"),
    ),
    "Data larger than memory": ("samecluster", ("recover_large", "start_large", "LargeRecovery")),
    "Sessions": ("samecluster", ("Session", "ask", "SqliteStore")),
    "Who answers": ("samecluster.oracles", ()),
    "Data with a known margin": ("samecluster.instances", ()),
    "Tables": ("samecluster.tables", ()),
    "Pictures": ("samecluster.plots", ("plot_clusters", "plot_progress", "picture_svg")),
    "Reports": ("samecluster.reports", ("write_report",)),
    "Suites for what you bring": ("samecluster.testing", ()),
    "Errors": ("samecluster.errors", ()),
    "By their modules": (
        "samecluster",
        (
            "recovery.audit.Audit",
            "recovery.auto.given_labels.GivenLabels",
            "questions.conflicts.answer_book.AnswerBook",
            "questions.conflicts.contradictions.contradictions",
            "questions.conflicts.contradictions.every_contradiction",
            "questions.conflicts.correlation_clustering.resolve",
            "questions.conflicts.follow_up.same_question_elsewhere",
            "questions.conflicts.follow_up.halving",
            "questions.conflicts.weights.suspects",
            "tables.features.inspect.inspect_table",
            "tables.writing.write_results",
            "tables.writing.results_as_bytes",
            "proof.files.save_proof",
            "proof.files.load_proof",
            "proof.files.read_lines",
            "proof.checker.check",
            "sessions.storage.sqlite.rescue",
            "sessions.running.drivers.drive_async",
            "geometry.separator.low_stretch_separator",
        ),
    ),
}
"""Headings with a module and the names to list; all public ones if none are named."""


def api_as_markdown() -> str:
    """Every public name with its signature and what its docstring says."""
    parts = [_HEAD]
    for title, (home, names) in SECTIONS.items():
        module = importlib.import_module(home)
        parts.append(f"## {title}\n")
        if not names:
            parts.append(f"In `{home}`.\n")
        parts += [_described(name, _found(home, name)) for name in names or _public(module)]
    return "\n".join(parts)


def _found(home: str, name: str) -> Any:
    module, _, last = f"{home}.{name}".rpartition(".")
    return getattr(importlib.import_module(module), last)


def _public(module: ModuleType) -> list[str]:
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
    }
    return sorted(own)


def _described(name: str, value: Any) -> str:
    parts = [f"### {name}\n"]
    if callable(value) and not _is_plain(value):
        parts.append(f"```py\n{_signature(name.rpartition('.')[2], value)}\n```\n")
    parts.append(_told(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        parts += _attributes(value) or _members(value)
        parts += _methods(value)
    return "\n".join(part for part in parts if part)


def _is_plain(value: Any) -> bool:
    """Enumerations and errors are not made by hand; their signatures say nothing."""
    return inspect.isclass(value) and issubclass(value, enum.Enum | BaseException)


def _signature(name: str, value: Any) -> str:
    signature = inspect.signature(value)
    parameters = list(_parameters(signature))
    returned = signature.return_annotation
    typed = not inspect.isclass(value) and returned is not inspect.Signature.empty
    end = f" -> {_plain(returned)}" if typed else ""
    line = f"{name}({', '.join(parameters)}){end}"
    if len(line) <= 88:
        return line
    inner = "".join(f"    {one},\n" for one in parameters)
    return f"{name}(\n{inner}){end}"


_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for one in signature.parameters.values():
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        text = _STARS.get(one.kind, "") + one.name
        if one.annotation is not inspect.Parameter.empty:
            text += f": {_plain(one.annotation)}"
        if one.default is not inspect.Parameter.empty:
            default = "..." if "<" in repr(one.default) else repr(one.default).replace("'", '"')
            text += f" = {default}" if ": " in text else f"={default}"
        yield text


def _plain(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace("'", '"')


def _told(docstring: str) -> str:
    """A docstring as Markdown: tables for lists of parameters, blocks for examples."""
    text, *sections = re.split(r"^([A-Z]\w+)\n-+\n", docstring, flags=re.MULTILINE)
    parts = [_prose(text)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title == "Examples":
            parts.append(_prose(body))
        else:
            listed, *more = re.split(r"\n\n(?=[^:\n]*\n|[^:\n]*$)", body.strip())
            rows = [f"| `{name}` | {_cell(told)} |" for name, told in _entries(listed)]
            parts.append("\n".join([f"| {title.lower()} | |", "|---|---|", *rows]) + "\n")
            parts += [_prose(paragraph) for paragraph in more]
    return "\n".join(part for part in parts if part.strip())


def _entries(body: str) -> Iterator[tuple[str, str]]:
    """``name : what it is``, with further lines indented."""
    for entry in re.split(r"\n(?=\S)", body.strip()):
        name, _, told = entry.partition(" : ")
        yield name.strip("`").replace(", ", "`, `"), " ".join(told.split())


def _prose(text: str) -> str:
    """Paragraphs as they are; what begins with >>> is an example."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{textwrap.dedent(paragraph)}\n```\n")
        else:
            parts.append(_marked(paragraph) + "\n")
    return "\n".join(parts)


def _marked(text: str) -> str:
    return text.replace("``", "`")


def _cell(text: str) -> str:
    return _marked(text).replace("|", "\\|")


def _attributes(cls: type) -> list[str]:
    """What the lines below attributes and members say of them."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    rows = []
    for node, below in itertools.pairwise(body):
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            target = node.target if isinstance(node, ast.AnnAssign) else target
            if isinstance(target, ast.Name) and isinstance(below.value.value, str):
                rows.append(f"| `{target.id}` | {_cell(' '.join(below.value.value.split()))} |")
    return ["\n".join(["| | |", "|---|---|", *rows]) + "\n"] if rows else []


def _members(cls: type) -> list[str]:
    if not issubclass(cls, enum.Enum):
        return []
    rows = [f"| `{member.name}` | `{member.value!r}` |" for member in cls]
    return ["\n".join(["| | |", "|---|---|", *rows]) + "\n"]


def _methods(cls: type) -> list[str]:
    """Public methods and properties, also those of bases that have no entry of their own."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hidden = base.__module__.startswith("samecluster.") and base.__name__ not in _listed()
        if base is cls or hidden:
            found |= vars(base)
    lines = [_method(name, value) for name, value in found.items() if not name.startswith("_")]
    return ["\n".join(line for line in lines if line) + "\n"] if any(lines) else []


@functools.cache
def _listed() -> frozenset[str]:
    modules = {home: importlib.import_module(home) for home, _ in SECTIONS.values()}
    return frozenset(
        name for home, names in SECTIONS.values() for name in names or _public(modules[home])
    )


def _method(name: str, value: Any) -> str:
    called = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
    if not inspect.isfunction(called) or not called.__doc__:
        return ""
    is_called = inspect.isfunction(getattr(value, "__func__", value))
    shown = _bound(name, value) if is_called else name
    first, _, rest = _told(inspect.cleandoc(called.__doc__)).partition("\n\n")
    line = f"- `{shown}`: {' '.join(first.split())}"
    return f"{line}\n\n{textwrap.indent(rest.strip(), '    ')}\n" if rest.strip() else line


def _bound(name: str, method: Any) -> str:
    """How a method is called, without types."""
    parameters = list(inspect.signature(getattr(method, "__func__", method)).parameters.values())
    first = 0 if isinstance(method, staticmethod) else 1
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in parameters[first:]]
    return f"{name}({', '.join(_parameters(inspect.Signature(bare)))})"


if __name__ == "__main__":
    sys.stdout.write(api_as_markdown())
