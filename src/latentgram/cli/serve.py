"""`latentgram serve MODEL.lg`: the page to look at parses, correct them, and have the parser learn from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[Path, typer.Argument(help="Model file of a parser.")],
    treebank: Annotated[
        Path | None, typer.Option(help="File that accepted trees are appended to; made if it is not there.")
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(
            help="Trees that the model was learned from, if they are not in the treebank: to learn anew."
        ),
    ] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="Sentences for the queue: text, tagged text or CoNLL-U.")
    ] = None,
    tokenised: Annotated[
        bool,
        typer.Option("--tokenised", help="Text in --sentences is one sentence a line, tokens parted by blanks."),
    ] = False,
    heldout: Annotated[
        Path | None, typer.Option(help="Trees to measure the parser on as it learns; it never learns from them.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one other than this machine's own demands a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; the next free one is taken.")] = 8765,
    token: Annotated[str | None, typer.Option(help="What every request must carry; else one is made up.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that parse.")] = 2,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open a local page: see the parse and its doubt, correct it, accept it; the parser learns it at once."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.errors import SettingError

    try:
        from latentgram.web.server import serve as run
    except ModuleNotFoundError as error:
        raise SettingError(f"the page needs {error.name}: pip install 'latentgram[web]'") from None
    from latentgram.web.session import Session

    parser = latentgram.load(model, latentgram.Parser)
    rules = None if tokenised else parser.tokeniser or latentgram.Tokeniser()
    waiting = latentgram.Treebank.stream_sentences(sentences, tokeniser=rules) if sentences is not None else ()
    session = Session(
        parser,
        model_path=model,
        treebank=treebank,
        train=train or (),
        sentences=list(waiting),
        heldout=heldout,
        workers=workers,
    )
    run(session, host=host, port=port, token=token, browser=not no_browser, say=say)
