"""Small experiments for the tests of `bytenet reproduce`: their plot, and a registry that has only them."""

CHAPTER = "beyond-the-thesis.md"


def draw(table, path):
    path.write_text(f"{len(table)} rows", encoding="utf-8")


def replace_registry(monkeypatch, tmp_path, experiments):
    """Replace all experiments by those of a list, which a test may change, and make `tmp_path` the working folder."""
    monkeypatch.chdir(tmp_path)
    for module in ("registry", "pages.write_pages"):
        monkeypatch.setattr(f"bytenet.reproduction.{module}.all_experiments", lambda: experiments)
    return experiments


def files(folder):
    return sorted(path.name for path in folder.iterdir())
