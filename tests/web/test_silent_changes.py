"""In a real browser: what a person did is neither lost nor changed silently when he goes on, or comes back."""

from __future__ import annotations

from typing import Any

import pytest

import latentgram as lg
from latentgram.errors import DataError
from latentgram.web import history
from web.browser import TEXT, ask, node, says, spans, until, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium
CLOSED = "document.getElementById('accept').disabled"
OTHER = "The teacher sleeps ."


def test_corrections_are_there_again_when_one_comes_back(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    ask(page, TEXT)
    page.locator(node("NP 3 5")).click()
    page.click("[data-act=forbid]")
    until(page, "NP 3 5", there=False)
    shown = spans(page)
    ask(page, OTHER)
    assert page.locator("#fixes li").count() == 0
    ask(page, TEXT)
    says(page, "Your earlier corrections have been restored")
    assert spans(page) == shown
    assert page.locator("#fixes li").count() == 1
    page.click("#accept")
    says(page, "Accepted")
    ask(page, OTHER)
    ask(page, TEXT)
    wait(page, "document.querySelectorAll('#fixes li').length === 0")
    assert page.is_hidden("#message")


def test_a_tree_edited_as_text_is_not_passed_over(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, TEXT)
    page.click("text=Edit as text")
    text = page.input_value("#by-hand").replace("(NN dog)", "(NNX dog)")
    page.fill("#by-hand", text)
    assert page.evaluate(CLOSED)
    page.locator("#drawing").focus()
    page.keyboard.press("a")
    says(page, "The tree was edited as text")
    page.reload()
    wait(page, "document.querySelectorAll('.word').length > 0")
    assert page.input_value("#by-hand") == text
    assert page.evaluate(CLOSED)
    page.click("text=Edit as text")
    page.click("#drop-text")
    assert not page.evaluate(CLOSED)
    assert "NNX" not in page.input_value("#by-hand")
    page.fill("#by-hand", text)
    page.click("#accept-text")
    says(page, "Accepted")
    assert "NNX" in lg.Treebank.read(served.session.annotations.path)[-1].tags


def test_the_tree_that_is_looked_at_stays_when_the_model_was_retrained(serve: Any, page: Any) -> None:
    served = serve(workers=1)
    page.goto(served.url)
    ask(page, TEXT)
    wait(page, "!document.getElementById('tree-after').disabled")
    page.click("#tree-after")
    shown = spans(page)
    page.click("#refit")
    wait(page, "document.getElementById('said').textContent === 'The model was retrained.'", 60)
    assert page.text_content("#tree-number").startswith("2 of")
    assert spans(page) == shown


def test_a_comment_is_kept_without_enter_and_found_again(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, TEXT)
    page.keyboard.press("Escape")
    page.locator("#drawing").focus()
    page.keyboard.press("c")
    page.keyboard.type("is this a name?")
    page.click("#accept")
    says(page, "Accepted")
    assert served.get("/api/trees", order="flagged")["items"][0]["note"]["comment"] == "is this a name?"
    ask(page, OTHER)
    page.click("#tab-treebank")
    page.select_option("#tree-order", "flagged")
    wait(page, "document.querySelectorAll('#bank li').length === 1")
    page.click("#bank li button")
    wait(page, "document.getElementById('comment-text').value === 'is this a name?'")


def test_who_changes_a_tree_of_the_treebank_second_is_told_and_chooses(serve: Any, tab: Any) -> None:
    served = serve()
    path = served.session.annotations.path
    before = path.read_text().splitlines()
    pages = []
    for name, function in (("Ann", "SBJ"), ("Bob", "TPC")):
        page = tab()
        page.add_init_script(f"localStorage.setItem('annotator', '{name}')")
        page.goto(served.url)
        page.click("#tab-treebank")
        page.click("#bank li:nth-child(2) button")
        page.locator('.node[data-label="NP"]').first.click()
        page.locator("#editor details summary").first.click()
        page.fill("#editor [aria-label^='function tags']", function)
        page.keyboard.press("Enter")
        wait(page, f"document.querySelectorAll('#fixes li').length === 1 && !{CLOSED}")
        pages.append(page)
    pages[0].click("#accept")
    says(pages[0], "Accepted")
    pages[1].click("#accept")
    pages[1].wait_for_selector("#conflict:not([hidden])")
    assert "Ann has changed this tree in the meantime" in pages[1].text_content("#conflict")
    assert "NP-SBJ" in pages[1].text_content("#conflict pre")
    assert "NP-SBJ" in path.read_text().splitlines()[1]
    pages[1].click("#conflict >> text=Replace it by mine")
    says(pages[1], "Accepted")
    after = path.read_text().splitlines()
    assert "NP-TPC" in after[1]
    assert "NP-SBJ" not in after[1]
    assert [*after[:1], *after[2:]] == [*before[:1], *before[2:]]
    assert [each["action"] for each in served.get("/api/changes")] == ["replace", "replace"]


def test_the_next_sentence_has_the_focus_whichever_way_one_came(serve: Any, page: Any) -> None:
    served = serve()
    served.post("/api/queue", text="The dog sleeps .\nThe teacher sleeps in the garden .", tokenised=True)
    page.goto(served.url)
    page.click("#tab-queue")
    page.click("#queue li:first-child button")
    in_tree = "document.getElementById('drawing').contains(document.activeElement)"
    for act in (lambda: page.keyboard.press("a"), lambda: page.click("#accept"), lambda: page.keyboard.press("s")):
        wait(page, f"!{CLOSED} && {in_tree}")
        assert page.is_hidden("#editor")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.dataset.label") == "S"
        before = page.input_value("#sentence")
        act()
        wait(page, f"document.getElementById('sentence').value !== {before!r}")
    wait(page, in_tree)
    # Nor is it lost where no sentence is left, or where a tree of the treebank was changed.
    wait(page, f"!{CLOSED}")
    page.click("#accept")
    wait(page, "document.getElementById('message').textContent.includes('no more sentences')")
    wait(page, in_tree)
    page.click("#tab-treebank")
    page.click("#bank li .n")
    wait(page, f"!{CLOSED} && {in_tree}")
    page.click("#accept")
    says(page, "Accepted: it replaces")
    wait(page, "document.activeElement.id === 'tab-treebank'")


def test_a_full_disk_is_told_and_the_same_tree_is_accepted_once_when_there_is_room(
    serve: Any, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    path = served.session.annotations.path
    before = path.read_text()
    page.goto(served.url)
    ask(page, TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(history, "append_text", full)
        page.click("#accept")
        says(page, "The file cannot be written (No space left on device)")
    assert path.read_text() == before
    wait(page, f"!{CLOSED}")
    page.click("#accept")
    says(page, "Accepted")
    assert path.read_text().count("\n") == before.count("\n") + 1


def full(*_: Any) -> None:
    raise DataError("the file cannot be written (No space left on device)")


def test_every_view_tells_what_went_wrong(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    page.click("#tab-treebank")
    page.wait_for_selector("#bank li")
    path = served.session.annotations.path
    rest = path.read_text().splitlines()[1:]
    path.write_text("\n".join(rest) + "\n")
    page.click("#bank li:first-child .small")
    says(page, "This tree is no longer in the treebank")
    assert page.is_visible("#message")
    assert path.read_text().splitlines() == rest
