"""Smith and Eisner's 17 tags (2005), used by 002 for its experiments, from the tags of the Brown corpus.

The Penn Treebank's 45 tags collapse by a table; those of Brown go the same way, each to the class of the Penn tag
that its words would have. Suffixes for titles, headlines and cited words, the prefix for foreign words and the
mark of negation are cut; a contraction (`PPS+BEZ`) has the class of its first part; possessives keep theirs, so
the class POS stays empty.
"""

from __future__ import annotations

import re

_CLASSES = {
    "ADJ": "JJ JJR JJS JJT CD OD AP PP$",
    "ADV": "RB RBR RBT RN QL QLP *",
    "CONJ": "CC",
    "DET": "AT DT DTI DTS DTX ABL ABN ABX",
    "ENDPUNC": ".",
    "INPUNC": ", : -- UH",
    "LPUNC": "( ``",
    "N": "NN NNS NP NPS NR NRS PN PP PPL PPLS PPO PPS PPSS PP$$ EX NIL",
    "PREP": "IN CS",
    "PRT": "RP",
    "RPUNC": ") '' '",
    "TO": "TO",
    "V": "VB VBD VBZ MD BE BED BEDZ BEM BER BEZ DO DOD DOZ HV HVD HVZ",
    "VBG": "VBG BEG DOG HVG",
    "VBN": "VBN BEN DON HVN",
    "WH": "WDT WPO WPS WP$ WQL WRB",
}
_CLASS_OF = {tag: name for name, tags in _CLASSES.items() for tag in tags.split()}
_AFFIXES = re.compile(r"^FW-|-(TL|HL|NC|T|N)\b")


def smith_eisner(brown: str) -> str:
    """The class of a Brown tag; what the table lacks is a noun.

    >>> [smith_eisner(tag) for tag in ("NN$-TL", "BEZ*", "PPS+BEZ", "FW-IN", "*", "WP$", "--")]
    ['N', 'V', 'N', 'PREP', 'ADV', 'WH', 'INPUNC']
    """
    tag = _AFFIXES.sub("", brown).split("+")[0]
    for form in (tag, tag.rstrip("*"), tag.rstrip("*").rstrip("$")):
        if form in _CLASS_OF:
            return _CLASS_OF[form]
    return "N"
