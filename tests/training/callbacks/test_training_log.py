"""The CSV of each translator has its own measurements."""

from types import SimpleNamespace

from bytenet.csv_log import read_csv_log
from bytenet.run_folder import RunFolder
from bytenet.training.callbacks import TrainingLog
from bytenet.training.state import TrainingState


def test_each_translator_has_its_own_learning_rate(tmp_path):
    """The schedule "plateau" cuts the rate of one translator and not that of the other."""
    folders = {name: RunFolder(tmp_path / name) for name in ("forward", "backward")}
    translators = {}
    for (name, folder), rate in zip(folders.items(), (0.5, 0.25), strict=True):
        folder.make()
        translators[name] = SimpleNamespace(optimizer=SimpleNamespace(learning_rate=rate))
    log = TrainingLog(folders, TrainingState(), learning=list(folders))
    log.set_model(SimpleNamespace(optimizer=translators["forward"].optimizer, translator=translators.get))
    log.on_epoch_end(0, {"loss": 1.0, "backward_loss": 2.0})
    rates = {name: read_csv_log(folder.metrics_path)["learning_rate"] for name, folder in folders.items()}
    assert rates == {"forward": [0.5], "backward": [0.25]}
