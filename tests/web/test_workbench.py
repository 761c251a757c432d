"""The page as a workbench, in a real browser: nothing is lost, and everything is at hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

import latentgram as lg
from web.browser import AXE, TEXT, ask, faults, node, says, spans, until, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium
CLOSED = "document.getElementById('accept').disabled"
FOURTEEN = "The old teacher saw a green necklace in the cellar of the museum today ."


def test_a_correction_that_is_not_met_closes_accept_until_it_is_made_by_hand(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, TEXT)
    page.locator(node("NP 3 5")).click()
    page.fill("#editor input", "NPX")
    page.keyboard.press("Enter")
    page.wait_for_selector("#fixes .unmet")
    assert "NPX is not a label of this grammar: add it?" in page.text_content("#fixes .unmet")
    assert page.evaluate(CLOSED)
    page.keyboard.press("Control+Enter")
    says(page, "A correction cannot be satisfied")
    assert served.get("/api/status")["accepted"] == 0
    page.click("#fixes [data-act=by-hand]")
    until(page, "NPX 3 5")
    wait(page, f"!{CLOSED}")
    page.click("#accept")
    says(page, "Accepted")
    assert ("NPX", 3, 5) in set(lg.Treebank.read(served.session.annotations.path)[-1].spans())


def test_what_else_changes_is_shown_and_the_rest_can_be_left(serve: Any, page: Any) -> None:
    page.goto(serve("arcs").url)
    ask(page, "The teacher saw the dog in the garden of the museum .")
    script = "all => all.map(a => [+a.dataset.modifier, +a.dataset.head])"
    before = dict(page.eval_on_selector_all(".arc", script))
    # A word, then its head: two clicks. "dog" under "garden" turns arcs around.
    page.locator('.word[data-word="4"]').click()
    page.locator('.word[data-word="7"]').click()
    wait(page, "document.querySelector('.arc[data-modifier=\"4\"]').dataset.head === '8'")
    after = dict(page.eval_on_selector_all(".arc", script))
    others = {word for word in before if before[word] != after[word]} - {4}
    assert others
    page.wait_for_selector("#changes:not([hidden])")
    assert page.locator("#changed li", has_not_text=": relation ").count() == len(others)
    assert page.locator("#changed li", has_text="dog: relation obj →").count() == 1
    assert page.locator(".ghost").count() == len(others) + 1
    page.click("#leave")
    wait(page, "document.getElementById('changes').hidden")
    left = dict(page.eval_on_selector_all(".arc", script))
    moved = {word for word in before if before[word] != left[word]}
    assert moved <= {4} or page.locator("#fixes .unmet").count() == 1
    # Back twice, and a correction that replaces another says so.
    page.keyboard.press("u")
    page.keyboard.press("u")
    wait(page, "document.querySelectorAll('#fixes li').length === 0")
    for head in (3, 8):
        page.locator('.arc[data-modifier="10"] text').click()
        page.locator("#editor select").select_option(str(head))
        wait(page, f"document.querySelector('.arc[data-modifier=\"10\"]').dataset.head === '{head}'")
    says(page, "This replaces: the head of “museum” is “saw”")


SLOW_BODIES = """
const plain = window.fetch;
window.fetch = async (path, options) => {
  const answer = await plain(path, options), bytes = await answer.bytes();
  const start = (stream) => {
    options.signal?.addEventListener("abort", () => stream.error(new DOMException("", "AbortError")));
    setTimeout(() => {
      if (options.signal?.aborted) return;
      stream.enqueue(bytes);
      stream.close();
    }, 300);
  };
  return new Response(new ReadableStream({ start }), { status: answer.status });
};
"""


def test_an_answer_given_up_half_way_is_no_answer(serve: Any, page: Any) -> None:
    page.add_init_script(SLOW_BODIES)
    page.goto(serve("arcs").url)
    ask(page, "The teacher saw the dog .")
    page.locator('.word[data-word="4"]').click()
    page.locator('.word[data-word="1"]').click()
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    for key in "uruur":
        page.keyboard.press(key)
    wait(page, "document.getElementById('drawing').ariaBusy === 'false'")
    assert page.locator("#fixes li").count() == 1
    assert page.locator('.arc[data-modifier="4"]').get_attribute("data-head") == "2"


def test_two_tabs_race_for_one_sentence(serve: Any, tab: Any) -> None:
    served = serve()
    first, second = tab(), tab()
    for page in (first, second):
        page.goto(served.url)
        ask(page, TEXT)
    first.click("#accept")
    says(first, "Accepted")
    size = len(lg.Treebank.read(served.session.annotations.path))
    second.locator(node("NP 3 5")).click()
    second.click("[data-act=forbid]")
    until(second, "NP 3 5", there=False)
    second.click("#accept")
    second.wait_for_selector("#conflict:not([hidden])")
    assert "accepted a tree of this sentence" in second.text_content("#conflict")
    assert len(lg.Treebank.read(served.session.annotations.path)) == size
    # Whatever takes room from the tree, its words stay in sight.
    second.click("#conflict summary")
    assert second.locator("#conflict mark").count() >= 1
    shown = """() => document.querySelector('.word').getBoundingClientRect().bottom
        <= document.getElementById('drawing').getBoundingClientRect().bottom + 1"""
    wait(second, f"({shown})()")
    if AXE.exists():
        assert not faults(second)
    second.click("#conflict >> text=Replace it by mine")
    says(second, "Accepted")
    bank = lg.Treebank.read(served.session.annotations.path)
    assert len(bank) == size
    assert ("NP", 3, 5) not in set(bank[-1].spans())


def test_a_constituent_is_dragged_to_its_mother_and_a_word_to_its_head(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    ask(page, "The teacher saw the dog in the garden .")
    phrase, verb = "PP 5 8", "VP 2 8"
    under_noun = "NP 3 8" in spans(page)
    drag(page, node(phrase), node(verb if under_noun else "NP 3 5"))
    until(page, "NP 3 8", there=not under_noun)
    assert page.locator("#fixes li").count() == 1
    assert page.locator("#fixes .unmet").count() == 0
    drag(page, node(phrase), node("NP 3 5" if under_noun else verb))
    until(page, "NP 3 8", there=under_noun)
    assert page.locator("#fixes li").count() == 1
    page.goto(serve("arcs").url)
    ask(page, "The teacher saw the dog in the garden .")
    drag(page, '.word[data-word="7"]', '.word[data-word="2"]')
    wait(page, "document.querySelector('.arc[data-modifier=\"7\"]').dataset.head === '3'")
    assert page.locator("#fixes li").count() == 1


def drag(page: Any, source: str, target: str) -> None:
    page.locator(source).hover()
    page.mouse.down()
    box = page.locator(target).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=6)
    page.mouse.up()


def test_a_finger_drags_as_a_mouse_does_and_scrolls_beside_the_tree(serve: Any, tab: Any) -> None:
    page = tab(390, 844, has_touch=True, is_mobile=True)
    page.goto(serve().url)
    ask(page, "A teacher saw the dog in the garden .")
    swipe(page, middle(page, '.word[data-word="0"]'), middle(page, '.word[data-word="1"]'))
    wait(page, "document.querySelector('#editor h2')?.textContent === 'A new constituent'")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator(node("PP 5 8")).scroll_into_view_if_needed()
    swipe(page, middle(page, node("PP 5 8")), middle(page, node("NP 3 5")))
    until(page, "NP 3 8")
    ask(page, f"{TEXT[:-1]}{FOURTEEN}")
    scrolled = "document.getElementById('drawing').scrollLeft"
    assert page.evaluate(scrolled) == 0
    box = page.locator("#drawing").bounding_box()
    right, below = box["x"] + box["width"] - 20, box["y"] + box["height"] - 3
    swipe(page, (right, below), (right - 200, below))
    wait(page, f"{scrolled} > 0")


def swipe(page: Any, first: tuple[float, float], last: tuple[float, float]) -> None:
    """A finger goes from one place to another."""
    finger = page.context.new_cdp_session(page)
    for step in range(10):
        x, y = (a + (b - a) * step / 9 for a, b in zip(first, last, strict=True))
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(20)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def middle(page: Any, selector: str) -> tuple[float, float]:
    """Where to point to, for something."""
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_an_attachment_takes_two_keys_and_focus_is_never_lost(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, TEXT)
    before = spans(page)
    page.locator("#accept").focus()
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.dataset.label")
    # The panel was closed: the same key opens it at the same node.
    page.keyboard.press("Escape")
    assert page.is_hidden("#editor")
    page.keyboard.press("n")
    page.keyboard.press("1")
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    wait(page, f"!{CLOSED}")
    assert spans(page) != before
    assert page.evaluate("document.getElementById('drawing').contains(document.activeElement)")
    page.keyboard.press("u")
    wait(page, "document.querySelectorAll('#fixes li').length === 0")
    # Mother, child, sister; a letter gives a label; the list of keys.
    page.keyboard.press("t")
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.label") == "TOP"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.label") == "NP"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.label") == "VP"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.label") == "S"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+P")
    wait(page, "document.getElementById('fixes').textContent.includes('is PP, not NP')")
    assert page.evaluate("document.getElementById('drawing').contains(document.activeElement)")
    page.keyboard.press("u")
    wait(page, f"!{CLOSED} && !document.querySelectorAll('#fixes li').length")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    says(page, "Accepted")
    assert served.get("/api/status")["accepted"] == 1


def test_a_phrase_that_may_belong_to_its_neighbour_is_doubtful(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, "A teacher saw the dog in the garden .")
    assert "NP 3 8" not in spans(page)
    page.locator("#accept").focus()
    # The phrase itself is certain, and no constituent of the tree shows the other place that it may have.
    page.keyboard.press("n")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("PP")
    assert "100 %" in label
    page.keyboard.press("1")
    until(page, "NP 3 8")


def test_the_next_sentence_is_there_without_waiting_and_notes_are_kept(serve: Any, page: Any) -> None:
    served = serve(workers=1)
    served.post("/api/queue", text="The dog sleeps .\nThe teacher sleeps in the garden .", tokenised=True)
    page.goto(served.url)
    page.click("#tab-queue")
    wait(page, "document.querySelectorAll('#queue li').length === 4")
    assert "0 of 4" in page.text_content("#queue-progress")
    page.click("#queue li:first-child button")
    assert page.is_hidden("#ask")
    wait(page, f"document.getElementById('drawing').textContent && !{CLOSED}")
    page.keyboard.press("f")
    wait(page, "document.getElementById('flag').getAttribute('aria-pressed') === 'true'")
    page.keyboard.press("c")
    page.keyboard.type("odd word")
    page.keyboard.press("Enter")
    wait(page, "document.getElementById('comment').getAttribute('aria-pressed') === 'true'")
    page.keyboard.press("n")
    page.keyboard.press("k")  # keeps what is selected
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    page.wait_for_timeout(1500)  # what comes next is parsed meanwhile
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    before = page.input_value("#sentence")
    page.keyboard.press("a")
    wait(page, f"document.getElementById('sentence').value !== {before!r}")
    assert "parse" not in asked[: asked.index("accept") + 1]
    wait(page, f"!{CLOSED}")
    # Taken back, the sentence is there again with its corrections; and it is accepted again.
    page.keyboard.press("U")
    says(page, "The last acceptance was taken back")
    assert page.input_value("#sentence") == before
    assert page.locator("#fixes li").count() == 1
    assert served.get("/api/queue")["waiting"] == 4
    page.keyboard.press("a")
    wait(page, f"document.getElementById('sentence').value !== {before!r} && !{CLOSED}")
    skipped = page.input_value("#sentence")
    page.keyboard.press("s")
    wait(page, f"document.getElementById('sentence').value !== {skipped!r}")
    answer = served.get("/api/queue")
    assert answer["items"][-1]["note"]["skipped"]
    assert served.get("/api/trees", order="flagged")["items"][0]["note"]["comment"] == "odd word"


def test_a_tree_is_opened_again_changed_and_the_change_undone(serve: Any, page: Any) -> None:
    served = serve()
    path = served.session.annotations.path
    before = path.read_text()
    page.goto(served.url)
    page.click("#tab-treebank")
    page.fill("#pattern", "VP < (NP < PP)")
    page.keyboard.press("Enter")
    wait(page, "/^1?\\d\\d of 300 trees/.test(document.getElementById('bank-line').textContent)")
    number = int(page.get_attribute("#bank li:first-child button", "data-number"))
    page.click("#bank li:first-child button")
    page.wait_for_selector('.node[data-label="NP"]')
    page.locator('.node[data-label="NP"]').first.click()
    page.locator("#editor details summary").first.click()
    page.fill("#editor [aria-label^='function tags']", "SBJ")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    page.keyboard.press("Control+Enter")
    wait(page, "!document.getElementById('view-treebank').hidden")
    assert "NP-SBJ" in path.read_text().splitlines()[number]
    assert len(path.read_text().splitlines()) == 300
    wait(page, "document.querySelectorAll('#history li').length === 2")
    page.click("#history li:nth-child(2) button")
    wait(page, "document.querySelectorAll('#history li').length === 3")
    assert path.read_text() == before


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
def test_a_tree_of_fourteen_words_fits(serve: Any, tab: Any, width: int, height: int) -> None:
    page = tab(width, height)
    page.goto(serve().url)
    ask(page, FOURTEEN)
    page.keyboard.press("Escape")
    inside = """name => { const d = document.getElementById(name);
        return [d.scrollHeight - d.clientHeight, d.scrollWidth - d.clientWidth]; }"""
    assert max(page.evaluate(inside, "drawing")) <= 1
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    # Sixty words: whatever is scrolled to, the words are in sight.
    ask(page, " ".join(["the old dog saw a teacher in the garden and"] * 6 + ["the dog ."]))
    page.evaluate("document.getElementById('drawing').scrollTo(0, 0)")
    page.wait_for_timeout(100)
    seen = """() => { const d = document.getElementById('drawing').getBoundingClientRect();
        const w = document.querySelector('.word').getBoundingClientRect();
        return w.top >= d.top && w.bottom <= d.bottom + 1; }"""
    assert page.evaluate(seen)


def test_scripts_that_run_from_right_to_left_and_a_phone(serve: Any, tab: Any) -> None:
    served = serve()
    page = tab(390, 844, has_touch=True)
    page.goto(served.url)
    ask(page, "الكلب رأى القط 猫 🐱")
    left = page.eval_on_selector_all(".word", "all => all.map(w => w.getBoundingClientRect().left)")
    assert left == sorted(left, reverse=True)
    assert page.text_content('.word[data-word="4"]') == "🐱"
    ask(page, "The teacher saw the dog .")
    page.locator('.node[data-label="VP"]').first.tap()
    assert page.is_visible("#editor")
    panel, drawn = (page.locator(name).bounding_box() for name in ("#editor", '.node[data-label="VP"]'))
    assert drawn["y"] + drawn["height"] <= panel["y"]
    page.locator("#editor [data-act=forbid]").tap()
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    # Nothing of the tree is under the panel, however deep the node; and the word of a long arc is in sight.
    ask(page, TEXT)
    page.locator("#drawing").focus()
    for _ in range(3):
        page.keyboard.press("n")
        here, panel, drawing = (page.locator(name).bounding_box() for name in (":focus", "#editor", "#drawing"))
        assert drawing["y"] + drawing["height"] <= panel["y"] + 1
        assert drawing["y"] <= here["y"] <= drawing["y"] + drawing["height"]
    page.goto(serve("arcs").url)
    ask(page, "The teacher saw the dog in the garden of the museum in the city of the woman .")
    page.keyboard.press("Escape")
    page.locator("#drawing").focus()
    page.keyboard.press("n")
    word = page.evaluate("document.activeElement.dataset.modifier")
    box = page.locator(f'.word[data-word="{word}"]').bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("text", [f"{TEXT[:-1]}{FOURTEEN}", "الكلب رأى القط الكبير جدا اليوم في الحديقة ."])
def test_a_sentence_of_the_queue_begins_in_sight(serve: Any, tab: Any, text: str) -> None:
    served = serve(sentences=[lg.Sentence.of(text)])
    page = tab(390, 844, has_touch=True)
    page.goto(served.url)
    page.click("#tab-queue")
    page.click("#queue li button")
    page.wait_for_selector(".word")
    assert page.evaluate("document.getElementById('drawing').scrollWidth") > 390
    # The focus is at the root, which stands over the middle.
    wait(page, "document.activeElement.dataset.label === 'TOP'")
    box = page.locator('.word[data-word="0"]').bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("text", ["الكلب رأى القط الكبير جدا .", "The teacher saw it today ."])
def test_the_chart_of_posteriors_runs_as_the_tree_does(serve: Any, page: Any, text: str) -> None:
    words = text.split()
    look = "all => all.map(cell => [cell.getAttribute('aria-label'), cell.getBoundingClientRect().x])"
    for kind in ("phrases", "arcs"):
        page.goto(serve(kind).url)
        ask(page, text)
        places = {}
        for label, x in page.eval_on_selector_all("#chart .cell", look):
            over = re.split("”|→|,", label)[0].strip(" “").split()
            places[words.index(over[0]) + words.index(over[-1])] = round(x, 1)
        across = [x for _, x in sorted(places.items())]
        assert len(across) > 1
        assert across == sorted(across, reverse=words[0] != "The"), places


def test_what_is_wrong_is_in_sight_on_a_phone_and_the_input_can_be_had_again(serve: Any, tab: Any) -> None:
    page = tab(390, 844, has_touch=True)
    page.goto(serve().url)
    page.locator("#tab-queue").tap()
    page.locator("#queue li button >> text=A teacher").tap()
    wait(page, "document.querySelectorAll('.word').length === 12")
    page.locator(node("NP 3 5")).tap()
    page.fill("#editor input", "NPX")
    page.keyboard.press("Enter")
    page.wait_for_selector("#editor .unmet")
    box = page.locator("#editor .unmet").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 844
    # A new constituent closes the panel: the page says it.
    page.evaluate("document.querySelector('.word[data-word=\"3\"]').focus()")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("e")
    page.keyboard.type("QQQ")
    page.keyboard.press("Enter")
    says(page, "A correction cannot be satisfied")
    assert page.is_hidden("#sentence")
    page.locator("#tab-parse").tap()
    ask(page, "The teacher saw the dog .")
    page.locator("#tab-treebank").tap()
    assert page.locator("#pattern").bounding_box()["width"] > 200


def test_letters_of_ones_own_the_list_and_how_far_the_queue_is(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    page.click("#tab-queue")
    wait(page, "document.getElementById('queue-progress').textContent.endsWith(' of 2')")
    page.click("#tab-parse")
    ask(page, TEXT)
    # A letter is given another label, which stays after a reload and is set by one key.
    page.locator("#drawing").focus()
    page.keyboard.press("?")
    page.fill('#help input[aria-label="label of the key Z"]', "SBAR")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.reload()
    until(page, "NP 3 5")
    page.click(node("NP 3 5"))
    page.keyboard.press("Shift+Z")
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    assert "SBAR" in page.text_content("#fixes")
    page.keyboard.press("u")
    wait(page, "document.querySelectorAll('#fixes li').length === 0")
    # The tree as an indented list has every constituent, and each can be selected.
    page.keyboard.press("o")
    page.wait_for_selector(".outline")
    shown = page.text_content(".outline")
    assert all(word in shown for word in TEXT.split())
    page.locator('.outline .word[data-word="3"]').click()
    assert page.text_content("#editor .quote") == "“the”"
    page.keyboard.press("Shift+ArrowRight")
    assert page.text_content("#editor .quote") == "“the dog”"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.label") == "NP"
    if AXE.exists():
        assert not faults(page)
    page.keyboard.press("o")
    until(page, "NP 3 5")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm install --prefix tests/web)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(serve: Any, tab: Any, scheme: str) -> None:
    served = serve()
    page = tab(color_scheme=scheme)
    page.goto(served.url)
    ask(page, TEXT)
    page.keyboard.press("Escape")
    page.locator("#drawing").focus()
    page.keyboard.press("n")
    page.keyboard.press("1")
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    assert not faults(page)
    for view in ("queue", "treebank", "people", "model"):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(400)
        serious = faults(page)
        assert not serious, (view, serious)
