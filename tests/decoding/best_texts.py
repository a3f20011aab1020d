"""The best translations, without their scores."""


def best_texts(translations):
    return [hypotheses[0].text for hypotheses in translations]
