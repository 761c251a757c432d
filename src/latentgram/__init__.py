"""latentgram: latent-variable grammars from treebanks, tagged text and n-gram counts, with exact probabilities.

Every public name is listed in `__init__.pyi` and loads on first use, so that `import latentgram` costs nothing.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
