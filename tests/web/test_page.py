"""The page in a real browser: type, hover, fix, accept, learn, reload, restart; by mouse and by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from web.browser import TEXT, ask, spans, until, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium


def test_type_hover_fix_accept_learn_reload_restart(serve: Any, page: Any) -> None:
    served = serve(workers=1)
    page.goto(served.url)
    ask(page, TEXT)
    assert page.text_content("#confidence").endswith("%")
    assert float(page.text_content("#logprob")) < 0

    prepositional = page.locator('.node[data-label="PP"]').first
    prepositional.hover()
    assert "PP" in page.text_content("#tip")
    assert "%" in page.text_content("#tip")

    # Click to forbid: the rest is completed by the parser.
    first, end = (prepositional.get_attribute(f"data-{side}") for side in ("first", "end"))
    gone = f"PP {first} {end}"
    prepositional.click()
    page.click("[data-act=forbid]")
    until(page, gone, there=False)
    assert page.locator("#fixes li").count() == 1

    # Undo, redo, by keys.
    page.locator("#drawing").focus()
    page.keyboard.press("Control+z")
    until(page, gone)
    page.keyboard.press("Control+y")
    until(page, gone, there=False)

    # Drag over words to make a constituent.
    page.locator('.word[data-word="3"]').hover()
    page.mouse.down()
    page.locator('.word[data-word="4"]').hover()
    page.locator('.word[data-word="7"]').hover()
    page.mouse.up()
    page.fill("#editor input", "NP")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('#fixes li').length === 2")
    until(page, "NP 3 8")

    # A reload finds the sentence, the corrections and their past.
    shown = spans(page)
    page.reload()
    until(page, "NP 3 8")
    assert spans(page) == shown
    assert page.locator("#fixes li").count() == 2
    assert page.is_enabled("#undo")

    for kind, beginning in (("text", "(TOP (S "), ("annotated", "(TOP@")):
        page.click("#download summary")
        with page.expect_download() as got:
            page.click(f"#download [data-format={kind}]")
        assert Path(got.value.path()).read_text().startswith(beginning)

    page.click("#accept")
    wait(page, "document.getElementById('message').textContent.startsWith('Accepted')")
    bank = lg.Treebank.read(served.session.annotations.path)
    assert ("NP", 3, 8) in set(bank[-1].spans())
    assert len(bank) == 301

    page.click("#refit")
    wait(page, "document.getElementById('save').offsetParent !== null", 60)
    assert served.session.parser.model.provenance.data_size == 301

    # The server goes and comes back on the same port: the page says so and goes on.
    served.close()
    page.wait_for_selector("#connection:not([hidden])")
    again = serve(workers=0, port=served.port)
    page.wait_for_selector("#connection", state="hidden")
    assert page.text_content("#learning").startswith("1 accepted")
    ask(page, "The dog sleeps .")
    assert again.get("/api/status")["accepted"] == 1


def test_keys_alone_are_enough(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    ask(page, TEXT)
    page.locator("#drawing").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.label") == "S"
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.word") == "0"
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    assert page.locator(".word.chosen").count() == 5
    page.keyboard.press("Enter")
    page.locator("#editor input").focus()
    page.keyboard.type("NP")
    page.keyboard.press("Enter")
    until(page, "NP 3 8")
    page.keyboard.press("Control+Enter")
    wait(page, "document.getElementById('message').textContent.startsWith('Accepted')")
    assert served.get("/api/status")["accepted"] == 1


def test_heads_downloads_and_models_of_a_dependency_parser(serve: Any, page: Any) -> None:
    served = serve("arcs")
    page.goto(served.url)
    ask(page, "The teacher saw the dog in the garden .")
    page.locator('.arc[data-modifier="7"] text').hover()
    assert "garden" in page.text_content("#tip")
    head = page.get_attribute('.arc[data-modifier="7"]', "data-head")
    page.locator('.arc[data-modifier="7"] text').click()
    page.click("[data-act=forbid]")
    wait(page, f"document.querySelector('.arc[data-modifier=\"7\"]').dataset.head !== '{head}'")
    page.locator('.arc[data-modifier="7"] text').click()
    page.fill("#editor input[list=relations]", "obl")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('#fixes li').length === 2")
    assert page.input_value("#by-hand").split("\n8\t")[1].split("\t")[6] == "obl"
    for kind, beginning in (("svg", b"<svg"), ("png", b"\x89PNG"), ("text", b"#"), ("json", b"{")):
        page.click("#download summary")
        with page.expect_download() as got:
            page.click(f"#download [data-format={kind}]")
        assert Path(got.value.path()).read_bytes().startswith(beginning)
    page.click("#tree-after")
    assert page.text_content("#tree-number").startswith("2 of")
    page.click("#tab-model")
    page.wait_for_selector(".state")
    assert page.evaluate("document.querySelector('.picture').shadowRoot.querySelector('svg') !== null")


def test_the_queue_leads_from_one_sentence_to_the_next(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    page.click("#tab-queue")
    page.fill("#more", "The dog sleeps .\nThe teacher sleeps in the garden .")
    page.click("#add button[type=submit]")
    wait(page, "document.querySelectorAll('#queue li').length === 4")
    page.click("#queue li:first-child button")
    before = page.input_value("#sentence")
    page.wait_for_selector("#accept:not(:disabled)")
    page.click("#accept")
    wait(page, f"document.getElementById('sentence').value !== {before!r}")
    assert served.get("/api/queue")["waiting"] == 3


def test_a_pasted_text_is_stepped_through(serve: Any, page: Any) -> None:
    served = serve()
    page.goto(served.url)
    page.fill("#sentence", "The dog doesn't sleep. The teacher saw it. The dog sleeps.")
    page.press("#sentence", "Enter")
    wait(page, "document.querySelectorAll('.word').length === 6")
    wait(page, "document.querySelectorAll('#pasted-list li').length === 3")
    wait(page, 'document.getElementById("sentence").value === "The dog doesn\'t sleep."')
    page.focus("#pasted-list [tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait(page, "document.getElementById('sentence').value === 'The teacher saw it.'")
    page.wait_for_selector("#accept:not(:disabled)")
    page.click("#accept")
    wait(page, "document.getElementById('sentence').value === 'The dog sleeps.'")
    wait(page, "document.querySelector('#pasted-list li:nth-child(2) .n').textContent === '✓ 2'")
    page.reload()
    wait(page, "document.querySelectorAll('#pasted-list li').length === 3")
    wait(page, "document.getElementById('pasted-number').textContent === 'Sentence 3 of 3'")
    # As it is, with the words separated by spaces; and the labels that may be set are offered.
    page.check("#tokenised")
    ask(page, "The dog sleeps.")
    assert page.is_hidden("#pasted")
    assert page.eval_on_selector_all("#labels option", "all => all.map(o => o.value)")
    assert page.eval_on_selector_all("#tags option", "all => all.map(o => o.value)")


def test_a_long_paste_and_sixty_words(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    ask(page, "The dog sleeps .")
    page.fill("#sentence", "word " * 10_000)
    page.press("#sentence", "Enter")
    wait(page, "document.getElementById('message').textContent.includes('10,000 words')")
    assert page.is_hidden("#result")
    ask(page, " ".join(["the dog and"] * 19 + ["the dog sleeps ."]))
    assert page.evaluate("document.querySelector('#drawing svg').getBoundingClientRect().height") > 200
    words = page.locator(".word").count()
    page.locator(".node:not(.tag)").nth(2).dblclick()
    wait(page, f"document.querySelectorAll('.word').length < {words}")


def test_dependents_are_folded_under_their_head_by_mouse_and_by_keys(serve: Any, page: Any) -> None:
    page.goto(serve("arcs").url)
    ask(page, "The teacher saw the dog in the garden of the museum .")
    heads = page.eval_on_selector_all(".arc", "all => all.map(a => [+a.dataset.modifier, +a.dataset.head])")
    root = next(modifier for modifier, head in heads if head == 0)
    page.locator(f'.word[data-word="{root}"]').dblclick()
    wait(page, "document.querySelectorAll('.word').length === 1")
    assert page.locator(".word.folded").text_content() == "The … saw … ."
    assert page.locator(".arc").count() == 1
    page.keyboard.press("Space")
    wait(page, "document.querySelectorAll('.word').length === 12")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    # "The" has nothing under it, its head has: one word less, and the arrows pass over what is hidden.
    page.locator("#drawing").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.locator(".word").count() == 12
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    wait(page, "document.querySelectorAll('.word').length === 11")
    assert page.locator(".word.folded").text_content() == "The teacher"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.word") == "1"
    # The panel stands beside the tree and never over it.
    page.locator('.word[data-word="1"]').click()
    panel, drawing = (page.locator(name).bounding_box() for name in ("#editor", "#drawing"))
    assert panel["x"] >= drawing["x"] + drawing["width"]


@pytest.mark.parametrize("kind", ["phrases", "arcs"])
def test_the_chart_is_read_by_keys(serve: Any, page: Any, kind: str) -> None:
    page.goto(serve(kind).url)
    ask(page, "The teacher saw the dog in the garden .")
    assert page.locator('.chart .cell[tabindex="0"]').count() == 1
    page.locator('.chart .cell[tabindex="0"]').focus()
    seen = set()
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft") * 3:
        page.keyboard.press(key)
        name = page.evaluate("document.activeElement.getAttribute('aria-label')")
        seen.add(name)
        assert "%" in name
        assert page.is_visible("#tip")
    assert len(seen) >= 3
    assert page.locator('.chart .cell[tabindex="0"]').count() == 1
    page.keyboard.press("Tab")
    assert page.is_hidden("#tip")


def test_every_control_has_a_name_and_the_page_reads_well_in_both_lights(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    ask(page, TEXT)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, select, [role=button], [role=tab]")]
            .filter(e => e.offsetParent || e.ownerSVGElement)
            .filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length))
            .map(e => e.outerHTML)"""
    )
    assert nameless == []
    assert page.evaluate("document.documentElement.lang") == "en"
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for pair in (("--ink", "--ground"), ("--soft", "--card"), ("--sure", "--card"), ("--unsure", "--card")):
            assert contrast(*(page.evaluate(COLOUR, name) for name in pair)) >= 4.5, (theme, pair)
        assert contrast(page.evaluate(COLOUR, "--accent-ink"), page.evaluate(COLOUR, "--accent")) >= 4.5


COLOUR = """name => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    return found;
}"""


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""

    def luminance(colour: list[float]) -> float:
        parts = [c / 255 for c in colour]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
