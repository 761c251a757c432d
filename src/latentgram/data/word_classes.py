"""`WordClasses`: words whose tag the dictionary fixes, replaced by one symbol a tag.

Such a word tells a tagger nothing but its tag: p(w | t) = p(class of t | t) · cnt(w)/cnt(class) whatever else is
learned. So EM on the reduced text is EM on the text, and n-gram automata of it are less than half as large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import BOUNDARY, END, Text
from latentgram.errors import SettingError


@dataclass(frozen=True)
class WordClasses:
    """Which symbol stands for which word.

    >>> from latentgram.data.sentence import Sentence
    >>> tags = TagDictionary.of([Sentence.of([("the", "D"), ("a", "D"), ("can", "N"), ("can", "V")])], 1)
    >>> classes, reduced = WordClasses.of(Text.of(["the can", "a can"]), tags)
    >>> [" ".join(sentence) for sentence in reduced], classes.tag_of_class
    (['<tag:D> can', '<tag:D> can'], {'<tag:D>': 'D'})
    """

    words: Alphabet
    reduced: Alphabet
    place: NDArray[np.int32]
    """[words] the number of each word's symbol among the reduced ones."""
    count: NDArray[np.int64]
    """[words] how often each word occurs."""
    tag_of_class: dict[str, str]

    @classmethod
    def of(cls, text: Text, dictionary: TagDictionary) -> tuple[WordClasses, Text]:
        """The classes of a text under a dictionary, and the text with classes for words."""
        count = np.bincount(text.tokens, minlength=len(text.words)).astype(np.int64)
        classes = cls.of_counts(text.words, count, dictionary)
        return classes, Text(classes.reduced, classes.place[text.tokens])

    @classmethod
    def of_counts(cls, words: Alphabet, count: NDArray[np.int64], dictionary: TagDictionary) -> WordClasses:
        """The classes of words that occur so often."""
        start, tag = dictionary.rows(words)
        fixed = np.diff(start) == 1
        fixed[BOUNDARY] = False
        names = [f"<tag:{dictionary.tags[tag[start[i]]]}>" if fixed[i] else word for i, word in enumerate(words)]
        reduced = Alphabet((END, *sorted(set(names[1:]))))
        place = reduced.encode(names)
        place[BOUNDARY] = BOUNDARY
        tags = {names[i]: dictionary.tags[tag[start[i]]] for i in np.flatnonzero(fixed).tolist()}
        return cls(words, reduced, place, count, tags)

    def dictionary(self, full: TagDictionary) -> TagDictionary:
        """The dictionary with an entry for each class symbol as well; it must be that of the classes."""
        again = WordClasses.of_counts(self.words, self.count, full)
        if again.reduced.symbols != self.reduced.symbols or not np.array_equal(again.place, self.place):
            raise SettingError(
                "the counts were reduced with another tag dictionary: give the one they were counted with"
            )
        known = {word: set(full.allowed(word)) for word in full.words if word in self.reduced}
        known |= {name: {tag} for name, tag in self.tag_of_class.items()}
        return TagDictionary.from_entries(full.tags.symbols[1:], known)

    def share(self) -> NDArray[np.float64]:
        """[words] cnt(word) / cnt(symbol)."""
        total = np.bincount(self.place, self.count, minlength=len(self.reduced))
        return np.asarray(self.count / np.maximum(total, 1)[self.place])
