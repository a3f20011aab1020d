"""The operation `/translate`: what it takes, and what it answers."""

import pytest

from .translate_requests import FIELDS, SENTENCE, answer


@pytest.mark.parametrize("encoding", ["params", "data", "json"])
def test_parameters_come_in_the_query_a_form_or_json(server, encoding):
    found = answer(server, **{encoding: SENTENCE})
    assert found.status_code == 200
    assert found.json() == {"translatedText": "cba"}


@pytest.mark.parametrize("charset", ["", "; charset=utf-8"])
def test_a_form_may_have_characters_that_are_not_percent_encoded(server, charset):
    body = "source=de&target=en&q=läuft+😀".encode()  # as `curl -d` sends it
    found = answer(server, data=body, headers={"Content-Type": f"application/x-www-form-urlencoded{charset}"})
    assert found.json() == {"translatedText": "😀 tfuäl"}


def test_parameters_come_in_a_multipart_form(server):
    found = answer(server, files={name: (None, value) for name, value in SENTENCE.items()})
    assert found.json() == {"translatedText": "cba"}


def test_the_body_comes_before_the_query(server):
    assert answer(server, params={**SENTENCE, "q": "other"}, json={"q": "abc"}).json() == {"translatedText": "cba"}


@pytest.mark.parametrize("encoding", ["params", "data", "json"])
def test_a_list_gives_lists(server, encoding):
    parameters = {**SENTENCE, "q": ["abc", "de"], "alternatives": 1}
    found = answer(server, **{encoding: parameters}).json()
    assert found == {"translatedText": ["cba", "ed"], "alternatives": [["cba'"], ["ed'"]]}


def test_a_form_may_have_as_many_texts_as_the_administrator_says(serving, reversing_engine):
    texts = ["a"] * 1200
    with serving(reversing_engine(), max_texts=1200) as address:
        assert answer(address, data={**SENTENCE, "q": texts}).json()["translatedText"] == texts
        assert answer(address, data={**SENTENCE, "q": [*texts, "a"]}).status_code == 413
        fields = [
            *((name, (None, SENTENCE[name])) for name in ("source", "target")),
            *(("q", (None, "a")) for _ in texts),
        ]
        assert answer(address, files=fields).json()["translatedText"] == texts


def test_texts_keep_their_lines_and_blanks(server):
    text = "  Ja. Nein!\n\n \tGut.\r\n"
    assert answer(server, json={**SENTENCE, "q": text}).json()["translatedText"] == "  .aJ !nieN\n\n \t.tuG\r\n"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u200b"])
def test_a_blank_text_stays_as_it_is(server, text):
    found = answer(server, json={**SENTENCE, "q": text, "alternatives": 2}).json()
    assert found == {"translatedText": text, "alternatives": []}


def test_sentences_are_not_split_where_the_administrator_says_so(serving, reversing_engine):
    with serving(reversing_engine(), into_sentences=False) as address:
        assert answer(address, json={**SENTENCE, "q": "Ja. Nein."}).json()["translatedText"] == ".nieN .aJ"


def test_alternatives_have_the_candidates_of_each_sentence(server):
    found = answer(server, json={**SENTENCE, "q": "Ja. Nein.", "alternatives": 2}).json()
    assert found == {"translatedText": ".aJ .nieN", "alternatives": [".aJ' .nieN'", ".aJ'' .nieN''"]}


def test_the_source_language_is_detected(serving, reversing_engine):
    with serving(reversing_engine("de"), reversing_engine("fr")) as address:
        found = answer(address, json={**SENTENCE, "source": "auto", "q": "Le chien court dans la rue"}).json()
    assert found["detectedLanguage"]["language"] == "fr"
    assert found["detectedLanguage"]["confidence"] > 90


def test_the_detected_language_is_one_that_is_translated_to_the_target(serving, reversing_engine):
    english = {**SENTENCE, "source": "auto", "q": "The dog runs along the street"}
    with serving(reversing_engine("de", "en"), reversing_engine("en", "de")) as address:
        found = answer(address, json=english).json()
        assert (found["translatedText"], found["detectedLanguage"]["language"]) == (english["q"][::-1], "de")
        assert answer(address, json={**english, "target": "de"}).json()["detectedLanguage"]["language"] == "en"
        refused = answer(address, json={**english, "target": "fr"})
    assert refused.status_code == 400
    assert "'en' to 'fr' is not translated here" in refused.json()["error"]


def test_confidence_is_low_for_a_language_that_is_not_served(server):
    found = answer(server, json={**SENTENCE, "source": "auto", "q": "The dog runs along the street"}).json()
    assert found["detectedLanguage"]["language"] == "de"
    assert found["detectedLanguage"]["confidence"] < 10


def test_a_multipart_form_may_name_its_charset(server):
    body = FIELDS + "Läuft\r\n--x--\r\n".encode()
    found = answer(server, data=body, headers={"Content-Type": "multipart/form-data; boundary=x; charset=UTF-8"})
    assert found.json() == {"translatedText": "tfuäL"}
