import dataclasses

import pytest
from tests.oracles.latent_grammar import random_lpcfg

from latentgram.errors import SettingError
from latentgram.lpcfg.model import Ensemble


def test_grammars_must_share_their_rules():
    grammar = random_lpcfg(0)
    other = dataclasses.replace(grammar, rules=grammar.rules[::-1])
    with pytest.raises(SettingError, match="grammar 2 of the ensemble has other rules than the first"):
        Ensemble((grammar, other))
    with pytest.raises(SettingError, match="at least one"):
        Ensemble(())
