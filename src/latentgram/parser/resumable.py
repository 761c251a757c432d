"""Answers to many questions written to a file, to be taken up again where they stopped, nothing lost or doubled.

What a mark remembers (data/partial_output.py) is how many questions are answered and a digest of them all. On
resuming the input is read again from its beginning, which costs little beside parsing, and the digest shows that
these questions were the same; input that has grown at its end since then is fine. Model and settings are compared
by the identity of the output. Marks stand between batches, so batches fall as they would have without a break.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from latentgram.data.files import PathLike
from latentgram.data.partial_output import part_of, partial_output
from latentgram.errors import DataError
from latentgram.parallel import Engine
from latentgram.parser.answers import Question, Request, Written, answers
from latentgram.parser.parser import Parser


@dataclass(frozen=True)
class Tally:
    """How far a run is: sentences read and written about, those with fallback trees, and faults left out."""

    sentences: int = 0
    fallbacks: int = 0
    faults: int = 0
    first_fault: str = ""

    def __add__(self, batch: Written) -> Tally:
        return Tally(
            self.sentences + batch.sentences,
            self.fallbacks + batch.fallbacks,
            self.faults + len(batch.faults),
            self.first_fault or next((str(fault) for fault in batch.faults), ""),
        )


def write_answers(
    parser: Parser,
    questions: Iterable[Question],
    path: PathLike,
    identity: Mapping[str, object],
    request: Request | None = None,
    *,
    resume: bool = False,
    skip_faults: bool = False,
    engine: Engine | None = None,
) -> Iterator[Tally]:
    """Write the answers to a file, yielding the tally after each batch, and first of all where the work begins.

    `identity` names model and settings; see `partial_output`.
    """
    source = iter(questions)
    digest = hashlib.sha256()
    read: deque[str] = deque()

    def noted() -> Iterator[Question]:
        for question in source:
            digest.update(question.content)
            read.append(digest.hexdigest())
            yield question

    with partial_output(path, identity, resume=resume) as output:
        state = dict(output.state)
        seen = state.pop("digest", digest.hexdigest())
        restored: Callable[..., Tally] = Tally  # the state is what `vars` said of one
        tally = restored(**state)
        for question in islice(source, tally.sentences):
            digest.update(question.content)
        if digest.hexdigest() != seen:
            raise DataError(
                f"the first {tally.sentences} sentences of the input are not those it was made of",
                path=part_of(path),
            )
        yield tally
        for batch in answers(parser, noted(), request, skip_faults=skip_faults, engine=engine):
            if batch.faults and not skip_faults:
                raise batch.faults[0]
            tally += batch
            for _ in range(batch.sentences):
                seen = read.popleft()
            output.append(batch.text, {**vars(tally), "digest": seen})
            yield tally
