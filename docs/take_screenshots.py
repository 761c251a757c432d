"""Take the pictures of the page for the README and the guide: `python docs/take_screenshots.py`.

Serves a latent grammar of the demo treebank, opens the page in Chromium, corrects a tree, and writes page.png,
page-dark.png, page-changes.png, page-treebank.png, page-people.png and page-model.png into docs/_static; and
page-arcs.png of an arc-factored parser of the demo dependencies. Needs `playwright` and a Chromium (`CHROMIUM`, or
`chromium` on the path).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import uvicorn
from playwright.sync_api import Page, sync_playwright

import latentgram as lg
import latentgram.web.annotations as written
from latentgram.web.api import create_app
from latentgram.web.session import Session

STATIC = Path(__file__).parent / "_static"
SENTENCE = "The old teacher pushed green necklaces into the narrow cellar of the museum in the garden with a map ."
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


QUEUE = lg.demo_treebank(40, seed=7)


def serve(folder: Path) -> tuple[uvicorn.Server, str]:
    """A server with a grammar of the demo treebank."""
    clock = count(time.time() - 3600, 70.0)
    written.time = SimpleNamespace(time=lambda: next(clock))  # as if by hand
    bank = lg.demo_treebank(1500, seed=0)
    bank.write(folder / "garden.mrg")
    lg.demo_treebank(50, seed=11).write(folder / "heldout.mrg")
    parser = lg.Parser(lg.fit(lg.LPCFG, bank, by=lg.Clustering(states=4)))
    lg.save(parser, folder / "garden.lg")
    waiting = [lg.Sentence(tree.words) for tree in QUEUE]
    session = Session(
        parser,
        model_path=folder / "garden.lg",
        treebank=folder / "garden.mrg",
        sentences=waiting,
        heldout=folder / "heldout.mrg",
        workers=1,
    )
    return listening(session)


def serve_arcs(folder: Path) -> tuple[uvicorn.Server, str]:
    """A server with a parser of the demo dependencies, and rows of CoNLL-U to annotate."""
    bank = lg.demo_dependencies(400, seed=0)
    bank.write(folder / "garden.conllu")
    parser = lg.Parser(lg.fit(lg.ArcFactored, bank, by=lg.MIRA()))
    return listening(Session(parser, treebank=folder / "garden.conllu", sentences=lg.demo_dependencies(9, seed=7)))


def listening(session: Session) -> tuple[uvicorn.Server, str]:
    """A server on a free port, and its address."""
    server = uvicorn.Server(uvicorn.Config(create_app(session), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        threading.Event().wait(0.05)
    return server, f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}/"


def wait(page: Page, condition: str, seconds: float = 20.0) -> None:
    """Until something holds; the page may not evaluate strings, so it is asked again and again."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(30)


def take(page: Page, address: str) -> None:
    """Accept a few trees of the queue, so that there is something to see."""
    page.goto(address)
    wait(page, "document.getElementById('queue-count').textContent > 0")
    page.click("#tab-queue")
    wait(page, "document.querySelectorAll('#queue button').length > 30")
    page.click("#queue button")
    for done in range(8):
        page.wait_for_selector("#accept:not(:disabled)")
        words = tuple(page.input_value("#sentence").split())
        page.evaluate("document.querySelector('#by-hand').closest('details').open = true")
        page.fill("#by-hand", str(next(tree for tree in QUEUE if tree.words == words)))
        page.click("#accept-text")
        wait(page, f"document.getElementById('learning').textContent.startsWith('{done + 1} accepted')")
        page.wait_for_timeout(500)
    page.evaluate("document.querySelector('#by-hand').closest('details').open = false")
    page.evaluate("sessionStorage.removeItem('work')")
    page.reload()


def annotate_twice(page: Page, address: str) -> None:
    """Trees of the same sentences by two people."""
    for number, tree in enumerate(QUEUE[20:26]):
        trees = page.request.post(f"{address}api/parse", data={"words": tree.words, "count": 2}).json()["trees"]
        for name, text, over in (("Ann", str(tree), "add"), ("Bob", trees[number % 2]["plain"], "beside")):
            work = {"id": f"picture-{number}-{name}", "tree": text, "annotator": name, "over": over}
            page.request.post(f"{address}api/accept", data={**work, "proposed": trees[0]["plain"]})
    for tree in QUEUE[26:32]:
        page.request.post(f"{address}api/note", data={"words": tree.words, "assigned": "Bob"})


def take_arcs(page: Page, address: str) -> None:
    """A sentence of a CoNLL-U queue, one of its words on the way to another head."""
    page.goto(address)
    page.click("#tab-queue")
    page.check("input[value=file]")
    page.click("#queue li:nth-child(2) button")
    page.wait_for_selector("#accept:not(:disabled)")
    page.locator('.word[data-word="12"]').click()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(500)
    page.screenshot(path=STATIC / "page-arcs.png")


def ask(page: Page) -> None:
    """The sentence of the pictures."""
    page.fill("#sentence", SENTENCE)
    page.click("#parse")
    wait(page, f"document.querySelectorAll('.word').length === {len(SENTENCE.split())}")
    page.wait_for_timeout(800)


def main() -> None:
    """Write the pictures."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        server, address = serve(Path(folder))
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        page.set_default_timeout(120_000)  # the first parse after a change compiles
        page.add_init_script("localStorage.setItem('annotator', 'Ann')")
        take(page, address)
        ask(page)
        page.keyboard.press("Escape")
        page.locator("#drawing").focus()
        page.keyboard.press("n")
        for scheme, name in (("light", "page.png"), ("dark", "page-dark.png")):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)
            page.screenshot(path=STATIC / name)
        page.emulate_media(color_scheme="light")
        page.locator('.node[data-label="PP"]').first.click()
        page.click("[data-act=forbid-all]")
        page.wait_for_selector("#changes:not([hidden])")
        page.locator('.node[data-label="NP"]').first.click()
        page.fill("#editor input", "NPX")
        page.keyboard.press("Enter")
        page.wait_for_selector("#fixes .unmet")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.wait_for_timeout(300)
        page.mouse.move(600, 700)
        page.wait_for_timeout(200)
        page.screenshot(path=STATIC / "page-changes.png")
        page.click("#tab-treebank")
        page.fill("#pattern", "VP < (NP < PP)")
        page.keyboard.press("Enter")
        wait(page, "document.querySelectorAll('#bank mark').length > 3")
        page.screenshot(path=STATIC / "page-treebank.png")
        annotate_twice(page, address)
        page.click("#tab-people")
        page.click(".dispute summary")
        page.set_viewport_size({"width": 1366, "height": 1000})
        page.screenshot(path=STATIC / "page-people.png")
        page.set_viewport_size({"width": 1366, "height": 768})
        page.click("#tab-model")
        page.click('#symbols [data-name="NP"]')
        wait(page, "document.querySelectorAll('#symbol figure').length > 3")
        page.screenshot(path=STATIC / "page-model.png")
        other, address = serve_arcs(Path(folder))
        take_arcs(page, address)
        other.should_exit = True
        browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()
