"""The treebank on the page: search, change, delete, undo; annotators; guidelines, earlier decisions, export."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from latentgram.errors import DataError
from latentgram.parser.suspects import find_suspects

TREE = "(TOP (S (NP (NNP Zyx)) (VP (VBZ sleeps)) (. .)))"
OTHER = "(TOP (S (NP (NN Zyx)) (VP (VBZ sleeps)) (. .)))"


def bank_of(served: Any) -> Path:
    path: Path = served.session.annotations.path
    return path


def test_trees_are_found_changed_deleted_and_put_back(serve: Any) -> None:
    served = serve()
    before = bank_of(served).read_text()
    assert served.post("/api/accept", id="accepted-1", tree=TREE, annotator="Ann").status_code == 200
    answer = served.get("/api/trees", query="zyx sleeps")
    assert (answer["total"], answer["found"]) == (301, 1)
    item = answer["items"][0]
    assert (item["annotator"], item["hits"], item["number"]) == ("Ann", [[0, 2]], 300)
    assert served.get("/api/trees", query="NP < NNP", order="recent")["items"][0]["number"] == 300
    bad = served.client.get("/api/trees", params={"query": "NP <"})
    assert bad.status_code == 422
    assert "a node is missing" in bad.json()["detail"]
    change = {"id": "changed-1", "number": 300, "old": item["text"], "tree": OTHER, "annotator": "Bob"}
    for _ in range(2):
        assert served.client.put("/api/trees", json=change).status_code == 200
    assert bank_of(served).read_text() == before + OTHER + "\n"
    late = served.client.put("/api/trees", json={**change, "id": "changed-2"})
    assert late.status_code == 409
    assert late.json()["detail"] == "Bob has changed this tree in the meantime"
    assert late.json()["tree"].strip() == OTHER
    lost = served.client.put("/api/trees", json={**change, "id": "changed-3", "tree": "(S (NN other))"})
    assert lost.status_code == 422
    assert "no longer in the treebank" in lost.json()["detail"]
    first = served.get("/api/trees")["items"][0]
    gone = served.post("/api/trees/delete", id="deleted-1", number=0, old=first["text"])
    assert gone.status_code == 200
    assert bank_of(served).read_text() == before.split("\n", 1)[1] + OTHER + "\n"
    rows = served.get("/api/changes")
    assert [row["action"] for row in rows] == ["delete", "replace"]
    served.post("/api/undo", id="undone-01", change="deleted-1")
    served.post("/api/undo", id="undone-02", change="changed-1")
    assert bank_of(served).read_text() == before + TREE + "\n"
    assert served.get("/api/status")["refit"]["pending"] == 1 + 4
    # What was undone is not undone again, which would put the tree there twice; undoing it the other way goes.
    again = served.post("/api/undo", id="undone-05", change="deleted-1")
    assert again.json()["detail"] == "this was undone before: the tree is back in the treebank"
    served.post("/api/undo", id="undone-06", change="undone-01")
    assert bank_of(served).read_text() == before.split("\n", 1)[1] + TREE + "\n"
    served.post("/api/undo", id="undone-07", change="deleted-1")
    assert bank_of(served).read_text() == before + TREE + "\n"
    # And the acceptance itself, by nobody else; the sentence waits again.
    foreign = served.post("/api/undo", id="undone-04", annotator="Bob")
    assert foreign.json()["detail"] == "there is no acceptance of yours to undo"
    assert served.post("/api/undo", id="undone-03", annotator="Ann").status_code == 200
    assert bank_of(served).read_text() == before
    assert served.get("/api/status")["accepted"] == 0
    assert lg.Treebank.read(bank_of(served))


def test_a_sentence_whose_tree_is_taken_back_waits_again(serve: Any) -> None:
    served = serve()
    item = served.post("/api/queue/take", client="tab-1").json()["item"]
    tree = served.post("/api/parse", words=item["words"]).json()["trees"][0]["plain"]
    served.post("/api/accept", id="accepted-1", tree=tree, queue=item["number"])
    assert served.get("/api/queue")["waiting"] == 1
    served.post("/api/undo", id="undone-01")
    assert served.get("/api/queue")["waiting"] == 2


def test_the_most_doubtful_trees_come_first(serve: Any, tmp_path: Path) -> None:
    bank = tmp_path / "own.mrg"
    lg.demo_treebank(9, seed=2).write(bank)
    served = serve(treebank=bank)
    for _ in range(200):
        answer = served.get("/api/trees", order="doubtful")
        if answer["scored"] == 9:
            break
        time.sleep(0.05)
    suspects = find_suspects(served.session.parser, lg.Treebank.read(bank), 9)
    assert [item["number"] + 1 for item in answer["items"]] == [each.number for each in suspects]


def test_two_annotators_take_different_sentences_and_one_twice(serve: Any) -> None:
    served = serve(double=1.0)

    def take(name: str, **more: Any) -> Any:
        return served.post("/api/queue/take", client=f"tab-{name}", annotator=name, **more).json()["item"]

    ann, bob = take("Ann"), take("Bob")
    assert ann["number"] != bob["number"]
    assert take("Cat") is None
    asked = {"client": "tab-Cat", "annotator": "Cat", "number": ann["number"]}
    assert served.post("/api/queue/take", **asked).json()["held"]["holder"] == "Ann"
    holds = {each["name"]: each["holds"] for each in served.get("/api/people")["people"]}
    assert holds == {"Ann": [ann["words"]], "Bob": [bob["words"]]}
    assert take("Ann")["number"] == ann["number"]
    tree = served.post("/api/parse", words=ann["words"]).json()["trees"][0]["plain"]
    done = {"tree": tree, "queue": ann["number"]}
    served.post("/api/accept", id="by-ann-001", annotator="Ann", **done)
    # She has done it; who comes second annotates it beside, and may have it at once.
    assert take("Cat")["number"] == ann["number"]
    assert [item["number"] for item in served.get("/api/queue", annotator="Ann")["items"]] == [bob["number"]]
    again = served.get("/api/queue", annotator="Bob")["items"]
    assert {item["number"]: item["second"] for item in again} == {ann["number"]: True, bob["number"]: False}
    other = tree.replace("(NN teacher)", "(NNP teacher)").replace("(NP ", "(NX ", 1)
    served.post("/api/accept", id="by-bob-001", annotator="Bob", over="beside", tree=other, queue=ann["number"])
    assert served.get("/api/queue", annotator="Cat")["waiting"] == 1
    people = served.get("/api/people")
    assert [each["name"] for each in people["people"]] == ["Ann", "Bob"]
    (pair,) = people["pairs"]
    agreed = pair["agreement"]
    assert (pair["names"], agreed["sentences"], agreed["same"]) == (["Ann", "Bob"], 1, 0)
    assert 0 < agreed["f1"] < 100
    assert agreed["kappa"] < 1
    (dispute,) = people["disputes"]
    size = len(lg.Treebank.read(bank_of(served)))
    settled = served.post("/api/settle", id="settled-1", sentence=dispute["sentence"], chosen="by-bob-001")
    assert settled.status_code == 200
    bank = lg.Treebank.read(bank_of(served))
    assert len(bank) == size
    assert str(bank[-1]) == other.strip()
    assert served.get("/api/people")["disputes"] == []


def test_skip_flag_comment_and_assign_are_kept(serve: Any) -> None:
    served = serve()
    item = served.post("/api/queue/take", client="tab-1").json()["item"]
    note = served.post("/api/note", words=item["words"], skipped=True, flag=True, comment="what is this?").json()
    assert (note["skipped"], note["flag"], note["comment"]) == (True, True, "what is this?")
    following = served.post("/api/queue/take", client="tab-1").json()["item"]
    assert following["number"] != item["number"]
    served.post("/api/note", words=following["words"], assigned="Ann")
    assert served.post("/api/queue/take", client="tab-2", annotator="Bob").json()["item"] is None
    served.close()
    again = serve()
    assert again.get("/api/queue")["items"][-1]["note"]["comment"] == "what is this?"
    tree = again.post("/api/parse", words=item["words"]).json()["trees"][0]["plain"]
    again.post("/api/accept", id="accepted-1", tree=tree)
    flagged = again.get("/api/trees", order="flagged")
    assert [each["note"]["comment"] for each in flagged["items"]] == ["what is this?"]


def test_sentences_are_given_out_in_turn(serve: Any) -> None:
    served = serve()
    waiting = served.get("/api/queue")["waiting"]
    given = served.post("/api/queue/assign", people=["Ann", "Bob"], count=waiting + 5).json()
    assert sum(given.values()) == waiting
    assert given["Ann"] - given["Bob"] in (0, 1)
    assert served.post("/api/queue/assign", people=["Cat"], count=5).json() == {"Cat": 0}
    taken = served.post("/api/queue/take", client="tab-1", annotator="Ann").json()["item"]
    assert taken["note"]["assigned"] == "Ann"
    assert served.post("/api/queue/take", client="tab-2", annotator="Cat").json()["item"] is None
    assert served.post("/api/queue/assign", people=[""], count=5).status_code == 422


def test_guidelines_and_earlier_decisions(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# NP\nA noun phrase.\n")
    served = serve(guidelines=tmp_path / "guide.md")
    assert served.get("/api/status")["guidelines"] == {"NP": "A noun phrase."}
    for number in range(3):
        tree = "(S (CONJP (RB as) (RB well) (IN as)) (NN x))" if number else "(S (RB as) (RB well) (IN as) (NN x))"
        served.post("/api/accept", id=f"as-well-as-{number}", tree=tree.replace("x", f"x{number}"))
    past = served.get("/api/past", words=["as", "well", "as"])
    assert past == {"labels": {"CONJP": 2}, "none": 1}
    alike = served.get("/api/past", words=["much", "more", "than"], tags=["RB", "RB", "IN"])
    assert (alike["labels"], alike["none"]) == ({}, 0)
    assert alike["tag_labels"]["CONJP"] == 2
    assert alike["tag_none"] >= 1
    rows = "1\t{}\t_\tNOUN\tNN\t_\t2\t{}\t_\t_\n2\tran\t_\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    arcs = serve("arcs")
    for number, relation in enumerate(("nsubj", "nsubj", "obj")):
        arcs.post("/api/accept", id=f"zebra-ran-{number}", tree=rows.format("Zebra", relation), over="add")
    past = arcs.get("/api/past", words=["zebra"], head="ran")
    assert past == {
        "labels": {"nsubj": 2, "obj": 1}, "none": 0, "tag_labels": {"nsubj of VB": 2, "obj of VB": 1},
    }  # fmt: skip
    assert arcs.get("/api/past", words=["ran"], head="")["labels"] == {"root": 3}
    assert arcs.get("/api/past", words=["ran"], head="zebra")["none"] == 3
    (tmp_path / "empty.md").write_text("nothing\n")
    with pytest.raises(DataError, match="no headings"):
        serve(guidelines=tmp_path / "empty.md")


def test_trees_are_exported_in_each_format(serve: Any) -> None:
    served = serve()
    latex = served.post("/api/export", trees=[TREE], format="latex").json()
    assert latex["ending"] == "tex"
    assert "[{NNP} [{Zyx}]]" in latex["content"]
    assert served.post("/api/export", trees=[TREE], format="svg").json()["content"].startswith("<svg")
    many = served.post("/api/export", query="NP < PP", format="json").json()
    assert len(json.loads(many["content"])) == many["trees"] == served.get("/api/trees", query="NP < PP")["found"]
    first = served.get("/api/trees")["items"][0]
    served.post("/api/note", words=first["words"], flag=True)
    flagged = served.post("/api/export", query="", order="flagged").json()
    assert flagged["content"].split("\n")[0] == first["text"]
    assert flagged["trees"] == flagged["found"] == served.get("/api/trees", order="flagged")["found"]
    text = served.post("/api/export", query="", format="text").json()
    assert text["content"] == bank_of(served).read_text()
    arcs = serve("arcs")
    assert arcs.post("/api/export", query="", format="text").json()["content"] == bank_of(arcs).read_text()
    assert (
        "\\begin{dependency}" in arcs.post("/api/export", query="V -[obj]-> N", format="latex").json()["content"]
    )
