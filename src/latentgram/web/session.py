"""`Session`: the state of the page: a parser that grows with every accepted tree, a treebank and a queue.

An accepted tree is appended to the treebank, and nobody waits for more than that. It is learned in the background:
its counts are added to those of the grammar, or an online learner continues with it, which takes a moment whatever
the size of the treebank; trees accepted in that moment are learned together. Retraining runs in a
separate process (refit.py); trees accepted meanwhile update its result. Models without their statistics (head
automata from older files) are retrained after each acceptance if that takes seconds, otherwise now and then.

Function tags and traces are for the treebank: a grammar that has none of them learns the tree without.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from latentgram.data.cleaning import clean
from latentgram.data.dependencies import DependencyTree
from latentgram.data.forest import Forest
from latentgram.data.formats import TreeOrSentence
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError, LatentgramError, SettingError
from latentgram.kinds.kind import PHRASES, learner_of, update_model, updates
from latentgram.kinds.protocols import AnyTree, Inspection, Model
from latentgram.parser.parser import Parser
from latentgram.store import read_header, save
from latentgram.web.analysis import Asked
from latentgram.web.annotations import Annotations, Over, name_in, small_tree, warm, words_in
from latentgram.web.bank import Bank
from latentgram.web.desk import Desk, Note
from latentgram.web.editing.question import ParseRequest
from latentgram.web.editing.reading import check_length, cut, read_question
from latentgram.web.faults import in_words
from latentgram.web.guessing import TagGuesser
from latentgram.web.guidelines import read_guidelines
from latentgram.web.heldout import HeldOut
from latentgram.web.history import Accepted
from latentgram.web.pieces import name_of
from latentgram.web.refit import Refit
from latentgram.web.schemas import Kind
from latentgram.web.waiting import Queue
from latentgram.web.workers import Workers

QUICK = 5.0
"""Seconds of learning that are spent after every acceptance."""
EVERY = 10
"""Acceptances after which a model is retrained in any case."""


class Session:
    """The state behind the page; its methods may be called from any thread."""

    def __init__(
        self,
        parser: Parser,
        *,
        model_path: Path | None = None,
        treebank: Path | None = None,
        train: Sequence[Path] = (),
        sentences: Iterable[TreeOrSentence] = (),
        heldout: Path | None = None,
        workers: int | Workers = 2,
        annotator: str = "",
        double: float = 0.0,
        guidelines: Path | None = None,
    ) -> None:
        self.instance = secrets.token_hex(8)
        self.annotator = annotator
        self.kind: Kind = "constituency" if parser.kind.reads == PHRASES else "dependency"
        self.annotations = Annotations(self.kind, treebank)
        self.desk = Desk(self.annotations.book)
        self.bank = Bank(self.annotations)
        self.doubts_wanted = False
        """Whether somebody asked for the most doubtful trees: finding them takes a while."""
        self.guidelines = {} if guidelines is None else read_guidelines(guidelines)
        self.model_path = model_path
        self.heldout = None if heldout is None else self._held_out(heldout, parser.model)
        self.saved = True
        self._lock = threading.RLock()
        self._train: Treebank[AnyTree] | None = Treebank.read(train) if train else None
        self._pending: list[AnyTree] = []
        """Accepted since the data of the last learning were read."""
        self._learning: list[AnyTree] = []
        """Accepted before that, and in the data of the learning that is under way."""
        self._unlearned: list[AnyTree] = []
        """Accepted, and not in the parser yet."""
        self._changed = 0
        """Changes of older trees since then."""
        self._growing = threading.Lock()
        """Held by who makes a new parser."""
        self._beginning = threading.Lock()
        """Held by who reads what is to be retrained."""
        self._inside: tuple[Model, Inspection] | None = None
        self.workers = workers if isinstance(workers, Workers) else Workers(parser, workers)
        self.refit = Refit(self._adopt)
        data = self._data()
        self.why_not_refit = self._reason(parser.model, data)
        self._catch_up(parser, data)
        self.learned_version = self.version
        """The version that was last retrained, or read from the file."""
        self._bare = self.kind == DEPENDENCY and parser.tagger is None
        self.guesser = TagGuesser.of(data) if self._bare and len(data) else None
        """For a model that works on tags and has no tagger of its own."""
        self.queue = Queue(double=double)
        self.queue.add(sentences)
        for tree in self.annotations.read():
            self.queue.finish(words_in(tree), name=name_in(tree))

    def _held_out(self, path: Path, model: Model) -> HeldOut:
        """Held-out trees, with the scores that the history tells of them."""
        trees = Treebank.read(path)
        if trees.kind != self.kind or not len(trees):
            what = f"these are {trees.kind}" if len(trees) else "there are none"
            raise DataError(f"the held-out trees must be {self.kind} trees, and {what}", path=path)
        if trees.digest == model.provenance.data_digest:
            raise DataError("the model was learned from these trees, so they are not held out", path=path)
        return HeldOut(trees, [each for each in self.annotations.measured if each.digest == trees.digest])

    @property
    def parser(self) -> Parser:
        """The parser of this moment."""
        return self.workers.parser

    @property
    def inside(self) -> Inspection | None:
        """Looks into the model of this moment, if there is something to see; what was found is kept."""
        model, kind = self.parser.model, self.parser.kind
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
        """Start the workers; learn again a model that cannot be updated."""
        self.workers.start(afterwards=self._warm)
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
        self.annotations.close()

    def _data(self) -> Treebank[AnyTree]:
        """All trees there are to learn from."""
        return self._with_train(self.annotations.read())

    def _with_train(self, own: Treebank[AnyTree]) -> Treebank[AnyTree]:
        data = own if self._train is None else self._train + own
        return data.clean()[0] if self._strips and len(data) else data

    @property
    def _strips(self) -> bool:
        """Whether the grammar has neither function tags nor traces."""
        labels = self.parser.backend.labels if self.kind == CONSTITUENCY else ("-",)
        return not any("-" in label[1:] or label == "-" for label in labels)

    def _bare_trees(self, trees: Sequence[AnyTree]) -> list[AnyTree]:
        """Trees as the grammar wants them."""
        if not self._strips:
            return list(trees)
        return list(clean(Forest.of([tree for tree in trees if isinstance(tree, Tree)]))[0])

    def _reason(self, model: Model, data: Treebank[AnyTree]) -> str | None:
        """Why the model cannot be retrained, or None."""
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
        trees = self._bare_trees(trees)
        model, tagger = update_model(self.parser.model, trees), self.parser.tagger
        if tagger is not None:
            tagger = update_model(tagger, [tree.sentence for tree in trees])
        self._set(dataclasses.replace(self.parser, model=model, tagger=tagger))

    def _set(self, parser: Parser) -> None:
        self.workers.set_parser(parser, self.version + 1)
        self.saved = False

    def cut(self, text: str, tokenised: bool) -> list[Sentence]:
        """The sentences of a text: one per line, if it is tokenised."""
        return cut(self.parser, text, tokenised)

    def question(self, request: ParseRequest) -> tuple[Asked, bool]:
        """What a request asks, with the tags that the model needs, and whether these were guessed."""
        asked = read_question(self.parser, self.kind, request)
        sentence, guessed = self.tagged(asked.sentence)
        return dataclasses.replace(asked, sentence=sentence), guessed

    def tagged(self, sentence: Sentence) -> tuple[Sentence, bool]:
        """A sentence with the tags that the model needs, and whether they were guessed."""
        if self.kind == CONSTITUENCY or sentence.tags is not None:
            return sentence, False
        if self.parser.tagger is not None:
            return sentence, True
        if self.guesser is None:
            raise DataError(
                "this model needs tags and has no tagger: serve it with --train or --treebank, from which tags "
                "can be guessed"
            )
        return self.guesser.tag(sentence), True

    def accept(
        self,
        id: str,
        tree: AnyTree,
        proposed: AnyTree | None,
        fixes: int,
        number: int | None,
        annotator: str = "",
        over: Over = "add",
    ) -> tuple[Accepted, bool]:
        """Put a tree into the treebank, to be learned from; also whether the model is updated at once."""
        with self._lock:
            before = self.annotations.seen(id, tree)
            if before is not None:
                return before, self._updates
            self.queue.check(number)
            check_length(len(words_in(tree)))
            if isinstance(tree, DependencyTree) and tree.fault is not None:
                raise DataError(f"not a tree: {tree.fault}")
            entry = self.annotations.add(id, tree, proposed, fixes, annotator, over, named=True)
            self.queue.finish(words_in(tree), number, annotator, name_in(tree))
            if self.queue.double:  # who comes second may have it at once
                self.desk.release(entry.sentence)
            if over == "beside":
                return entry, False
            self._pending.append(tree)
            self._unlearned.append(tree)
        if self.workers.count:
            threading.Thread(target=self._learn, daemon=True).start()
        else:
            self._learn()
        return entry, self._updates

    def catch_up(self) -> dict[str, Note]:
        """See what other servers did to the same treebank; what is noted of its sentences."""
        with self._lock:
            self.annotations.refresh()
            done: dict[str, list[Accepted]] = {}
            for entry in self.annotations.history:
                done.setdefault(entry.sentence, []).append(entry)
            for item in self.queue.waiting:
                for entry in done.get(item.key, ()):
                    if entry.annotator not in item.by and item.name in ("", name_of(entry.tree)):
                        self.queue.finish(item.sentence.words, annotator=entry.annotator, name=item.name)
        return self.desk.read()

    def bank_changed(self) -> None:
        """Trees of the file were changed: what the model has of them goes when it is retrained."""
        with self._lock:
            self.annotations.refresh()
            self._changed += 1
            self.queue.reopen((entry.words, name_of(entry.text)) for entry in self.bank.entries())

    def _learn(self) -> None:
        """Learn what was accepted, all of it together, and learn again where that is due."""
        with self._growing:
            with self._lock:
                trees, self._unlearned = self._unlearned, []
            if not trees:
                return
            if self._updates:
                self._grow(trees)
            for tree in trees:
                if self._bare and isinstance(tree, DependencyTree):
                    self._learn_tags(tree)
        quick = self.refit.seconds is None or self.refit.seconds < QUICK
        if self.why_not_refit is None and (len(self._pending) >= EVERY or (not self._updates and quick)):
            try:
                self.start_refit()
            except LatentgramError as error:  # the trees are safe, whatever becomes of learning
                self.refit.failure = in_words(error)

    def _learn_tags(self, tree: DependencyTree) -> None:
        """Guess by the tags of this tree as well; counting begins at once, and nobody waits for it."""
        guesser = TagGuesser.of([tree]) if self.guesser is None else self.guesser.more(tree)
        self.guesser = guesser
        threading.Thread(target=lambda: guesser.model, daemon=True).start()

    @property
    def pending(self) -> int:
        """Trees accepted since the last learning again."""
        self._settle()
        return len(self._pending) + self._changed

    def _settle(self) -> None:
        """What was to be learned, and was not because learning failed or was given up, waits again."""
        with self._lock:
            if self._learning and not self.refit.running and not self._beginning.locked():
                self._pending, self._learning = self._learning + self._pending, []

    def start_refit(self) -> None:
        """Learn again from all trees, in the background."""
        if self.why_not_refit is not None:
            raise SettingError(f"the model cannot be retrained: {self.why_not_refit}")
        with self._beginning:
            if self.refit.running:
                return
            with tempfile.TemporaryDirectory() as folder:
                with self._lock:
                    still = self.annotations.copied_to(Path(folder))
                    self._learning, self._pending = self._learning + self._pending, []
                    self._changed = 0
                data = self._with_train(self.annotations.read(still))  # which takes long, and nobody waits for it
            model = self.parser.model
            self.refit.start(type(model), data, learner_of(type(model).__name__, model.provenance))

    def _adopt(self, model: Model) -> None:
        """Take over a model that was retrained, and update it by what came since its data were read."""
        with self._growing, self._lock:
            if updates(model):
                model = update_model(model, self._bare_trees(self._pending))
            self._learning, self._unlearned = [], []
            self._set(dataclasses.replace(self.parser, model=model))
            self.learned_version = self.version

    def save(self) -> str:
        """Write the parser over the model file."""
        if self.model_path is None:
            raise SettingError("the model did not come from a file")
        if self.pending or self.version != self.learned_version or self.why_not_refit is not None:
            raise SettingError("retrain the model first; the accepted trees are already safe in the treebank")
        before = self.model_path
        save(self.parser, before, read_header(before).precision if before.exists() else "full")
        self.saved = True
        return self.model_path.name

    def labels(self) -> tuple[list[str], list[str], list[str]]:
        """The labels of phrases, the tags and the relations that the model knows."""
        backend = self.parser.backend
        if self.kind == CONSTITUENCY:
            return sorted(backend.labels), sorted(backend.tags), []
        tagger = self.parser.tagger or self.guesser
        return [], sorted(set(tagger.tags)) if tagger is not None else [], sorted(backend.labels)
