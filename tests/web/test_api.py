"""The API: parses with posteriors, corrections, acceptance that loses nothing, the queue, and who is let in."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import latentgram as lg
from latentgram.data.conllu import to_conllu
from latentgram.data.constraints import read_constraints
from latentgram.errors import DataError
from latentgram.kinds.kind import kind_of
from latentgram.web import workers
from latentgram.web.analysis import Asked, analyse
from latentgram.web.bank import doubts_of
from latentgram.web.session import Session

TEXT = "A teacher saw the dog in the garden of the museum ."


def spans_of(answer: dict[str, Any]) -> set[tuple[str, int, int]]:
    return {(node["label"], node["first"], node["end"]) for node in answer["trees"][0]["nodes"]}


def test_a_parse_has_tree_posteriors_and_alternatives(serve: Any) -> None:
    served = serve()
    answer = served.post("/api/parse", text=TEXT, count=4).json()
    expected = served.session.parser.nbest(TEXT, 4)
    assert answer["words"] == TEXT.split()
    best, *others = [tree["plain"].strip() for tree in answer["trees"]]
    assert best == str(served.session.parser.parse(TEXT).tree)
    assert len(others) == 3
    assert set(others) <= {str(parse.tree) for parse in expected}
    nodes = answer["trees"][0]["nodes"]
    assert nodes[0]["parent"] is None
    assert all(
        nodes[n["parent"]]["first"] <= n["first"] < n["end"] <= nodes[n["parent"]]["end"] for n in nodes[1:]
    )
    assert lg.parse_tree(answer["trees"][0]["plain"]).words == tuple(TEXT.split())
    for word in range(len(TEXT.split())):
        total = sum(part["probability"] for part in answer["tags"] if part["first"] == word)
        assert total == pytest.approx(1.0, abs=0.02)
    whole = [part for part in answer["marginals"] if part["first"] == 0 and part["end"] == 12]
    assert sum(part["probability"] for part in whole if part["label"] == "S") == pytest.approx(1.0, abs=0.02)
    in_tree = {(n["label"], n["first"], n["end"]): n["probability"] for n in nodes}
    for part in answer["marginals"]:
        if (key := (part["label"], part["first"], part["end"])) in in_tree:
            assert part["probability"] == pytest.approx(in_tree[key], abs=1e-6)


def test_corrections_are_obeyed_and_clashes_named(serve: Any) -> None:
    served = serve()
    free = served.post("/api/parse", text=TEXT).json()
    label = next(n for n in free["trees"][0]["nodes"] if n["label"] == "PP")
    forbidden = [[label["first"], label["end"], "PP"]]
    other = served.post("/api/parse", text=TEXT, fixes={"forbidden_spans": forbidden}).json()
    assert ("PP", label["first"], label["end"]) in spans_of(free)
    assert ("PP", label["first"], label["end"]) not in spans_of(other)
    assert other["logprob"] < free["logprob"]
    kept = served.post("/api/parse", text=TEXT, fixes={"spans": [[3, 8, "NP"]], "tags": [[1, "NNP"]]}).json()
    assert ("NP", 3, 8) in spans_of(kept)
    assert ("NNP", 1, 2) in spans_of(kept)
    clash = served.post("/api/parse", text=TEXT, fixes={"spans": [[0, 3, None], [2, 5, None]]})
    assert clash.status_code == 422
    assert "cross" in clash.json()["detail"]


def test_corrections_are_lines_of_the_constraints_that_the_command_line_reads(serve: Any, tmp_path: Path) -> None:
    served = serve()
    line = {"spans": [[3, 8]], "forbidden_spans": [[5, 8, "PP"]], "tags": {"1": "NNP"}}
    (tmp_path / "known.jsonl").write_text(json.dumps(line))
    known = next(read_constraints(tmp_path / "known.jsonl"))
    answer = served.post("/api/parse", text=TEXT, fixes=line).json()
    assert answer["trees"][0]["plain"].strip() == str(served.session.parser.parse(TEXT, known).tree)
    assert known.obeyed_by(lg.parse_tree(answer["trees"][0]["plain"]))
    heads = serve("arcs").post("/api/parse", text="The dog sleeps .", fixes={"heads": {"1": 3}}).json()
    assert heads["trees"][0]["heads"][0] == 3
    assert served.post("/api/parse", text=TEXT, fixes={"tags": {"one": "NNP"}}).status_code == 422


def test_text_is_cut_as_the_command_line_cuts_it(serve: Any) -> None:
    served = serve()
    raw = "Mr. Brown doesn't sleep (much). The dog does."
    cut = served.post("/api/sentences", text=raw).json()["sentences"]
    assert [tuple(each["words"]) for each in cut] == [s.words for s in served.session.parser.sentences_of(raw)]
    assert cut[1] == {"words": ["The", "dog", "does", "."], "space_after": [True, True, False, True]}
    as_it_is = served.post("/api/sentences", text=raw, tokenised=True).json()["sentences"]
    assert as_it_is == [{"words": raw.split(), "space_after": None}]
    assert served.post("/api/parse", text="The dog doesn't.").json()["words"] == ["The", "dog", "does", "n't", "."]
    two = served.post("/api/parse", text=raw)
    assert two.status_code == 422
    assert "2 sentences" in two.json()["detail"]
    served.post("/api/queue", text=raw)
    assert served.get("/api/queue", order="file")["items"][-1]["words"] == cut[1]["words"]
    blanks = serve("arcs").post("/api/parse", words=["Hi", "!"], space_after=[False, True]).json()
    assert "SpaceAfter=No" in blanks["trees"][0]["plain"]


def test_what_is_no_text_and_what_phrases_have_not(serve: Any) -> None:
    served = serve()
    half = served.client.post(
        "/api/parse", content=rb'{"text": "a \ud800 b"}', headers={"content-type": "application/json"}
    )
    assert half.status_code == 422
    assert "half a character" in half.json()["detail"]
    heads = served.post("/api/parse", text="the old man", fixes={"heads": [[1, 2]]})
    assert heads.status_code == 422
    assert "dependency trees" in heads.json()["detail"]


def test_heads_can_be_set_and_tags_are_guessed(serve: Any) -> None:
    served = serve("arcs")
    free = served.post("/api/parse", text="The teacher saw the dog in the garden .").json()
    assert free["kind"] == "dependency"
    assert free["guessed_tags"]
    for word in range(9):
        heads = [part for part in free["marginals"] if part["first"] == word]
        assert sum(part["probability"] for part in heads) == pytest.approx(1.0, abs=0.03)
    moved = 5 if free["trees"][0]["heads"][7] != 5 else 3
    fixed = served.post("/api/parse", text=" ".join(free["words"]), fixes={"heads": [[8, moved]]}).json()
    assert fixed["trees"][0]["heads"][7] == moved
    tagged = served.post("/api/parse", words=["dogs", "bark"], xpos=["NNS", "VBP"], upos=["NOUN", "VERB"]).json()
    assert tagged["xpos"] == ["NNS", "VBP"]
    assert not tagged["guessed_tags"]
    done = served.post("/api/accept", id="first-one", tree=fixed["trees"][0]["plain"], fixes=1)
    assert done.json()["accepted"] == 1
    assert done.json()["absorbed"]
    assert served.session.parser.model.root_count.sum() == 201
    assert lg.Treebank.read(served.session.annotations.path)[-1].heads == tuple(fixed["trees"][0]["heads"])
    # The tags of a new word are guessed from then on.
    new = "1\tblorp\t_\tXXX\tXX\t_\t0\troot\t_\t_\n\n"
    assert served.post("/api/accept", id="new-word-1", tree=new).json()["absorbed"]
    assert served.post("/api/parse", text="blorp").json()["xpos"] == ["XX"]
    bad = served.post("/api/accept", id="second-one", tree="1\ta\t_\t_\tX\t_\t1\t_\t_\t_\n\n")
    assert bad.status_code == 422


def test_acceptance_is_kept_counted_once_and_learned(serve: Any) -> None:
    served = serve()
    bank: Path = served.session.annotations.path
    before = lg.Treebank.read(bank)
    tree = "(TOP (S (NP (NNP Zyx)) (VP (VBZ sleeps) (XP (DT the) (DT the))) (. .)))"
    first = served.post("/api/parse", text="Zyx sleeps the the .").json()
    asked = {"id": "abc-12345", "tree": tree, "proposed": first["trees"][0]["plain"], "fixes": 2}
    answers = [served.post("/api/accept", **asked).json() for _ in range(2)]
    assert [answer["accepted"] for answer in answers] == [1, 1]
    other = served.post("/api/accept", id="abc-12345", tree="(TOP (S (NNP Zyx)))")
    assert other.status_code == 422
    assert "another tree" in other.json()["detail"]
    chain = served.post("/api/accept", id="abc-12346", tree="(A " * 5000 + "x" + ")" * 5000)
    assert chain.status_code == 422
    assert "5000 levels over 1 words" in chain.json()["detail"]
    assert answers[0]["absorbed"]
    after = lg.Treebank.read(bank)
    assert len(after) == len(before) + 1
    assert str(after[-1]) == tree
    assert after[: len(before)] == before
    grammar = served.session.parser.model
    assert grammar.root_count.sum() == len(before) + 1
    status = served.get("/api/status")
    assert status["history"][-1]["fixes"] == 2
    assert "XP" in status["phrase_labels"]
    assert 0 <= status["history"][-1]["agreement"] < 100
    assert status["refit"]["pending"] == 1
    assert served.post("/api/model/save").status_code == 422


@pytest.mark.parametrize("kind", ["phrases", "arcs"])
def test_tabs_and_servers_that_accept_at_the_same_moment(serve: Any, kind: str) -> None:
    """Two tabs post trees of their own, and the same ones with the same ids; another server has the same file."""
    one, other = serve(kind), serve(kind)
    for served in (one, other):
        served.session.why_not_refit = "not now"
    bank = (lg.demo_treebank if kind == "phrases" else lg.demo_dependencies)(24, seed=8)
    texts = [str(tree) if kind == "phrases" else to_conllu(tree) for tree in bank]
    shared = [(one, f"shared-{n:04}", texts[n]) for n in range(6)]
    tabs = [
        [job for n in range(6) for job in (shared[n], (one, f"first-{n:04}", texts[6 + n]))],
        [job for n in range(6) for job in (shared[n], (one, f"second-{n:03}", texts[12 + n]))],
        [(other, f"other-{n:04}", texts[18 + n]) for n in range(6)],
    ]
    together = threading.Barrier(len(tabs))

    def post(jobs: list[tuple[Any, str, str]]) -> list[int]:
        together.wait()
        with httpx.Client(base_url=jobs[0][0].url, timeout=60) as client:
            answers = [client.post("/api/accept", json={"id": id, "tree": text}) for _, id, text in jobs]
        return [answer.status_code for answer in answers]

    size = len(one.session.annotations.read())
    before = one.session.parser.model
    with ThreadPoolExecutor(len(tabs)) as threads:
        assert {code for codes in threads.map(post, tabs) for code in codes} == {200}
    added = one.session.annotations.read()[size:]
    written = [str(tree) if kind == "phrases" else to_conllu(tree.replace(comments=())) for tree in added]
    assert sorted(written) == sorted(texts)
    if kind == "arcs":  # each got a name of its own, whichever server it came by
        assert len({tree.comments for tree in added}) == 24
        assert all(tree.comments[0].startswith("# sent_id = bank-") for tree in added)
    assert [len(served.session.annotations.history) for served in (one, other)] == [18, 6]
    # What the parser has learned is each tree once.
    counted = [model.root_count.sum() for model in (before, one.session.parser.model, other.session.parser.model)]
    assert counted == [counted[0], counted[0] + 18, counted[0] + 6]
    one.close()
    assert len(serve(kind).session.annotations.history) == 24


def test_an_arc_factored_parser_learns_a_correction_at_once(tmp_path: Path) -> None:
    bank = lg.demo_dependencies(90, seed=1)
    bank[:60].write(tmp_path / "bank.conllu")
    parser = lg.Parser(lg.fit(lg.ArcFactored, bank[:60], by=lg.MIRA(order=1, passes=1, bits=16)))
    session = Session(parser, treebank=tmp_path / "bank.conllu", workers=0)
    # Every relation of an arc has a probability, and the best is the one in the tree.
    analysis, _ = analyse(parser, Asked(bank[60].sentence))
    for word, relation in enumerate(analysis.trees[0].relations):
        told = {part.label: part.probability for part in analysis.relations if part.first == word}
        assert max(told, key=lambda name: told[name]) == relation
        assert 0.9 < sum(told.values()) < 1.0 + 1e-9
    tree = next(tree for tree in bank[60:] if parser.parse(tree.sentence).tree.heads != tree.heads)
    assert session.accept("abc-12345", tree, None, 1, None)[1]
    assert session.parser.parse(tree.sentence).tree.heads == tree.heads
    assert session.pending == 1
    assert session.labels()[2]


def test_accuracy_on_held_out_trees_develops(serve: Any, models: Path, tmp_path: Path) -> None:
    lg.demo_treebank(12, seed=9).write(tmp_path / "heldout.mrg")
    phrases = serve(heldout=tmp_path / "heldout.mrg")
    expected = lg.load(models / "phrases.lg").evaluate(lg.demo_treebank(12, seed=9)).f1

    def points(count: int) -> Any:
        for _ in range(200):
            if len(found := phrases.get("/api/status")["heldout"]) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError("no new figure")

    first = points(1)[0]
    assert first["score"] == pytest.approx(expected)
    assert first["accepted"] == 0
    assert phrases.post("/api/accept", id="abc-12345", tree=str(lg.demo_treebank(1, seed=8)[0])).status_code == 200
    curve = points(2)
    assert curve[1]["accepted"] == 1
    phrases.close()
    # After a restart the curve is there; what is measured again says nothing new.
    phrases = serve(heldout=tmp_path / "heldout.mrg")
    until(lambda: phrases.session.heldout.part(phrases.session.version) is None)
    assert [point["score"] for point in phrases.get("/api/status")["heldout"]] == [each["score"] for each in curve]
    assert serve().get("/api/status")["heldout"] is None
    with pytest.raises(DataError, match="learned from these trees"):
        serve(heldout=models / "bank.mrg")
    with pytest.raises(DataError, match="must be constituency trees"):
        serve(heldout=models / "bank.conllu")


def test_a_restart_finds_everything(serve: Any) -> None:
    served = serve()
    tree = served.post("/api/parse", text=TEXT).json()["trees"][0]["plain"]
    served.post("/api/accept", id="abc-12345", tree=tree, proposed=tree)
    served.close()
    again = serve()
    assert again.session.parser.model.root_count.sum() == 301
    status = again.get("/api/status")
    assert status["accepted"] == 1
    assert status["history"][0]["agreement"] == 100
    assert status["refit"]["pending"] == 1
    assert status["queue"] == 1  # the other one has its tree
    assert again.post("/api/accept", id="abc-12345", tree=tree).json()["accepted"] == 1


def test_a_damaged_history_or_a_foreign_treebank(serve: Any, tmp_path: Path) -> None:
    served = serve()
    path = served.session.annotations.path
    path.with_name(path.name + ".history.jsonl").write_text('{"id": "x", "agr\nnonsense\n')
    assert serve().get("/api/status")["accepted"] == 0
    (tmp_path / "other.conllu").write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(lg.LatentgramError, match="decompress it first"):
        serve(treebank=tmp_path / "bank.mrg.gz")
    for name in ("other.conllu", "new.conllu"):
        with pytest.raises(lg.LatentgramError, match="the model is for constituency trees"):
            serve(treebank=tmp_path / name)


def test_a_treebank_of_ones_own_is_absorbed_and_training_data_let_it_learn_anew(
    serve: Any, models: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.mrg"
    alone = serve(treebank=own)
    assert alone.get("/api/status")["refit"]["state"] == "impossible"
    assert alone.post("/api/refit").status_code == 422
    tree = alone.post("/api/parse", text=TEXT).json()["trees"][0]["plain"]
    alone.post("/api/accept", id="abc-12345", tree=tree)
    alone.close()
    assert serve(treebank=own).session.parser.model.root_count.sum() == 301
    both = serve(treebank=own, train=[models / "bank.mrg"])
    assert both.get("/api/status")["refit"]["state"] == "idle"


def test_learning_anew_can_be_given_up_and_what_it_learned_be_saved(serve: Any, tmp_path: Path) -> None:
    served = serve(model_path=tmp_path / "mine.lg")
    tree = served.post("/api/parse", text=TEXT).json()["trees"][0]["plain"]
    served.post("/api/accept", id="abc-12345", tree=tree)
    assert served.post("/api/refit").json()["state"] == "running"
    assert served.client.delete("/api/refit").json()["state"] == "idle"
    assert served.get("/api/status")["refit"]["pending"] == 1
    assert served.post("/api/model/save").status_code == 422
    served.post("/api/refit")
    served.post("/api/accept", id="def-12345", tree=tree)  # while it is learning
    until(lambda: served.get("/api/status")["refit"]["state"] == "idle")
    assert served.session.parser.model.provenance.data_size == 301
    assert served.session.parser.model.root_count.sum() == 302
    assert served.get("/api/status")["refit"]["pending"] == 1
    served.post("/api/refit")
    until(lambda: served.get("/api/status")["refit"]["pending"] == 0 and not served.session.refit.running)
    assert served.post("/api/model/save").status_code == 200
    assert lg.load(tmp_path / "mine.lg", lg.Parser).model.provenance.data_size == 302


def test_hanging_up_ends_the_work(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.0)
    served = serve(workers=1)
    served.post("/api/parse", text=TEXT, count=2)
    before = set(served.session.workers.living)
    long = " ".join(["the dog in the garden and"] * 33)
    with pytest.raises(httpx.ReadTimeout):
        served.client.post("/api/parse", json={"text": long, "count": 20}, timeout=0.1)
    until(lambda: all(worker.ended for worker in before))
    assert served.post("/api/parse", text=TEXT).status_code == 200


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_queue_puts_the_most_uncertain_first(serve: Any) -> None:
    served = serve()
    served.post(
        "/api/queue", text="The dog sleeps .\n\nThe teacher saw a dog with the teacher of the dog in a garden .\n"
    )
    until(lambda: served.get("/api/queue")["scored"] == 4)
    answer = served.get("/api/queue")
    entropies = [item["entropy"] for item in answer["items"]]
    per_word = [item["entropy"] / len(item["words"]) for item in answer["items"]]
    assert per_word == sorted(per_word, reverse=True)
    assert entropies[0] == pytest.approx(
        served.session.parser.parse(" ".join(answer["items"][0]["words"])).entropy
    )
    assert [item["number"] for item in served.get("/api/queue", order="file")["items"]] == [0, 1, 2, 3]
    assert {item["number"] for item in served.get("/api/queue", order="diverse")["items"]} == {0, 1, 2, 3}
    first = answer["items"][0]
    tree = served.post("/api/parse", words=first["words"]).json()["trees"][0]["plain"]
    beyond = served.post("/api/accept", id="abc-12345", tree=tree, queue=99_999)
    assert beyond.status_code == 422
    assert "no sentence 99999 in the queue" in beyond.json()["detail"]
    assert served.get("/api/status")["accepted"] == 0
    served.post("/api/accept", id="abc-12345", tree=tree, queue=first["number"])
    assert served.get("/api/queue")["waiting"] == 3


def test_models_show_what_is_in_them(serve: Any) -> None:
    phrases, arcs = serve(), serve("arcs")
    model = phrases.get("/api/model")
    assert model["learner"] == "Counting"
    assert {"NP", "VP"} <= {symbol["name"] for symbol in model["symbols"]}
    single = phrases.get("/api/model/symbol", name="NP")
    assert "single state" in single["note"]
    assert single["states"][0]["subtrees"][0]["svg"].startswith("<svg")
    assert single["states"][0]["subtrees"][0]["plain"].startswith("(NP ")
    assert single["singular_values"] == []
    assert phrases.client.get("/api/model/symbol", params={"name": "no such"}).status_code == 422
    head = arcs.get("/api/model")["symbols"][0]["name"]
    found = arcs.get("/api/model/symbol", name=head, direction="left", clusters=3)
    assert found["svg"].startswith("<svg")
    assert sum(each["probability"] for each in found["states"][0]["below"]) == pytest.approx(1.0, abs=0.1)


def test_coordinates_of_a_spectral_grammar_have_two_ends() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=3))
    found = kind_of(grammar).inspection()(grammar).look("NP", "left", 3)
    assert [each.name for each in found.coordinates] == ["coordinate 1", "coordinate 2", "coordinate 3"]
    assert all(len(each.ends) == 2 for each in found.coordinates)
    drawn = found.coordinates[1].ends[0].subtrees[0]
    assert drawn.svg.startswith("<svg")
    assert drawn.plain.startswith("(NP ")
    assert len(found.singular_values) == 3
    assert not found.states


def test_too_much_is_refused_with_a_sentence(serve: Any) -> None:
    served = serve()
    answered = served.post("/api/parse", words=["teachers"] * 200)
    assert len(answered.json()["words"]) == 200
    assert "201 words" in served.post("/api/parse", words=["teachers"] * 201).json()["detail"]
    long = served.post("/api/parse", text="word " * 10_000)
    assert long.status_code == 422
    assert "10,000 words" in long.json()["detail"]
    assert served.post("/api/parse", text="x" * (1 << 20)).status_code == 413
    unsized = served.client.post(
        "/api/parse", content=(b" " * 65536 for _ in range(20)), headers={"content-type": "application/json"}
    )
    assert unsized.status_code == 413
    assert served.post("/api/parse", text="  ").status_code == 422
    assert served.post("/api/accept", id="abc-12345", tree="(S (NP").json()["detail"]
    for body in (b"{", b"[" * 100_000, b'{"text": "\xff"}', b'{"count": %s}' % (b"9" * 5000)):
        answer = served.client.post("/api/parse", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["detail"] == "the body of the request is not JSON"
    assert served.client.get("/api/nosuch").json()["detail"] == "there is no such page"


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        (f"(S {'(X a) ' * 201})", "this has 201 words"),
        ("(S (-NONE- *T*-1))", "has no words"),
        ("(S (X a\x85b))", "has characters that may not stand there"),
        ("(S (X \u2028))", "has characters that may not stand there"),
    ],
)
def test_trees_of_no_sentence_are_not_accepted(serve: Any, tree: str, told: str) -> None:
    served = serve()
    before = served.get("/api/trees")["total"]
    assert told in served.post("/api/accept", id="abc-12345", tree=tree).json()["detail"]
    assert served.get("/api/trees")["total"] == before


def test_a_very_long_tree_of_the_file_is_looked_at_and_not_charted(serve: Any, tmp_path: Path) -> None:
    """A chart over so many words would take all memory."""
    lg.Treebank.of([lg.parse_tree(f"(S {'(X a) ' * 15_000})")]).write(tmp_path / "bank.mrg")
    served = serve()
    assert served.get("/api/past", words=["a"], tags=["X", "X"]) == {
        "labels": {},
        "none": 15_000,
        "tag_labels": {},
        "tag_none": 14_999,
    }
    assert doubts_of(served.session.parser, [served.session.bank.tree(served.session.bank.entries()[0])]) == [None]


def test_who_is_let_in(serve: Any) -> None:
    served = serve()
    assert served.client.get("/api/status", headers={"host": "evil.example"}).status_code == 403
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", f"{served.url}9"):
        refused = served.client.post("/api/refit", headers={"origin": origin})
        assert refused.status_code == 403, origin
        assert refused.headers["cross-origin-resource-policy"] == "same-origin"
    guarded = serve(token="a-long-secret")
    assert guarded.client.get("/api/status").status_code == 401
    assert guarded.client.get("/api/status", headers={"authorization": "Bearer wrong"}).status_code == 401
    right = guarded.client.get("/api/status", headers={"authorization": "Bearer a-long-secret"})
    assert right.status_code == 200
    assert guarded.client.get("/", headers={"host": "anywhere.example"}).status_code == 200


def test_only_the_files_of_the_page_are_served_and_nothing_from_elsewhere(serve: Any) -> None:
    served = serve()
    page = served.client.get("/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "http://" not in page.text
    for name in ("..%2fapi.py", "%2e%2e/api.py", "api.py", "main.js%00.css", "..\\api.py", "%2fetc%2fpasswd"):
        assert served.client.get(f"/{name}").status_code == 404
    for line in page.text.splitlines():
        if 'src="' in line or 'href="' in line:
            name = line.split('src="' if 'src="' in line else 'href="')[1].split('"')[0]
            assert name.startswith("#") or served.client.get(f"/{name}").status_code == 200


def test_the_api_is_documented(serve: Any) -> None:
    schema = serve().get("/api/openapi.json")
    assert "/api/parse" in schema["paths"]
    assert json.dumps(schema)


def test_an_address_that_others_reach_gets_a_token(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    from latentgram.web import server

    said: list[str] = []
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: sockets[0].close())
    session = Session(lg.load(models / "phrases.lg", lg.Parser), workers=0)
    server.serve(session, host="0.0.0.0", port=0, browser=False, say=said.append)
    server.serve(session, host="127.0.0.1", port=0, browser=False, say=said.append)
    assert "#token=" in said[0]
    assert "token" not in said[1]
    with pytest.raises(lg.LatentgramError, match="8 characters"):
        server.serve(session, host="0.0.0.0", port=0, token="short", browser=False)
    session.close()


def test_a_chart_crf_goes_on_learning(serve: Any, models: Path, tmp_path: Path) -> None:
    """An accepted tree moves the weights of the layer and is counted by its grammar."""
    trees = lg.demo_treebank(60, seed=0)
    trees.write(tmp_path / "own.mrg")
    crf = lg.fit(lg.ChartCRF, trees, by=lg.Gradient(states=2, passes=1, bits=14))
    lg.save(lg.Parser(crf), models / "layer.lg")
    served = serve("layer", treebank=tmp_path / "own.mrg")
    before = served.session.parser
    tree = served.post("/api/parse", text=TEXT).json()["trees"][0]["plain"]
    served.post("/api/accept", id="abc-12345", tree=tree, proposed=tree)
    after = served.session.parser
    assert after.model.grammars[0].root_count.sum() == before.model.grammars[0].root_count.sum() + 1
    given = lg.parse_tree(tree)
    assert after.score(given).probability > before.score(given).probability
    assert (after.model.weights != before.model.weights).any()
