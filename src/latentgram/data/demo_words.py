"""The words of the demo treebank: frequent ones by Zipf's law, and a long tail of rare ones made of syllables.

Every open class has such a tail, so a sample of any size leaves unknown words in the next one; as in real
languages, their endings are informative.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from latentgram.data.feature_grammar import Word

TAIL_SHARE = 0.06
"""How much of an open class is rare words."""

NOUNS = {
    "person": "woman man girl boy teacher doctor farmer singer painter lawyer friend child student driver baker "
    "captain writer guest neighbour soldier dancer sailor tailor nurse judge cook poet queen king uncle",
    "thing": "book letter picture song box key lamp table clock map coat knife bottle story engine report piano "
    "basket wheel ticket mirror camera hammer ladder parcel novel necklace blanket kettle violin",
    "place": "house city garden school village street market station harbour library kitchen forest island "
    "castle bridge valley museum office theatre church hotel farm cellar bakery hospital square",
}
IRREGULAR = {"woman": "women", "man": "men", "child": "children", "knife": "knives"}
NAMES = {
    "person": "Anna Boris Clara David Elena Felix Greta Hugo Irene Jonas Karla Leon Maria Nora Oscar Paula",
    "place": "Arden Belmont Corvale Dunmoor Eastwick Fairhaven Glenford Harwich Ilmen Jasper",
}
VERBS = {
    "intr": "laugh smile arrive wait work sneeze dance whistle faint tremble shiver linger",
    "tran": "open repair clean carry paint fix polish mend examine collect lift drop",
    "meet": "help follow visit call thank warn greet invite admire avoid trust",
    "give": "offer show mail hand award promise loan",
    "put": "place push load carry pour move",
    "go": "walk travel hurry return climb march drift wander",
    "say": "believe claim report whisper suspect learn announce doubt",
}
ADJECTIVES = "old young small large red green quiet happy strange famous clever rusty heavy modern narrow golden"
TAILS = {  # endings by which the rare words of a class can be told
    "person": ("ist", "eer", "ian", "er"),
    "thing": ("ment", "ule", "age", "ette"),
    "place": ("ery", "dom", "yard", "hall"),
}
_ONSETS = (
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st"
)  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("l", "m", "n", "r", "nd", "rt", "st", "ck")

Entries = list[tuple[float, Word]]


def zipf(forms: Sequence[tuple[str, str]], upos: str, rare: Sequence[tuple[str, str]] = ()) -> Entries:
    """Words with weights 1/(rank + 1), and rare ones that share what is left to them equally."""
    weights = [1 / (rank + 2) for rank in range(len(forms))]
    main = (1 - TAIL_SHARE if rare else 1.0) / sum(weights)
    entries = [
        (weight * main, Word(form, lemma, upos)) for weight, (form, lemma) in zip(weights, forms, strict=True)
    ]
    return entries + [(TAIL_SHARE / len(rare), Word(form, lemma, upos)) for form, lemma in rare]


def even(forms: str, upos: str, lemma: str | None = None) -> Entries:
    """Words of a closed class, the first ones more frequent; `a/an` is a word with its form before a vowel."""
    pairs = [form.partition("/")[::2] for form in forms.split()]
    entries = zipf([(form, lemma or form.lower()) for form, _ in pairs], upos)
    return [
        (weight, word._replace(before_vowel=other))
        for (weight, word), (_, other) in zip(entries, pairs, strict=True)
    ]


def make_stems(count: int, shift: int) -> list[str]:
    """Different made-up stems of one closed syllable or two, always the same ones."""
    syllables = [f"{onset}{vowel}{coda}" for onset, vowel, coda in itertools.product(_ONSETS, _VOWELS, _CODAS)]
    # A step without a factor in common with the number of syllables visits all of them before it repeats.
    return [
        syllables[(shift * 131 + i * 197) % len(syllables)] + _VOWELS[i % 5] + _ONSETS[i % 11]
        for i in range(count)
    ]


def plural(noun: str) -> str:
    """The plural of a noun.

    >>> [plural(noun) for noun in ("woman", "box", "city", "key", "church")]
    ['women', 'boxes', 'cities', 'keys', 'churches']
    """
    return IRREGULAR.get(noun) or _with_s(noun)


def _with_s(stem: str) -> str:
    if stem.endswith(("s", "x", "ch", "sh")):
        return stem + "es"
    if stem.endswith("y") and stem[-2] not in "aeiou":
        return stem[:-1] + "ies"
    return stem + "s"


def inflect(verb: str) -> dict[str, str]:
    """The forms of a regular verb by tag; past tense and participle are the same word.

    >>> sorted(set(inflect("carry").values())), inflect("mend")["VBG"], inflect("place")["VBD"]
    (['carried', 'carries', 'carry', 'carrying'], 'mending', 'placed')
    """
    if verb.endswith("e"):
        past, going = verb + "d", verb[:-1] + "ing"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        past, going = verb[:-1] + "ied", verb + "ing"
    elif verb == "drop":
        past, going = "dropped", "dropping"
    else:
        past, going = verb + "ed", verb + "ing"
    return {"VB": verb, "VBP": verb, "VBZ": _with_s(verb), "VBD": past, "VBN": past, "VBG": going}


def nouns(kind: str, rare_count: int = 240) -> dict[str, Entries]:
    """Singular and plural nouns of a class."""
    common = NOUNS[kind].split()
    stems = make_stems(rare_count, 1 + list(NOUNS).index(kind))
    rare = [stem + TAILS[kind][i % len(TAILS[kind])] for i, stem in enumerate(stems)]
    return {
        "NN": zipf([(noun, noun) for noun in common], "NOUN", [(noun, noun) for noun in rare]),
        "NNS": zipf([(plural(noun), noun) for noun in common], "NOUN", [(plural(noun), noun) for noun in rare]),
    }


def names(kind: str, rare_count: int = 160) -> Entries:
    """Names of persons or places."""
    ending = {"person": "", "place": "ville"}[kind]
    rare = [stem.capitalize() + ending for stem in make_stems(rare_count, 5 + list(NAMES).index(kind))]
    return zipf([(n, n) for n in NAMES[kind].split()], "PROPN", [(n, n) for n in rare])


def verbs(kind: str, rare_count: int = 60) -> dict[str, Entries]:
    """The six forms of the verbs of a kind."""
    stems = VERBS[kind].split()
    rare = [f"{stem}ise" for stem in make_stems(rare_count, 9 + list(VERBS).index(kind))]
    return {
        tag: zipf(
            [(inflect(verb)[tag], verb) for verb in stems], "VERB", [(inflect(verb)[tag], verb) for verb in rare]
        )
        for tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
    }


def adjectives(rare_count: int = 120) -> Entries:
    """Adjectives."""
    rare = [f"{stem}ish" for stem in make_stems(rare_count, 17)]
    return zipf([(word, word) for word in ADJECTIVES.split()], "ADJ", [(word, word) for word in rare])


def numbers() -> Entries:
    """Numbers in words and in digits."""
    common = ["two", "three", "four", "five", "six", "ten"]
    return zipf([(word, word) for word in common], "NUM", [(str(d), str(d)) for d in range(10, 1000, 7)])
