"""What the experiments of the papers share: learning and scoring on the parts of a treebank, tables and curves.

Every choice is made on the development part; the test part is scored only when asked for, with the grammars
chosen. Times are processor seconds of one core, from trees in memory to a grammar; `n_jobs` processes share the
parsing alone, which is most of the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, TypeVar

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.protocols import Decoder, Model
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.parser.parser import Parser
from latentgram.progress import Progress, Silent

Grammar = TypeVar("Grammar", bound=Model)
Item = TypeVar("Item", Tree, DependencyTree)
Made = TypeVar("Made")


class Results(NamedTuple):
    """What a run leaves: its figures as plain values, a page of Markdown, and plots and tables by file name."""

    figures: dict[str, object]
    page: str
    files: dict[str, str]


@dataclass(frozen=True)
class Row:
    """One grammar: its name, states, rounds of EM, score on the development part, and seconds of learning."""

    name: str
    states: int
    rounds: int
    dev: float
    seconds: float


class Experiment(Generic[Grammar, Item]):
    """Grammars learned from the training part of a treebank and scored on its development part."""

    PAPER: ClassVar[str]
    SUFFIX: ClassVar[str]
    FIGURE: ClassVar[str]
    DECODER: ClassVar[Decoder | None] = None
    """None is the default of the grammar."""
    GOLD_TAGS: ClassVar[bool] = False

    def __init__(
        self,
        folder: Path,
        read: Callable[[Path], Treebank[Item]],
        progress: Progress | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.folder, self.n_jobs = folder, n_jobs
        self.read: Callable[[Path], Treebank[Item]] = read
        self.train: Treebank[Item] = self.part("train")
        self.dev: Treebank[Item] = self.part("dev")
        self.progress = progress or Silent()
        self.scored = 0
        self.models: dict[Row, Grammar] = {}
        """Those that are kept, to be scored again."""

    def part(self, name: str) -> Treebank[Item]:
        """The training, development or test part."""
        return read_part(self.folder, f"{name}.{self.SUFFIX}", self.read)

    def accuracy(
        self,
        grammar: Model,
        treebank: Treebank[Item],
        decoder: Decoder | None = None,
        pruning: Pruning | None = None,
    ) -> float:
        """The headline of the score on a part."""
        parser = Parser(grammar, decoder or self.DECODER, pruning=pruning)
        return parser.evaluate(treebank, gold_tags=self.GOLD_TAGS, n_jobs=self.n_jobs).headline

    def score(self, grammar: Model, decoder: Decoder | None = None, pruning: Pruning | None = None) -> float:
        """The accuracy on the development part, which is told to who waits."""
        accuracy = self.accuracy(grammar, self.dev, decoder, pruning)
        self.scored += 1
        self.progress.step(self.PAPER, self.scored, None, **{self.FIGURE: accuracy})
        return accuracy

    def row(
        self, name: str, model: type[Grammar], by: Settings, states: int = 0, rounds: int = 0, *, keep: bool = True
    ) -> Row:
        """Learn a grammar and score it."""
        grammar, seconds = timed(lambda: fit(model, self.train, by=by))
        return self.scored_row(name, grammar, seconds, states, rounds, keep=keep)

    def scored_row(
        self, name: str, grammar: Grammar, seconds: float, states: int = 0, rounds: int = 0, *, keep: bool = True
    ) -> Row:
        """Score a grammar that is learned."""
        row = Row(name, states, rounds, self.score(grammar), seconds)
        if keep:
            self.models[row] = grammar
        return row

    def on_test(self, rows: Iterable[Row]) -> list[float]:
        """The accuracy of chosen grammars on the test part."""
        test = self.part("test")
        return [self.accuracy(self.models[row], test) for row in rows]


def read_part(folder: Path, file: str, read: Callable[[Path], Treebank[Item]]) -> Treebank[Item]:
    """A part of a treebank, which has to have trees."""
    path = folder / file
    if not path.exists():
        raise DataError(f"{file} does not exist: the folder of a treebank needs train, dev and test", path=folder)
    part = read(path)
    if not len(part):
        raise DataError("there are no trees in this part of the treebank", path=path)
    return part


def read_phrases(path: Path) -> Treebank[Tree]:
    """A constituency treebank."""
    return Treebank.read(path, "brackets")


def read_dependencies(path: Path) -> Treebank[DependencyTree]:
    """A dependency treebank."""
    return Treebank.read(path, "conllu")


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """What some work makes, and the processor seconds it takes."""
    started = time.process_time()
    made = work()
    return made, time.process_time() - started


def best(rows: Iterable[Row], *names: str) -> Row:
    """The row (of these names, where there are any) with the best score on dev; the smaller of equals."""
    chosen = (row for row in rows if not names or row.name in names)
    return max(chosen, key=lambda row: (row.dev, -row.states, -row.rounds))


def curves(
    rows: Iterable[Row],
    name: Callable[[Row], str] = lambda row: row.name,
    x: Callable[[Row], int] = lambda row: row.states,
) -> dict[str, list[tuple[float, float]]]:
    """Scores on the development part against the states, a curve for each name."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        points.setdefault(name(row), []).append((float(x(row)), row.dev))
    return points


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: Container[int] = (0,)) -> list[str]:
    """The lines of a table, a blank one behind it; the columns `left` are text, the others numbers.

    >>> table(["", "F1"], [["PCFG", "68.6"]])
    ['|  | F1 |', '|---|--:|', '| PCFG | 68.6 |', '']
    >>> table(["", "UAS"], [["log |p|", "84.4"]])[2]
    '| log \\\\|p\\\\| | 84.4 |'
    """
    sides = ["---" if column in left else "--:" for column in range(len(head))]
    cells = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in (head, *rows)]
    return [cells[0], "|" + "|".join(sides) + "|", *cells[1:], ""]
