"""The catalogue of hyper-parameters: what each means and which values it may have.

Learners (learners.py) and the settings of recipes (settings.py of each family) are made of these fields; the
recipe says the default.
"""

from __future__ import annotations

from latentgram.kinds.settings import AUTO, Field

MOST_STATES = 1024
"""Operators take the square of it for every symbol: more would ask for memory that nobody has."""

# How a treebank becomes binary trees over known words.
DIRECTION = Field("from where nodes with many children are made binary", choices=("left", "right", "head"))
HORIZONTAL = Field("siblings remembered when nodes are made binary", at_least=0)
VERTICAL = Field("labels on the way up that a node's symbol includes, its own among them", at_least=1)
RARE = Field(
    "words seen at most this often are known by their form only; auto: as the data ask for", at_least=0, word=AUTO
)
HEADS = Field(
    "head rules, for features and for the direction head: learned from the treebank, or those of Collins (1999) "
    "for English with Penn labels",
    choices=("learned", "collins"),
)
RARE_UNKNOWN = Field(
    "words seen at most this often count as unknown; auto: as the data ask for", at_least=0, word=AUTO
)

# Hidden states.
STATES = Field("number of hidden states (of each symbol, at most)", at_least=1, at_most=MOST_STATES)
OPEN_STATES = Field("number of hidden states, where there is no dictionary", at_least=1, at_most=MOST_STATES)
BACKOFF = Field("constant C of the back-off to estimates without states; 0 for none", at_least=0)
PULL = Field("weight of coarser estimates in the lexicon, in observations", at_least=0)
LEXICON = Field(
    "how words are smoothed: in steps, by the forms of words, or as printed in Cohen et al. 2013",
    choices=("forms", "printed"),
)
LEXICAL_SHARE = Field(
    "printed lexicon: the share ν that a word has beside all words of its tag", at_least=0, at_most=1
)
LEXICAL_CUTOFF = Field(
    "printed lexicon: words seen at least this often with their tag are not smoothed", at_least=0
)
FEATURES = Field("set of features of inside and outside trees: simple, paper or full")
SCALING = Field("constant kappa in the scaling of features", at_least=0)
LEAST_VALUE = Field("smallest singular value of a state, in units of the noise of a count", at_least=0)
CUTOFF = Field("smallest singular value of a state, as a share of its symbol's largest", at_least=0, at_most=1)
GROWTH = Field("nodes that a symbol must have for each of its states; 1 for no limit", at_least=1)
SEARCH = Field("grammars tried on held-out data to choose each symbol's states", at_least=0)
RANK = Field(
    "tensors of rules as sums of this many products: grammars of many states parse faster; 0: full tensors",
    at_least=0,
)
DIMENSIONS = Field("dimensions of the spectral views that are clustered", at_least=1)
NOISE = Field(
    "probability with which each feature of a node is dropped in learning, so that grammars of different seeds "
    "differ (see also noise_kind); in ensembles all members are then learned alike but for it",
    at_least=0,
    at_most=1,
)
NOISE_KIND = Field(
    "noise: features are dropped, or each is multiplied by a Gaussian of mean 1 and the deviation noise",
    choices=("dropout", "gaussian"),
)
MEMBERS = Field("number of grammars", at_least=1, at_most=8)
LAYERS = Field(
    "number of discriminative layers that parse together, each over a grammar of its own; a few are enough",
    at_least=1,
    at_most=16,
)

# What the words of a dependency treebank become.
SYMBOLS = Field(
    "what a word is to the grammar: joined (UPOS|XPOS), upos, xpos, or words (with frequent words)",
    choices=("joined", "upos", "xpos", "words"),
)
FORMS = Field(
    f"{SYMBOLS.help}; for latent trees also forms (words alone, rare ones by their tags)",
    choices=("joined", "upos", "xpos", "words", "forms"),
)
VECTORS = Field(
    "vectors of words from raw text, a file of 'latentgram train vectors'; or, but for latent trees, clusters of "
    "words, a file of 'latentgram vectors --clusters' or of Brown's program (paths)",
    reader="latentgram.learn.reading:read_vectors",
)
CLUSTERS = Field("clusters of words that symbols tell apart, where there are vectors", at_least=1)
VALENCY = Field("children on a side that a symbol tells apart, at most", at_least=0)
MEMORY = Field(
    "what a head remembers of its modifiers: none, first (was there one), kind (and what was the last)",
    choices=("none", "first", "kind"),
)
BETWEEN = Field("whether arcs also see the verbs, commas and conjunctions between their ends")

# Which strings spectral learners of automata count, and how they are weighed.
SMOOTHING = Field("how much probability is kept for unseen events; 0 for none", at_least=0)
HISTORY = Field("longest string of past symbols in the basis", at_least=1, at_most=5)
FUTURE = Field("longest string of next symbols in the basis", at_least=1, at_most=5)
BASIS = Field(
    "how many of the most frequent strings are in the basis, histories and futures each; 0 for all", at_least=0
)
HANKEL = Field(
    "what the cells of the matrix count: places between strings, whole strings, prefixes of strings, or factors",
    choices=("places", "string", "prefix", "factor"),
)
COMPLETION = Field(
    "strings not seen count as unknown, and the matrix is completed: weight of the sum of its singular values, as "
    "a share of the largest (0.001 to 0.1); 0: they count as zeros",
    at_least=0,
    at_most=1,
)
POWER = Field("counts are divided by this power of those of their strings", at_least=0, at_most=1)
RIDGE = Field("ridge of the inverse, in units of the noise of a count", at_least=0)
CHOSEN_RIDGE = Field(f"{RIDGE.help}; auto (latent trees only): by held-out trees", at_least=0, word=AUTO)
LEXICAL = Field("power of the lexical factor of a product; 0 leaves it out", at_least=0)
DISTANCE = Field("power of the distance factor of a product; 0 leaves it out", at_least=0)
FORM = Field("equations: corrected, or as printed in the paper", choices=("corrected", "printed"))
ABSOLUTE = Field(
    "latent trees: log |p̂| of every estimate as it is, without a floor under those that are no probabilities"
)
VIEW = Field(
    "what words are seen with: the words around them, the next word, all of the sentence, or neighbours in trees",
    choices=("context", "singular", "lr-mvl", "tree"),
)

# Sequences.
ORDER = Field("2: a tag depends on the one before it; 3: on two", at_least=2, at_most=3)
DICTIONARY = Field(
    "the tags that words may have: tagged sentences, as FILE[:COLUMN[:LEAST]], COLUMN counting from the word "
    "at 0 (default 1), words seen less than LEAST times being open (default 5)",
    reader="latentgram.data.tag_dictionary:read_specified",
)
TRANSITION_PRIOR = Field("pseudo-count of every transition", at_least=0)
EMISSION_PRIOR = Field("pseudo-count of every emission", at_least=0)
UNKNOWN_WORDS = Field(
    "unknown words weigh as much as the rarest ones, or are a class of their own that is learned from them and "
    "takes its share of every tag",
    choices=("rarest", "class"),
)
KNOWN_TAGS = Field("whether tags that sentences have are taken as known (_ for one that is not)")
HMM_START = Field(
    "where to begin: at random states, or at clusters of spectral vectors", choices=("random", "spectral")
)
STATES_OR_AUTO = Field(
    "number of hidden states (of each symbol, at most); auto, for HMMs: by held-out likelihood",
    at_least=1,
    at_most=MOST_STATES,
    word=AUTO,
)
TOLERANCE = Field("stop when the bound rises by less than this share of itself", at_least=0)
SEGMENTS = Field("whether equal segments between words of one tag are computed once (exact)")
SMOOTHING_METHOD = Field(
    "how n-grams that were not seen get a probability: not at all, by modified Kneser–Ney, absolute discounting, "
    "Katz or Witten–Bell",
    choices=("none", "kneser-ney", "absolute", "katz", "witten-bell"),
)
LEAST_COUNT = Field(
    "least count of the n-grams kept in a smoothed model: one number for orders from 3 on, or one per order"
)
ENTROPY = Field(
    "n-grams are left out whose loss lets the perplexity grow by a smaller share than this", at_least=0
)
READING = Field("how n-gram counts become an automaton", choices=("exclusive", "epsilon", "failure"))
WINDOW = Field(
    "1: tags are chosen one by one; 2: given the one before; auto: 2 with a dictionary, where that costs little",
    at_least=1,
    at_most=2,
    word=AUTO,
)
LAG = Field(
    "a tag is chosen after seeing this many words after its own, which for 2 needs trigrams or more; "
    "auto: 1 where every word has a history, else 0",
    at_least=0,
    at_most=2,
    word=AUTO,
)
HARD = Field("whether every arc has one tag for certain (zero entropy, as Viterbi EM has)")
SWEEPS = Field("sweeps over the automaton before each change of the parameters", at_least=1)
STANDS_FOR = Field(
    "for how many sentences the n-grams stand, against the pseudo-counts; 0: as many as were counted, and for "
    "an ARPA file, which does not say, so many that its rarest words occur once",
    at_least=0,
)
OPTIMISER = Field("rounds of best responses, or L-BFGS on the exact gradient", choices=("rounds", "gradient"))

# Rounds, passes and steps.
ITERATIONS = Field("number of passes over the data", at_least=1)
ROUNDS = Field("number of rounds", at_least=1)
STEPS_AFTER = Field("smoothed EM steps after the clustering", at_least=0)
START = Field(
    "where to begin: at random states, at the coordinates of spectral vectors or at clusters of them",
    choices=("random", "spectral", "clusters"),
)
SEED = Field("seed of the random start or of the order of the data", at_least=0)
PASSES = Field("number of passes over the data", at_least=1)
STEP = Field("longest step of an update", above=0)
FIRST_STEP = Field("length of the first steps", above=0)
MARGIN = Field("margin: by how much every wrong part is made likelier while learning", at_least=0)
LEAST_SEEN = Field("features seen less often are left out", at_least=1)

# Arcs, lists and tags.
ARC_ORDER = Field("1: scores of arcs; 2: of arcs and adjacent siblings", at_least=1, at_most=2)
BITS = Field("features are hashed into 2 to this power buckets", at_least=10, at_most=28)
FOLDS = Field("parts for jackknifing; 1 for none", at_least=1)
FLOOR = Field("second order: least posterior of a head, relative to the likeliest", above=0, at_most=1)
COUNT = Field("length of the lists", at_least=2)
NON_PROJECTIVE = Field(
    "arcs may cross: learn from trees as they are, not made projective, and parse into such trees"
)
BEST = Field("rivals of a sentence that a step mends together (k-best MIRA), at most", at_least=1, at_most=100)
RULE = Field(
    "reranker: margin, the step that mends a mistake with its loss; perceptron, a whole step for each mistake",
    choices=("margin", "perceptron"),
)
RATERS = Field("what rates trees besides the base parser, separated by commas")
FEATS = Field("whether morphological features (FEATS) are learned with the tags, where the treebank has them")
CLOSED = Field("words seen at least this often only get tags they were seen with", at_least=1)
FREQUENT = Field(
    "features seen at least this often have a weight for every tag, rarer ones for tags they were seen with",
    at_least=1,
)
