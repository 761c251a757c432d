"""`latentgram serve MODEL.lg`: the page, where parses are corrected and the parser learns from it."""

from __future__ import annotations

from pathlib import Path

from latentgram.cli.options import argument, command, flag, option, options


@options
class Serving:
    """What is asked of `latentgram serve`."""

    model: Path = argument("Model file of a parser.")
    treebank: Path | None = option(
        None, "File to which accepted trees are appended; created if it does not exist."
    )
    train: list[Path] | None = option(
        None, "Trees that the model was learned from, if they are not in the treebank; needed for full retraining."
    )
    sentences: Path | None = option(None, "Sentences for the queue: text, tagged text or CoNLL-U.")
    tokenised: bool = flag(
        "--tokenised", "The text in --sentences has one sentence per line, with tokens separated by spaces."
    )
    heldout: Path | None = option(None, "Trees on which accuracy is measured as the parser learns.")
    host: str = option("127.0.0.1", "Address to listen on; any address other than this machine requires a token.")
    port: int = option(8765, "Port; if it is in use, the next free one.", min=0, max=65535)
    token: str | None = option(None, "Secret that every request must contain; by default a random one.")
    workers: int = option(2, "Number of parsing processes.", min=1, max=64)
    annotator: str = option("", "Name of the annotator; by default the page asks for it.")
    guidelines: Path | None = option(None, "Notes on labels, shown on the page: a Markdown file with headings.")
    double: float = option(
        0.0, "Proportion of the queue that two people annotate, to measure their agreement.", min=0, max=1
    )
    no_browser: bool = flag("--no-browser", "Do not open a browser.")


@command
def serve(asked: Serving) -> None:
    """Open a local page to see parses with their confidence, correct and accept them, and train the parser."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.errors import SettingError
    from latentgram.parallel.fork import can_fork

    try:
        from latentgram.web.workers import Workers

        parser = latentgram.load(asked.model, latentgram.Parser)
        workers = Workers(parser, asked.workers)
        workers.begin(copied=can_fork())  # they get ready while this process makes the page
        from latentgram.web.server import serve as run
    except ModuleNotFoundError as error:
        raise SettingError(f"the page needs {error.name}: pip install 'latentgram[web]'") from None
    from latentgram.web.session import Session

    rules = None if asked.tokenised else parser.cutter
    # Rows of CoNLL-U stay as they are but for what is annotated, so they come whole.
    unparsed = latentgram.Treebank.stream_unparsed
    waiting = () if asked.sentences is None else (each for _, each in unparsed(asked.sentences, tokeniser=rules))
    session = Session(
        parser,
        model_path=asked.model,
        treebank=asked.treebank,
        train=asked.train or (),
        sentences=waiting,
        heldout=asked.heldout,
        workers=workers,
        annotator=asked.annotator,
        double=asked.double,
        guidelines=asked.guidelines,
    )
    run(session, host=asked.host, port=asked.port, token=asked.token, browser=not asked.no_browser, say=say)
