"""Whatever is written in data, names and settings is shown as it is, and never runs."""

import csv
import json
import os

import pytest
from PIL import Image

from samecluster.web.links import Participant, Participants, links_file
from tests.web.browser.hostile import PAYLOADS
from tests.web.browser.labelling import somebody
from tests.web.served import Data, in_process, in_thread, write_data

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
VIEWS = ("", "progress", "clusters", "cluster/0", "trouble", "people")
# The server takes only printable names.
NAMES = [payload for payload in PAYLOADS if payload.isprintable()]
# Elements that the page never makes; markup in a text would.
FOREIGN = (
    "script:not([src]), iframe, object, embed, style, base, video, audio, marquee, math, "
    "template, main form[action], [onerror], [onload], [onfocus], [onmouseover], [style*=display]"
)


def harmless(person) -> None:
    assert not person.ran()
    assert person.page.locator(FOREIGN).count() == 0
    pictures = person.page.locator("img").evaluate_all("all => all.map(one => one.src)")
    assert all("/api/v1/images/" in address for address in pictures)
    links = person.page.locator("a").evaluate_all("all => all.map(one => one.href)")
    assert all(address.startswith("http://127.0.0.1:") for address in links)


def walk(person) -> None:
    """All views in turn, each with the time for what it fetches to be there."""
    for view in VIEWS:
        person.go(view)
        person.page.locator("main h1").first.wait_for()
        person.page.wait_for_timeout(300)
        harmless(person)


def shown_in(text: str, payload: str) -> bool:
    """Lines may be broken anywhere, and a few are shortened where they head a column."""
    return "".join(payload.split()) in "".join(text.split())


def test_the_watch_would_notice(tmp_path, chromium) -> None:
    """Otherwise the tests below would say nothing."""
    data = write_data(tmp_path)
    with in_thread(data) as served, somebody(chromium, served.link, data) as ann:
        ann.next()
        harmless(ann)
        ann.page.evaluate("() => { document.body.innerHTML += '<img src=x onerror=alert(1)>'; }")
        ann.page.wait_for_function("() => window.ran.length > 0")
        with pytest.raises(AssertionError):
            harmless(ann)


def test_cells_columns_items_and_the_name_of_the_file(tmp_path, chromium) -> None:
    path = tmp_path / "<img src=x onerror=alert(0)>.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", "length", "width", *PAYLOADS])
        for row, payload in enumerate(PAYLOADS):
            moved = PAYLOADS[row:] + PAYLOADS[:row]
            writer.writerow([payload, row % 2, 0.1 * row, *moved])
    data = Data(path, {payload: row % 2 for row, payload in enumerate(PAYLOADS)})
    with (
        in_thread(data, show=("length", *PAYLOADS)) as served,
        somebody(chromium, served.link, data) as ann,
    ):
        for _ in range(6):
            ann.answer()
            harmless(ann)
        ann.next()
        seen = ann.page.locator("main").inner_text()
        assert [payload for payload in PAYLOADS if not shown_in(seen, payload)] == []
        walk(ann)


def test_names_of_pictures(tmp_path, chromium) -> None:
    named = [payload.replace("/", "|") for payload in PAYLOADS]
    path = tmp_path / "pictures.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["picture", "x", "y"])
        for row, name in enumerate(named):
            Image.new("L", (8, 8), 4 * row).save(tmp_path / f"{name}.png")
            writer.writerow([f"{name}.png", row % 2, 0.1 * row])
    data = Data(path, {f"{name}.png": row % 2 for row, name in enumerate(named)})
    with (
        in_process(data, "--id", "picture", "--image-column", "picture") as (served, _),
        somebody(chromium, served.link, data) as ann,
    ):
        for _ in range(6):
            ann.answer()
            harmless(ann)
        ann.go("cluster/0")
        ann.page.locator(".member").first.wait_for()
        harmless(ann)


def test_names_of_people_and_clusters(tmp_path, chromium) -> None:
    data = write_data(tmp_path, n=60)
    with in_thread(data, who=NAMES[0]) as served:
        tokens = {}
        for payload in NAMES:
            tokens[payload] = Participants(links_file(data.session)).invite(
                Participant(payload, "annotator")
            )
        with somebody(chromium, served.link, data) as owner:
            for _ in range(8):
                owner.answer()
            owner.next()
            owner.wait_until_saved()
            name_clusters(served, owner)
            owner.go("people")
            owner.page.locator(".list").wait_for()
            seen = owner.page.locator("main").inner_text()
            assert [payload for payload in NAMES if not shown_in(seen, payload)] == []
            harmless(owner)
        for payload in NAMES if LONG else NAMES[::17]:
            link = f"{served.base}/join?token={tokens[payload]}"
            with somebody(chromium, link, data) as other:
                other.next()
                harmless(other)


def name_clusters(served, owner) -> None:
    """Every payload is the name of a cluster once, and seen wherever names are."""
    with served.client() as client:
        clusters = [one["number"] for one in client.get("/api/v1/clusters").json()["clusters"]]
        for start in range(0, len(NAMES), len(clusters)):
            batch = dict(zip(clusters, NAMES[start:], strict=False))
            for number, name in batch.items():
                path = f"/api/v1/clusters/{number}/name"
                assert client.post(path, json={"name": name}).status_code == 200
            # The list of clusters and the plot in turn; each is drawn anew when it is opened.
            owner.go("progress" if start % 2 else "clusters")
            owner.page.wait_for_function(
                "names => names.every(name => document.body.textContent.includes(name))",
                arg=list(batch.values()),
            )
            harmless(owner)


def test_key_maps(tmp_path, chromium) -> None:
    data = write_data(tmp_path)
    actions = ["same", "different", "unsure", "undo", "flag", "help"]
    short = ["<b>", "<script>", '"onload=', "'><svg>", "${alert(1)}", "__proto__"]
    maps: list[object] = [
        dict(zip(actions, PAYLOADS[start:], strict=False))
        for start in range(0, len(PAYLOADS), len(actions))
    ]
    maps += [[], 7, {"__proto__": {"key": "<script>"}}, dict(zip(actions, short, strict=True))]
    with in_thread(data) as served, somebody(chromium, served.link, data) as ann:
        for kept in ["<script>", "null", "{", *(json.dumps({"map": one}) for one in maps)]:
            ann.page.evaluate("kept => localStorage.setItem('samecluster.keys', kept)", kept)
            ann.page.reload()
            ann.before = None
            ann.next()
            harmless(ann)
        ann.page.get_by_role("button", name="Help").click()
        seen = ann.page.locator("dialog[open]").inner_text()
        assert all(payload in seen for payload in short), "these are short enough to be keys"
        harmless(ann)
