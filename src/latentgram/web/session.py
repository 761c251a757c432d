"""`Session`: what the page works on: a parser that grows with every accepted tree, a treebank and a queue.

An accepted tree is appended to the treebank and learned from at once: its counts are added to those of
the grammar, or an online learner goes on with it, which takes a moment whatever the size of the treebank. Learning
anew goes on in a process of its own (refit.py); what was accepted meanwhile updates its result. Models
without their statistics (head automata of older files) are learned anew after each acceptance if that takes
seconds, else now and then.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError, LatentgramError, SettingError
from latentgram.kinds.kind import PHRASES
from latentgram.kinds.learners import Counting
from latentgram.kinds.protocols import AnyTree, Inspection, Model
from latentgram.kinds.registry import kind_of, learner_of, update_model, updates
from latentgram.learn.fit import fit
from latentgram.parser.parser import Parser
from latentgram.sequences.hmm import HMM
from latentgram.store import save
from latentgram.web.annotations import Annotations, small_tree, warm
from latentgram.web.heldout import HeldOut
from latentgram.web.history import Accepted
from latentgram.web.refit import Refit
from latentgram.web.schemas import MAX_WORDS, Kind, ParseRequest
from latentgram.web.waiting import Queue
from latentgram.web.workers import Workers

QUICK = 5.0
"""Seconds of learning that are spent after every acceptance."""
EVERY = 10
"""Acceptances after which a model is learned anew in any case."""
_JOIN = "\u241f"


class Session:
    """The state behind the page; its methods may be called from any thread."""

    def __init__(
        self,
        parser: Parser,
        *,
        model_path: Path | None = None,
        treebank: Path | None = None,
        train: Sequence[Path] = (),
        sentences: Iterable[Sentence] = (),
        heldout: Path | None = None,
        workers: int = 2,
    ) -> None:
        self.instance = secrets.token_hex(8)
        self.kind: Kind = "constituency" if kind_of(parser.model).reads == PHRASES else "dependency"
        self.annotations = Annotations(self.kind, treebank)
        self.model_path = model_path
        self.heldout = None if heldout is None else self._held_out(heldout, parser.model)
        self.saved = True
        self._lock = threading.RLock()
        self._train: Treebank[AnyTree] | None = Treebank.read(train) if train else None
        self._pending: list[AnyTree] = []
        """Accepted since the data of the last learning were read."""
        self._learning: list[AnyTree] = []
        """Accepted before that, and in the data of the learning that is under way."""
        self._inside: tuple[Model, Inspection] | None = None
        self.workers = Workers(parser, workers)
        self.refit = Refit(self._adopt)
        data = self._data()
        self.why_not_refit = self._reason(parser.model, data)
        self._catch_up(parser, data)
        self.learned_version = self.version
        """The version that was last learned anew, or read from the file."""
        self._bare = self.kind == DEPENDENCY and parser.tagger is None
        self.guesser = TagGuesser.of(data) if self._bare and len(data) else None
        """For a model that works on tags and has no tagger of its own."""
        self.queue = Queue()
        self.queue.add(list(sentences))
        for tree in self.annotations.read().sentences():
            self.queue.finish(tree.words)

    def _held_out(self, path: Path, model: Model) -> HeldOut:
        """Held-out trees, with the scores that the history tells of them."""
        trees = Treebank.read(path)
        if trees.kind != self.kind or not len(trees):
            what = f"these are {trees.kind}" if len(trees) else "there are none"
            raise DataError(f"the held-out trees must be {self.kind} trees, and {what}", path=path)
        if trees.digest == model.provenance.data_digest:
            raise DataError("the model was learned from these very trees: they are not held out", path=path)
        return HeldOut(trees, [each for each in self.annotations.measured if each.digest == trees.digest])

    @property
    def parser(self) -> Parser:
        """The parser of this moment."""
        return self.workers.parser

    @property
    def inside(self) -> Inspection | None:
        """Looks into the model of this moment, if there is something to see; what was found is kept."""
        model, kind = self.parser.model, kind_of(self.parser.model)
        if not kind.inspect:
            return None
        if self._inside is None or self._inside[0] is not model:
            self._inside = model, kind.inspection()(model)
        return self._inside[1]

    @property
    def version(self) -> int:
        """How often the parser has changed."""
        return self.workers.version

    def start(self) -> None:
        """Start the workers; learn anew a model that cannot be updated."""
        self.workers.start()
        threading.Thread(target=self._warm, daemon=True).start()
        if self._pending and not self._updates and self.why_not_refit is None:
            self.start_refit()

    def _warm(self) -> None:
        """Load the compiled kernels that accepting a tree needs."""
        warm(self.kind)
        if self._updates:
            with contextlib.suppress(LatentgramError):
                update_model(self.parser.model, [small_tree(self.kind)])
                if self.parser.tagger is not None:
                    update_model(self.parser.tagger, [small_tree(self.kind).sentence])

    def close(self) -> None:
        """End all processes."""
        self.refit.cancel()
        self.workers.close()

    def _data(self) -> Treebank[AnyTree]:
        """All trees there are to learn from."""
        own = self.annotations.read()
        return own if self._train is None else self._train + own

    def _reason(self, model: Model, data: Treebank[AnyTree]) -> str | None:
        """Why the model cannot be learned anew, or None."""
        try:
            learner_of(type(model).__name__, model.provenance)
        except LatentgramError as error:
            return str(error)
        size = model.provenance.data_size
        if size > len(data) or data[:size].digest != model.provenance.data_digest:
            return "the trees that the model was learned from are needed: name them with --train"
        return None

    def _catch_up(self, parser: Parser, data: Treebank[AnyTree]) -> None:
        """Learn from the trees of the treebank that the model has not seen."""
        unseen = self.annotations.read() if self.why_not_refit else data[parser.model.provenance.data_size :]
        if len(unseen) and self._updates:
            self._grow(list(unseen))
        self._pending = list(unseen)

    @property
    def _updates(self) -> bool:
        return updates(self.parser.model)

    def _grow(self, trees: list[AnyTree]) -> None:
        model, tagger = update_model(self.parser.model, trees), self.parser.tagger
        if tagger is not None:
            tagger = update_model(tagger, [tree.sentence for tree in trees])
        self._set(dataclasses.replace(self.parser, model=model, tagger=tagger))

    def _set(self, parser: Parser) -> None:
        self.workers.set_parser(parser, self.version + 1)
        self.saved = False

    def cut(self, text: str, tokenised: bool) -> list[Sentence]:
        """The sentences of a text: one a line, if it is tokenised."""
        lines = (line.split() for line in text.splitlines())
        cut = (Sentence(tuple(words)) for words in lines if words) if tokenised else self.parser.sentences_of(text)
        if not (sentences := list(cut)):
            raise DataError("there is no sentence in this")
        return sentences

    def asked(self, request: ParseRequest) -> Sentence:
        """The sentence of a request."""
        if (request.text is None) == (request.words is None):
            raise DataError("give a sentence either as text or as words")
        xpos, upos = (tuple(tags) if tags else None for tags in (request.xpos, request.upos))
        if request.words is not None:
            blanks = None if request.space_after is None else tuple(request.space_after)
            sentence = Sentence(tuple(request.words), xpos, upos, blanks)
        else:
            first, *others = self.cut(request.text or "", request.tokenised)
            if others:
                number = f"{1 + len(others):,} sentences"
                raise DataError(f"this has {number}, and one at a time is parsed: /api/sentences parts them")
            sentence = Sentence(first.words, xpos, upos, first.space_after)
        if len(sentence) > MAX_WORDS:
            raise DataError(
                f"this has {len(sentence):,} words, and a sentence of at most {MAX_WORDS} is parsed here: "
                "split it into sentences"
            )
        if any("\ud800" <= char <= "\udfff" for word in sentence.words for char in word):
            raise DataError("the text holds half a character, which is no text")
        return sentence

    def tagged(self, sentence: Sentence) -> tuple[Sentence, bool]:
        """A sentence with the tags that the model needs, and whether they were guessed."""
        if self.kind == CONSTITUENCY or sentence.tags is not None:
            return sentence, False
        if self.parser.tagger is not None:
            return sentence, True
        if self.guesser is None:
            raise DataError(
                "this model works on tags and has no tagger: serve it with --train or --treebank, from which tags "
                "can be guessed"
            )
        return self.guesser.tag(sentence), True

    def accept(
        self, id: str, tree: AnyTree, proposed: AnyTree | None, fixes: int, number: int | None
    ) -> tuple[Accepted, bool]:
        """Append a tree to the treebank and learn from it; also whether the model was updated at once."""
        with self._lock:
            before = self.annotations.seen(id, tree)
            if before is not None:
                return before, self._updates
            self.queue.check(number)
            if isinstance(tree, DependencyTree) and tree.fault is not None:
                raise DataError(f"not a tree: {tree.fault}")
            entry = self.annotations.add(id, tree, proposed, fixes)
            self.queue.finish(tree.words, number)
            self._pending.append(tree)
            if self._updates:
                self._grow([tree])
            if self._bare and isinstance(tree, DependencyTree):
                self._learn_tags(tree)
            quick = self.refit.seconds is None or self.refit.seconds < QUICK
            if self.why_not_refit is None and (len(self._pending) >= EVERY or (not self._updates and quick)):
                self.start_refit()
            return entry, self._updates

    def _learn_tags(self, tree: DependencyTree) -> None:
        """Guess by the tags of this tree as well; counting begins at once, and nobody waits for it."""
        guesser = TagGuesser.of([tree]) if self.guesser is None else self.guesser.more(tree)
        self.guesser = guesser
        threading.Thread(target=lambda: guesser.model, daemon=True).start()

    @property
    def pending(self) -> int:
        """Trees accepted since the last learning anew."""
        self._settle()
        return len(self._pending)

    def _settle(self) -> None:
        """What was to be learned, and was not because learning failed or was given up, waits again."""
        with self._lock:
            if self._learning and not self.refit.running:
                self._pending, self._learning = self._learning + self._pending, []

    def start_refit(self) -> None:
        """Learn anew from all trees, in the background."""
        if self.why_not_refit is not None:
            raise SettingError(f"the model cannot be learned anew: {self.why_not_refit}")
        with self._lock:
            if self.refit.running:
                return
            self._settle()
            model = self.parser.model
            data = self._data()
            self._learning, self._pending = self._pending, []
            self.refit.start(type(model), data, learner_of(type(model).__name__, model.provenance))

    def _adopt(self, model: Model) -> None:
        """Take over a model that was learned anew, and update it by what came since its data were read."""
        with self._lock:
            if updates(model):
                model = update_model(model, self._pending)
            self._learning = []
            self._set(dataclasses.replace(self.parser, model=model))
            self.learned_version = self.version

    def save(self) -> str:
        """Write the parser over the model file."""
        if self.model_path is None:
            raise SettingError("the model did not come from a file")
        if self.pending or self.version != self.learned_version or self.why_not_refit is not None:
            raise SettingError("learn the model anew first: accepted trees are in the treebank, and safe, already")
        save(self.parser, self.model_path)
        self.saved = True
        return self.model_path.name

    def labels(self) -> tuple[list[str], list[str], list[str]]:
        """The labels of phrases, the tags and the relations that the model knows."""
        backend = self.parser.backend
        if self.kind == CONSTITUENCY:
            return sorted(backend.labels), sorted(backend.tags), []
        tagger = self.parser.tagger or self.guesser
        return [], sorted(set(tagger.tags)) if tagger is not None else [], sorted(backend.labels)


@dataclass(frozen=True, eq=False)
class TagGuesser:
    """Tags for sentences that came without: a hidden Markov model counted from the treebank when first asked.

    Coarse and fine tags are guessed together, so that they go with each other.
    """

    sentences: tuple[Sentence, ...]

    @classmethod
    def of(cls, trees: Iterable[AnyTree]) -> TagGuesser:
        """One that knows the tags of a treebank.

        >>> import latentgram as lg
        >>> guesser = TagGuesser.of(lg.demo_dependencies(60, seed=0))
        >>> guesser.tag(Sentence(("the", "teacher"))).xpos
        ('DT', 'NN')
        """
        return cls(tuple(_joined(tree) for tree in trees if isinstance(tree, DependencyTree)))

    def more(self, tree: DependencyTree) -> TagGuesser:
        """One that knows the tags of another tree as well."""
        return TagGuesser((*self.sentences, _joined(tree)))

    @cached_property
    def model(self) -> HMM:
        """The model of all sentences."""
        return fit(HMM, Treebank.of(self.sentences), by=Counting())

    @cached_property
    def tags(self) -> list[str]:
        """The fine tags where there are some, else the coarse ones."""
        pairs = [name.split(_JOIN) for name in self.model.tags if _JOIN in name]
        return sorted({xpos if xpos != "_" else upos for upos, xpos in pairs})

    def tag(self, sentence: Sentence) -> Sentence:
        """The sentence with the most probable tag of each word."""
        pairs = [name.split(_JOIN) for name in self.model.tag(sentence).tags]
        upos, xpos = (tuple(column) for column in zip(*pairs, strict=True))
        return Sentence(sentence.words, _unless_missing(xpos), _unless_missing(upos), sentence.space_after)


def _joined(tree: DependencyTree) -> Sentence:
    return Sentence(tree.words, tuple(_JOIN.join(pair) for pair in zip(tree.upos, tree.xpos, strict=True)))


def _unless_missing(tags: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if all(tag == "_" for tag in tags) else tags
