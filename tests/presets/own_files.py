"""Settings of a corpus of own files, which the fixture `nine_thousand_pairs` writes."""

CORPUS = "data: {corpus: files, train_source: de, train_target: en}\n"
FILES = ["data.corpus=files", "data.train_source=de", "data.train_target=en"]
LANGUAGES = ["data.source_language=fr", "data.target_language=en"]
