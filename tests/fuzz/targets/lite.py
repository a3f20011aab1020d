"""Model files as `bytenet.lite` reads them."""

import json
import zipfile
from random import Random

import numpy as np
import safetensors.numpy

from bytenet.lite import Translator
from bytenet.lite.archive import COPIES, LITE_MODEL, SETTINGS, VOCABULARY, WEIGHTS, Archive, packed
from bytenet.lite.pretrained import pretrained_path
from bytenet.lite.shared_weights import entries_with_shared_weights, read_lite_model
from tests.archive_entries import entries_of
from tests.fuzz.mutations import mutate, mutate_zip
from tests.fuzz.targets.target import Target

_SENTENCE = "Ja."


class LiteModelFiles(Target):
    """The pretrained model, without its weights for TensorFlow.

    The network itself is damaged only with the wrong checksum: LiteRT reads it in native code.
    """

    name, suffix = "LiteRT files", ".bytenet"
    tokens = (
        b"null", b"-1", b"0", b"1e999", b"[" * 3000, b'"\\ud800"', b"65536", b"\xff" * 8, b"\0" * 8, b"true", b'""',
        b'"lite": 3', b'"beam_size": 99', b'"longest": 2', b'"characters": []',
    )  # fmt: skip

    def make_seeds(self) -> list[bytes]:
        path = pretrained_path("de-en")
        archive = Archive(path)
        entries = entries_of(path) | {LITE_MODEL: read_lite_model(archive)}
        self._entries = {name: content for name, content in entries.items() if name not in (WEIGHTS, COPIES)}
        self._expected = [*Translator(path).translate([_SENTENCE])]
        return [packed(self._entries)]

    def mutated(self, random: Random) -> bytes:
        """Damage the file, or a text in it with the right checksum."""
        if random.random() < 0.3:
            return mutate_zip(random.choice(self.seeds), random, self.tokens)
        name, change = random.choice([(SETTINGS, _with_other_setting), (VOCABULARY, _with_other_characters)])
        content = self._entries[name]
        changed = change(content, random) if random.random() < 0.5 else mutate(content, random, self.tokens)
        return packed(self._entries | {name: changed})

    def read(self) -> None:
        translator = Translator(self.path)
        translations = [*translator.translate([_SENTENCE])]
        with zipfile.ZipFile(self.path) as archive:
            same_vocabulary = archive.read(VOCABULARY) == self._entries[VOCABULARY]
            # Other settings of the search may rank fewer hypotheses again, or with another weight, or none. Other
            # limits of length may split the sentence.
            same_search = _search(archive.read(SETTINGS)) == _search(self._entries[SETTINGS])
            assert archive.read(LITE_MODEL) == self._entries[LITE_MODEL], "a damaged network was read"
        if same_vocabulary and same_search:
            assert translations == self._expected, "the translation is another one"


class SharedWeights(Target):
    """The list of copies in a file that has the weights of both engines once, with the right checksum."""

    name, suffix = "shared weights", ".bytenet"
    tokens = (b"null", b"-1", b"0", b"[]", b"[" * 3000, b"9" * 4300, b"1073741824", b"1e999", b"true", b'"1"', b"{}")

    def make_seeds(self) -> list[bytes]:
        random = np.random.default_rng(0)
        weights = {"dense": random.normal(size=(32, 40)), "convolution": random.normal(size=(3, 8, 16))}
        taps = weights["convolution"]
        self._model = b"".join([b"a graph.", *(part.tobytes() for part in (weights["dense"].T, taps[2].T, taps[0]))])
        self._model = self._model.ljust(len(self._model) + 3, b"\0")
        self._entries = entries_with_shared_weights(self._model, safetensors.numpy.save(weights))
        return [packed(self._entries)]

    def mutated(self, random: Random) -> bytes:
        copies = self._entries[COPIES]
        if random.random() < 0.5:
            copies = _with_other_copy(copies, random)
        return packed(
            self._entries | {COPIES: mutate(copies, random, self.tokens) if random.random() < 0.7 else copies}
        )

    def read(self) -> None:
        archive = Archive(self.path)
        model = read_lite_model(archive)
        weights = archive.read(WEIGHTS)
        assert len(model) <= len(archive.read(LITE_MODEL)) + 3 * len(weights), "a small file became a large model"
        if archive.read(COPIES) == self._entries[COPIES]:
            assert model == self._model, "the model is another one"


def _with_other_copy(content: bytes, random: Random) -> bytes:
    """Another number in one of the copies, or another number of copies."""
    listed = json.loads(content)
    copy = random.choice(listed["copies"])
    change = random.choice(["offset", "size", "axes", "repeated", "order"])
    if change == "offset":
        copy[random.randrange(3)] = random.choice([0, 1, 3, 8, 255, 4096, 2**30, 2**63])
    elif change == "size":
        copy[3] = [random.choice([0, 1, 3, 32, 40, 2**15, 2**30]) for _ in range(random.randrange(6))]
    elif change == "axes":
        copy[4] = [random.randrange(4) for _ in range(random.randrange(6))]
    elif change == "repeated":
        listed["copies"] *= random.choice([2, 3, 1000])
    else:
        random.shuffle(listed["copies"])
    return json.dumps(listed).encode()


def _search(content: bytes) -> tuple[object, ...]:
    settings = json.loads(content)
    lite = settings["lite"]
    return settings.get("decoding"), settings.get("data"), lite["beam_size"], lite.get("longest")


def _with_other_setting(content: bytes, random: Random) -> bytes:
    settings = json.loads(content)
    name = random.choice(["beam_size", "longest"])
    settings["lite"][name] = random.choice([None, 0, 1, 2, 3, 5, 6, 2**16, 2**63, 1.5, "2", [2], True])
    return json.dumps(settings).encode()


def _with_other_characters(content: bytes, random: Random) -> bytes:
    vocabulary = json.loads(content)
    characters = vocabulary["characters"]
    change = random.choice(["fewer", "more", "repeated", "order", "rule"])
    if change == "fewer":
        del characters[random.randrange(len(characters)) :]
    elif change == "more":
        characters[: random.randrange(2)] += map(chr, range(0x4E00, 0x4E00 + random.choice([1, 5, 1000])))
    elif change == "repeated":
        characters[random.randrange(len(characters))] = random.choice(characters)
    elif change == "order":
        random.shuffle(characters)
    else:
        vocabulary["unknown"] = random.choice(["error", "drop", "symbol", "", None])
    return json.dumps(vocabulary).encode()
