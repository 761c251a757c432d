"""The catalogue of hyper-parameters: the meaning of each and its possible values.

Learners (learners.py) and the settings of recipes (settings.py of each family) are made of these fields; the
recipe determines the default.
"""

from __future__ import annotations

from latentgram.kinds.settings import AUTO, Field

MOST_STATES = 1024
"""Operators take the square of it for every symbol: more would ask for memory that nobody has."""
MOST = 1_000_000_000
"""Of numbers without a natural limit, so that their squares are numbers and integers fit into 32 bits."""

# How a treebank becomes binary trees over known words.
DIRECTION = Field("side from which nodes with many children are binarised", choices=("left", "right", "head"))
HORIZONTAL = Field("number of siblings recorded in binarised symbols", at_least=0)
VERTICAL = Field("number of labels in a node's symbol: its own, its parent's, and so on", at_least=1)
RARE = Field(
    "words seen at most this often are replaced by their form; auto: chosen from the data", at_least=0, word=AUTO
)
HEADS = Field(
    "head rules, used by features and by --direction head: learned from the treebank, or, for English with Penn "
    "labels, those of Collins (1999) or the same with the verb, not 'to', as the head of an infinitive (english)",
    choices=("learned", "collins", "english"),
)
RARE_UNKNOWN = Field(
    "words seen at most this often count as unknown; auto: chosen from the data", at_least=0, word=AUTO
)

# Hidden states.
STATES = Field("number of hidden states (maximum per symbol)", at_least=1, at_most=MOST_STATES)
OPEN_STATES = Field("number of hidden states, if there is no dictionary", at_least=1, at_most=MOST_STATES)
BACKOFF = Field("constant C of the back-off to estimates without states; 0: no back-off", at_least=0)
PULL = Field("weight of coarser estimates in the lexicon, as a number of observations", at_least=0)
LEXICON = Field(
    "smoothing of words: in steps, by their forms, or as printed in Cohen et al. 2013",
    choices=("forms", "printed"),
)
LEXICAL_SHARE = Field(
    "printed lexicon: weight ν of a word's own estimate against that of its tag", at_least=0, at_most=1
)
LEXICAL_CUTOFF = Field(
    "printed lexicon: words seen at least this often with their tag are not smoothed", at_least=0
)
FEATURES = Field("feature set of inside and outside trees: simple, paper or full")
SCALING = Field("constant kappa in the scaling of features", at_least=0)
LEAST_VALUE = Field("smallest singular value of a state, in units of the noise of a count", at_least=0)
CUTOFF = Field("smallest singular value of a state, as a fraction of its symbol's largest", at_least=0, at_most=1)
GROWTH = Field("number of nodes required for each state of a symbol; 1: no limit", at_least=1)
SEARCH = Field("number of grammars tried on held-out data to choose each symbol's states", at_least=0)
RANK = Field(
    "represent rule tensors as sums of this many products, so that grammars with many states parse faster; "
    "0: full tensors",
    at_least=0,
)
SIZE = Field("number of dimensions of the vectors", at_least=1, at_most=MOST_STATES)
LEAST_STRENGTH = Field(
    "dimensions whose singular value is smaller than this, in units of the noise of a count, are dropped",
    at_least=0,
)
DIMENSIONS = Field(
    "number of dimensions of the spectral views that are clustered", at_least=1, at_most=MOST_STATES
)
NOISE = Field(
    "probability of dropping each feature of a node during learning, so that grammars with different seeds "
    "differ; the members of an ensemble then differ only in this",
    at_least=0,
    at_most=1,
)
NOISE_KIND = Field(
    "kind of noise: features are dropped, or multiplied by a Gaussian with mean 1 and standard deviation noise",
    choices=("dropout", "gaussian"),
)
MEMBERS = Field("number of grammars of an ensemble, or below each discriminative layer", at_least=1, at_most=8)
LAYERS = Field(
    "number of discriminative layers that parse together, each over a grammar of its own; a few are enough",
    at_least=1,
    at_most=16,
)

# What the words of a dependency treebank become.
SYMBOLS = Field(
    "symbols of the grammar: joined (UPOS|XPOS), upos, xpos, or words (tags, with frequent words)",
    choices=("joined", "upos", "xpos", "words"),
)
FORMS = Field(
    f"{SYMBOLS.help}; for latent trees also forms (words alone, rare ones replaced by their tags)",
    choices=("joined", "upos", "xpos", "words", "forms"),
)
VECTORS = Field(
    "word vectors from raw text: a file written by 'latentgram train vectors'",
    reader="latentgram.learn.reading:read_vectors",
)
VECTORS_OR_CLUSTERS = Field(
    f"{VECTORS.help}; or word clusters: a file written by 'latentgram vectors --clusters', or the paths file of a "
    "Brown clustering program",
    reader=VECTORS.reader,
)
CLUSTERS = Field("number of word clusters used in symbols, if there are word vectors", at_least=1)
VALENCY = Field("maximum number of children per side recorded in a symbol", at_least=0, at_most=100)
MEMORY = Field(
    "state of a head: none, first (whether it has a modifier yet), or kind (also the kind of the last modifier)",
    choices=("none", "first", "kind"),
)
BETWEEN = Field("whether arcs depend on the verbs, commas and conjunctions between their ends")

# Which strings spectral learners of automata count, and how they are weighed.
SMOOTHING = Field("amount of probability reserved for unseen events; 0: none", at_least=0, at_most=MOST)
HISTORY = Field("length of the longest history in the basis", at_least=1, at_most=5)
FUTURE = Field("length of the longest future in the basis", at_least=1, at_most=5)
BASIS = Field(
    "number of most frequent strings in the basis, for histories and futures each; 0: all of them", at_least=0
)
HANKEL = Field(
    "meaning of the cells of the matrix: positions between strings, whole strings, prefixes, or factors",
    choices=("places", "string", "prefix", "factor"),
)
COMPLETION = Field(
    "treat unseen strings as unknown and complete the matrix: weight of the sum of its singular values, as a "
    "fraction of the largest (0.001 to 0.1); 0: unseen strings count as zeros",
    at_least=0,
    at_most=1,
)
POWER = Field("each count is divided by this power of the counts of its two strings", at_least=0, at_most=1)
RIDGE = Field("ridge of the inverse, in units of the noise of a count", at_least=0, at_most=MOST)
CHOSEN_RIDGE = Field(
    f"{RIDGE.help}; auto (latent trees only): chosen on held-out trees", at_least=0, at_most=MOST, word=AUTO
)
DETERMINISTIC = Field(
    "make head automata deterministic, with at most this many states besides the first; 0 keeps hidden states",
    at_least=0,
    at_most=MOST,
)
LEXICAL = Field("exponent of the lexical factor of a product; 0: without it", at_least=0)
DISTANCE = Field("exponent of the distance factor of a product; 0: without it", at_least=0)
FORM = Field("equations: corrected, or as printed in the paper", choices=("corrected", "printed"))
ABSOLUTE = Field(
    "latent trees: use log |p̂| of every estimate, without a floor for estimates that are not probabilities"
)
VIEW = Field(
    "context of a word: the words around it, the next word, the whole sentence, or its neighbours in the tree",
    choices=("context", "singular", "lr-mvl", "tree"),
)

# Sequences.
ORDER = Field("2: a tag depends on the previous one; 3: on the previous two", at_least=2, at_most=3)
DICTIONARY = Field(
    "the possible tags of words, from tagged sentences, as FILE[:COLUMN[:LEAST]]; the word is column 0, the tag "
    "column 1 by default, and words seen less than LEAST times (default 5) may have any tag",
    reader="latentgram.data.tag_dictionary:read_specified",
)
TRANSITION_PRIOR = Field("pseudo-count of every transition", at_least=0)
EMISSION_PRIOR = Field("pseudo-count of every emission", at_least=0)
UNKNOWN_WORDS = Field(
    "unknown words get the weight of the rarest words, or are a separate class, learned from the rarest words, "
    "with its own probability under every tag",
    choices=("rarest", "class"),
)
KNOWN_TAGS = Field("whether the tags of the sentences are taken as known (_ for an unknown tag)")
HMM_START = Field("initial states: random, or clusters of spectral vectors", choices=("random", "spectral"))
STATES_OR_AUTO = Field(
    "number of hidden states (maximum per symbol); auto, for HMMs: chosen by held-out likelihood",
    at_least=1,
    at_most=MOST_STATES,
    word=AUTO,
)
TOLERANCE = Field("stop when the relative increase of the bound is less than this", at_least=0)
SEGMENTS = Field("whether equal segments between unambiguous words are computed once (exact)")
SMOOTHING_METHOD = Field(
    "smoothing for unseen n-grams: none, modified Kneser–Ney, absolute discounting, Katz or Witten–Bell",
    choices=("none", "kneser-ney", "absolute", "katz", "witten-bell"),
)
LEAST_COUNT = Field(
    "lowest count of the n-grams kept in a smoothed model: one number for orders 3 and above, or one per order"
)
ENTROPY = Field("prune n-grams whose removal raises the perplexity by less than this fraction", at_least=0)
READING = Field("how n-gram counts become an automaton", choices=("exclusive", "epsilon", "failure"))
WINDOW = Field(
    "1: tags are chosen independently; 2: given the previous one; auto: 2 with a dictionary, where this costs "
    "little",
    at_least=1,
    at_most=2,
    word=AUTO,
)
LAG = Field(
    "number of following words seen before a tag is chosen (2 needs trigrams or more); "
    "auto: 1 if every word has a history, else 0",
    at_least=0,
    at_most=2,
    word=AUTO,
)
EMPTY_HISTORY = Field(
    "whether words may be chosen without regard to the previous one; if not, the empty history is removed, which "
    "smoothed models and n-grams without all bigrams need for lag 1"
)
HARD = Field("whether every arc has exactly one tag (zero entropy, as in Viterbi EM)")
SWEEPS = Field("number of sweeps over the automaton before each update of the parameters", at_least=1)
SEQUENTIAL = Field(
    "whether a sweep takes the histories one after the other, from the ends of sentences to their beginnings and "
    "back, so that each uses the new values of the next ones (window 2)"
)
STANDS_FOR = Field(
    "number of sentences that the n-grams represent, relative to the pseudo-counts; 0: as many as were counted "
    "or, for an ARPA file, which does not say, as many as make its rarest words occur once",
    at_least=0,
)
OPTIMISER = Field("coordinate updates in rounds, or L-BFGS on the exact gradient", choices=("rounds", "gradient"))

# Rounds, passes and steps.
ITERATIONS = Field("number of passes over the data", at_least=1)
ROUNDS = Field("number of rounds", at_least=1)
STEPS_AFTER = Field("number of rounds of EM; with clustering, of smoothed rounds after it", at_least=0)
START = Field(
    "initial states: random, the coordinates of spectral vectors, or clusters of spectral vectors",
    choices=("random", "spectral", "clusters"),
)
SEED = Field("seed of the random start or of the order of the data", at_least=0)
PASSES = Field("number of passes over the data", at_least=1)
STEP = Field("maximum step size of an update", above=0, at_most=1000)
FIRST_STEP = Field("initial step size", above=0, at_most=1000)
MARGIN = Field("margin added to the score of every wrong part during learning", at_least=0)
LEAST_SEEN = Field("features seen less often than this are ignored", at_least=1)

# Arcs, lists and tags.
ARC_ORDER = Field("1: scores of arcs; 2: of arcs and adjacent siblings", at_least=1, at_most=2)
BITS = Field("features are hashed into 2 to the power of this many buckets", at_least=10, at_most=28)
LAYER_BITS = Field(
    "features are hashed into 2 to the power of this many buckets; auto, for chart-crf and committee: as many as "
    "give each word of the treebank eight, but from 20 to 22",
    at_least=10,
    at_most=28,
    word=AUTO,
)
TAGGER_UP_TO = Field(
    "from a treebank of at most this many words, and 256 tags, a tagger is learned as well, which helps with "
    "sentences without tags; 0: never",
    at_least=0,
)
RAW_TEXT = Field(
    "a file with raw text, which teaches the grammar words that a small treebank lacks; parsed trees, tagged text "
    "and CoNLL-U count as text too",
    reader="latentgram.learn.reading:read_raw_text",
)
FOLDS = Field("number of parts for jackknifing; 1: no jackknifing", at_least=1, at_most=MOST)
FLOOR = Field("second order: lowest posterior of a head, relative to the most probable head", above=0, at_most=1)
COUNT = Field("number of trees per n-best list", at_least=2, at_most=1_000_000)
NON_PROJECTIVE = Field("arcs may cross: learn from non-projective trees as they are, and predict such trees")
CHOOSE_CROSSING = Field(
    "learn two parsers, one of projective trees (with crossing arcs told in the names of relations) and one whose "
    "arcs may cross, and keep the one that is better on held-out trees: those of dev, or a fifth of the treebank"
)
BEST = Field("maximum number of rival trees per MIRA step (k-best MIRA)", at_least=1, at_most=100)
RULE = Field(
    "update rule of the reranker: margin, the smallest step that corrects a mistake with its loss; perceptron, a "
    "full step for each mistake",
    choices=("margin", "perceptron"),
)
RATERS = Field("features that score trees besides the base parser, separated by commas")
FEATS = Field("whether morphological features (FEATS) are learned with the tags, if the treebank has them")
CLOSED = Field("words seen at least this often only get tags they were seen with", at_least=1, at_most=MOST)
FREQUENT = Field(
    "features seen at least this often have a weight for every tag, rarer ones only for tags they were seen with",
    at_least=1,
    at_most=MOST,
)
