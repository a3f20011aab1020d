"""Programs that know LibreTranslate translate with this server, unchanged."""

import pytest
from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI
from translate import Translator


@pytest.fixture
def server(serving, reversing_engine):
    with serving(reversing_engine("de", "en"), reversing_engine("fr", "en")) as address:
        yield address


def test_libretranslatepy_translates_detects_and_lists_languages(server):
    client = LibreTranslateAPI(server)
    assert client.translate("Häuser & mehr", "de", "en") == "rhem & resuäH"
    assert client.languages() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
        {"code": "fr", "name": "French", "targets": ["en"]},
    ]
    assert client.detect("Ein Hund läuft über die Straße")[0]["language"] == "de"


def test_deep_translator_translates_one_text_and_several(server):
    client = LibreTranslator(source="German", target="English", custom_url=server, api_key="none")
    assert client.translate("Häuser & mehr") == "rhem & resuäH"
    assert client.translate_batch(["ab", "cd"]) == ["ba", "dc"]


def test_translate_takes_a_language_and_finds_it_out(server):
    client = Translator(provider="libre", from_lang="de", to_lang="en", base_url=server)
    assert client.translate("Häuser & mehr") == "rhem & resuäH"
    detecting = Translator(provider="libre", from_lang="autodetect", to_lang="en", base_url=server)
    assert detecting.translate("Le chien court") == "truoc neihc eL"
