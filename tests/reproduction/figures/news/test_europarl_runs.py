"""The trainings on Europarl need the whole corpus at the thesis's scale."""

from types import SimpleNamespace

import pytest

from bytenet.datasets import Pairs
from bytenet.errors import InputError
from bytenet.reproduction.figures.news import europarl_runs
from bytenet.reproduction.figures.news.europarl_runs import europarl_run


@pytest.mark.parametrize("missing", [0, 1])
def test_a_part_of_europarl_is_refused_at_the_scale_of_the_thesis(monkeypatch, tmp_path, missing):
    monkeypatch.setattr(europarl_runs, "_PAIRS_OF_EUROPARL", 3)
    read = []

    def read_corpus(data):
        read.append(data.corpus)
        return SimpleNamespace(train=Pairs(["a"] * (3 - missing), ["b"] * (3 - missing)))

    monkeypatch.setattr(europarl_runs, "read_corpus", read_corpus)
    prepare = europarl_run("bytenet", "thesis").prepare
    if missing:
        with pytest.raises(InputError, match=r"has 2 training pairs, the thesis had 3\. .* or use --scale cpu\."):
            prepare(tmp_path)
    else:
        assert prepare(tmp_path) == []
    assert read == ["europarl"]
