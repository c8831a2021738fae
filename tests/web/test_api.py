"""What the API does, over real HTTP: questions, answers, undo, leases, groups, names, the end."""

import json
import threading
import time

import httpx
import pytest

from tests.web.served import Data, Served, begin, in_thread, write_data, write_some_digits


@pytest.fixture
def data(tmp_path) -> Data:
    return write_data(tmp_path)


def label_all(served: Served, person, most: int = 500) -> list[str]:
    """Answer by the truth until nothing is left; the ids of the questions."""
    asked: list[str] = []
    while len(asked) < most and (questions := person.next()):
        person.answer(questions[0], served.data.verdict(questions[0]))
        asked.append(questions[0]["id"])
    return asked


def assert_asked_labels_are_right(served: Served, person) -> None:
    """Members that were asked about share their true group; others may be guessed wrongly."""
    for cluster in person.get("clusters")["clusters"]:
        members = person.get(f"clusters/{cluster['number']}", limit=200, how="asked")["members"]
        assert len({served.data.truth[one["item"]["key"]] for one in members}) == 1


def test_a_whole_session_ends_with_the_right_labels_and_choices(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        assert owner.get("session")["role"] == "owner"
        asked = label_all(served, owner)
        assert len(asked) == len(set(asked))
        progress = owner.progress()
        assert progress["ended"]
        assert progress["n_questions"] == len(asked)
        assert sum(progress["by_how"].values()) == progress["n_items"] == 120
        offered = owner.get("choices")["choices"]
        assert {"s", "1"} <= {choice["key"] for choice in offered}
        assert_asked_labels_are_right(served, owner)
        owner.post("choices", key="s")
        assert owner.get("progress")["ended"] == "finished"


def test_the_owner_says_when_to_stop(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        assert owner.progress()["stop_at"] is None
        assert owner.post("stop-at", share=0.02)["progress"]["stop_at"] == 0.02
        assert owner.progress()["stop_at"] == 0.02
        with served.client() as client:
            refused = client.post("/api/v1/stop-at", json={"share": 0.7})
        assert refused.status_code == 400
        assert "from 0 to 0.5" in refused.text
        assert owner.post("stop-at", share=None)["progress"]["stop_at"] is None


def test_what_is_shown_of_a_question(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        for _ in range(8):
            (question,) = owner.next()
            owner.answer(question, data.verdict(question))
        (question,) = owner.next()
        item = question["item"]
        assert item["title"] == item["key"]
        assert [cell["column"] for cell in item["cells"]] == ["length", "width", "note"]
        assert all(0 <= cell["percentile"] <= 100 for cell in item["cells"][:2])
        assert item["cells"][2]["percentile"] is None
        assert "note" in question["differs"]
        assert item["image"] is item["text"] is None
        here = {one["key"] for one in (question["item"], question["comparator"])}
        context = [one["key"] for one in question["context"]]
        assert not here & set(context)
        assert {data.truth[key] for key in context} <= {data.truth[question["comparator"]["key"]]}


def test_an_answer_sent_again_with_its_key_is_taken_once(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        (question,) = owner.next()
        first = owner.answer(question, "different", key="the-same-key")
        again = owner.answer(question, "different", key="the-same-key")
        assert first["sequence"] == again["sequence"]
        assert owner.progress()["n_questions"] == 1


def test_two_programs_may_number_their_answers_alike(data) -> None:
    begin(data, method="everything")
    with in_thread(data) as served:
        programs = [served.invite("one"), served.invite("two")]
        for number in range(3):
            for program in programs:
                (question,) = program.next()
                program.answer(question, data.verdict(question), key=f"answer-{number:04d}")
        assert programs[-1].progress()["n_questions"] == 6
        (question,) = programs[0].next()
        sent = {"question": question["id"], "verdict": "same", "key": "answer-0000"}
        refused = programs[0].client.post("/api/v1/answers", json=sent)
        assert refused.status_code == 409
        assert "key of its own" in refused.json()["error"]


def test_undo_takes_back_ones_own_last_answer_and_shows_it_again(data) -> None:
    begin(data, method="everything")
    with in_thread(data) as served:
        ann, bob = served.invite("Ann"), served.invite("Bob")
        (mine,), (theirs,) = ann.next(), bob.next()
        ann.answer(mine, "different")
        bob.answer(theirs, "different")
        undone = ann.post("undo")["question"]
        assert undone["id"] == mine["id"]
        assert undone["before"] == "different"
        assert [q["id"] for q in ann.next(3)] == [mine["id"]], "it comes first, and alone"
        assert ann.post("undo")["question"] is None
        assert mine["id"] not in [q["id"] for q in bob.next(3)], "nobody else gets it meanwhile"


def test_leases_return_after_their_time_and_live_on_by_heartbeats(data) -> None:
    begin(data, method="everything")
    with in_thread(data, lease_seconds=1.0) as served:
        ann, bob = served.invite("Ann"), served.invite("Bob")
        (question,) = ann.next()
        for _ in range(3):
            time.sleep(0.5)
            assert ann.post("heartbeat", questions=[question["id"]])["held"] == [question["id"]]
            assert question["id"] not in [q["id"] for q in bob.next(3)]
        time.sleep(1.1)
        assert question["id"] in [q["id"] for q in bob.next(3)], "silence gives it back"
        assert ann.post("heartbeat", questions=[question["id"]])["held"] == []
        late = ann.answer(question, data.verdict(question))
        assert late["sequence"], "a late answer is taken too"


def test_a_person_who_leaves_lets_others_have_the_question(data) -> None:
    begin(data, method="everything")
    with in_thread(data) as served:
        ann, bob = served.invite("Ann"), served.invite("Bob")
        (question,) = ann.next()
        ann.post("release")
        assert bob.next()[0]["id"] == question["id"]


def test_flags_count_as_unsure_and_keep_their_note(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        (question,) = owner.next()
        body = {"question": question["id"], "note": "too blurred", "key": "flag-0001"}
        assert owner.post("flags", **body) | {"progress": 0} == owner.post("flags", **body) | {
            "progress": 0
        }
        assert owner.next()[0]["id"] != question["id"]


def test_names_belong_to_groups_and_annotators_may_give_them(data) -> None:
    with in_thread(data) as served:
        owner, ann = served.owner(), served.invite("Ann")
        label_all(served, owner, most=12)
        owner.progress()
        number = owner.get("clusters")["clusters"][0]["number"]
        ann.post(f"clusters/{number}/name", name="<b>périwinkle</b>")
        assert owner.get("clusters")["clusters"][0]["name"] == "<b>périwinkle</b>"
        assert owner.client.post("/api/v1/clusters/99/name", json={"name": "x"}).status_code == 404
        assert owner.client.get("/api/v1/clusters/99").status_code == 404


def test_reasons_name_items_as_people_do(data) -> None:
    begin(data, margin=1.0, n_clusters=3)
    with in_thread(data) as served:
        owner = served.owner()
        label_all(served, owner)
        owner.progress()
        for how in ("asked", "proven"):
            largest = max(
                owner.get("clusters")["clusters"], key=lambda cluster: cluster["by_how"][how]
            )
            members = owner.get(f"clusters/{largest['number']}", how=how)["members"]
            found = members[-1]["item"]
            told = owner.get("why", item=found["key"])
            assert told["how"] == how
            assert found["title"] in told["text"]
            assert "×" in told["text"] or "answers" in told["text"] or "first" in told["text"]
        assert owner.client.get("/api/v1/why", params={"item": "nobody"}).status_code == 422


def test_disagreement_asks_before_it_changes_anything(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        label_all(served, owner)
        owner.progress()
        clusters = owner.get("clusters")["clusters"]
        one, two = clusters[0]["number"], clusters[1]["number"]
        merging = owner.post("merge", clusters=[one, two])
        assert merging["questions"] == 1
        (question,) = owner.next()
        assert merging["ids"] == [question["id"]]
        effect = owner.post("preview", question=question["id"], verdict="same")
        assert effect["text"]
        owner.answer(question, "different")
        member = owner.get(f"clusters/{one}")["members"][-1]["item"]["key"]
        assert owner.post("doubt", item=member)["questions"] >= 1


def test_contradictions_are_listed_with_remedies_that_owners_apply(data) -> None:
    begin(data, method="everything")
    with in_thread(data) as served:
        owner, ann = served.owner(), served.invite("Ann")
        (question,) = owner.next()
        owner.answer(question, "same")
        ann.answer(question, "different")
        (trouble,) = owner.get("trouble")["trouble"]
        assert trouble["kind"] == "tie"
        assert {said["who"] for said in trouble["answers"]} == {None, "Ann"}
        remedy = trouble["remedies"][0]["id"]
        assert owner.post("remedies/preview", id=remedy)["text"]
        refused = ann.client.post("/api/v1/remedies/apply", json={"id": remedy})
        assert refused.status_code == 403
        assert owner.post("remedies/apply", id=remedy)["progress"]["n_trouble"] == 0
        gone = owner.client.post("/api/v1/remedies/apply", json={"id": remedy})
        assert gone.status_code == 409


def test_an_answer_that_does_not_fit_is_named_and_asked_from_another_side(tmp_path) -> None:
    """One slip among answers about digits; the two items of it are in the trouble that follows."""
    data = write_some_digits(tmp_path)
    with in_thread(data) as served:
        owner, slip, found = served.owner(), None, {}
        assert owner.post("second-look") == {"question": None, "text": ""}
        for n in range(150):
            (question,) = owner.next()
            verdict = data.verdict(question)
            if slip is None and n >= 12 and verdict == "same":
                slip, verdict = question, "different"
            owner.answer(question, verdict)
            if n % 10 == 9 and (again := owner.post("second-look"))["question"]:
                found[again["question"]] = again["text"]
                assert owner.next()[0]["id"] == again["question"]
            if owner.progress()["n_trouble"]:
                break
        assert slip is not None
        pair = {slip["item"]["key"], slip["comparator"]["key"]}
        assert any(all(key in text for key in pair) for text in found.values())
        (trouble,) = owner.get("trouble")["trouble"]
        assert {item["key"] for item in trouble["answers"][0]["items"]} == pair


def test_the_plot_follows_labels_without_being_sent_again(data) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        label_all(served, owner)
        owner.progress()
        plot = owner.get("plot")
        assert plot["axes"] == ["length", "width"]
        sizes = {len(plot[name]) for name in ("x", "y", "items", "titles", "labels", "how")}
        assert sizes == {120}
        labels = owner.get("plot/labels")
        assert {name: plot[name] for name in labels} == labels


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_exports_hold_every_row(data, format_) -> None:
    with in_thread(data) as served:
        owner = served.owner()
        label_all(served, owner, most=5)
        owner.progress()
        found = owner.client.get("/api/v1/export", params={"format": format_})
        assert found.headers["content-disposition"] == f'attachment; filename="labels.{format_}"'
        if format_ != "parquet":
            lines = found.text.splitlines()
            assert len(lines) == 120 + (format_ == "csv")
            assert "probability" in lines[0]


def test_the_report_and_a_proof_can_be_taken_home(data) -> None:
    begin(data, margin=1.0, n_clusters=3)
    with in_thread(data) as served:
        owner = served.owner()
        early = owner.client.get("/api/v1/proof")
        assert early.status_code in (200, 409)
        label_all(served, owner)
        owner.progress()
        assert "<html" in owner.client.get("/api/v1/report").text
        packed = owner.client.get("/api/v1/proof")
        assert packed.content.startswith(b"PK")


def test_events_tell_of_progress_without_being_asked(data) -> None:
    with in_thread(data) as served:
        owner, watcher = served.owner(), served.invite("Ann")
        heard: list[tuple[str, dict]] = []
        enough = threading.Event()

        def listen() -> None:
            with watcher.client.stream("GET", "/api/v1/events") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                kind = ""
                for line in stream.iter_lines():
                    if line.startswith("event: "):
                        kind = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        heard.append((kind, json.loads(line.removeprefix("data: "))))
                        if kind == "ended":
                            enough.set()
                            return

        listening = threading.Thread(target=listen)
        listening.start()
        asked = label_all(served, owner)
        listening.join()
        assert enough.is_set()
        progress = [data["n_questions"] for kind, data in heard if kind == "progress"]
        assert progress == sorted(progress)
        assert progress[-1] == len(asked)
        assert any(kind == "labels" for kind, _ in heard)


def test_stall_watch_ends_streams_and_refuses_what_comes_later(data) -> None:
    with in_thread(data) as served:
        person = served.owner()
        assert served.serving is not None
        with person.client.stream("GET", "/api/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            served.serving.stop()
            assert all(not line.startswith("error") for line in lines), "it ends by itself"
        with pytest.raises(httpx.TransportError):
            person.client.get("/api/v1/progress")
