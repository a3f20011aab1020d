"""Searches are compared with the models of the factors, and judged by their gain over the search of the preset."""

from bytenet.reproduction.registry import find_experiment


def test_searches_use_models_that_differ_from_the_preset_in_seed_or_direction_or_family():
    first, second, convs2s, backward = find_experiment("search-factors").runs("cpu")
    assert first in find_experiment("quality-factors").runs("cpu")
    assert convs2s in find_experiment("quality-factors-convs2s").runs("cpu")
    assert {key for key, _, _ in first.config(1).differences(second.config(1))} == {"training.seed"}
    assert {key for key, _, _ in first.config(1).differences(backward.config(1))} == {"data.reversed"}
    assert len({run.name for run in (first, second, convs2s, backward)}) == 4


def test_searches_are_judged_by_their_gain_over_the_search_of_the_preset(tmp_path):
    rows = [
        {"search": name, "trial": 1, "bleu": bleu, "bleu_low": 9.0, "bleu_high": 12.0, "bleu_gain": bleu - 10,
         "bleu_gain_low": 0.5, "bleu_gain_high": 2.0, "chrf": 30.0, "chrf_low": 29.0, "chrf_high": 31.0,
         "chrf_gain": 0.0, "chrf_gain_low": -0.5, "chrf_gain_high": 0.5, "length_ratio": 0.9, "seconds": 60.0}
        for name, bleu in (("beam of 5", 10.0), ("beam of 20", 11.25))
    ]  # fmt: skip
    experiment = find_experiment("search-factors")
    verdicts = {verdict.quantity: verdict for verdict in experiment.verdicts(rows, "cpu")}
    assert verdicts["validation BLEU, beam of 5"].measured == 10.0
    assert verdicts["gain of BLEU, beam of 20"].measured == 1.25
    assert "0.50 to 2.00" in verdicts["gain of BLEU, beam of 20"].note
    assert "length ratio 0.900; 60 s" in verdicts["gain of BLEU, beam of 20"].note
    experiment.plot(rows, tmp_path / "search.png")
    assert (tmp_path / "search.png").read_bytes().startswith(b"\x89PNG")
