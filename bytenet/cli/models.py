"""`bytenet models`: the pretrained models of the package."""

from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.messages import say

if TYPE_CHECKING:
    from bytenet.model_file import ModelFile


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(name: str | None, as_json: bool) -> None:
    """List the pretrained models of bytenet, with languages, size, scores and licence; or show the card of NAME.

    NAME is a model of the list, or the path of a .bytenet file. A name works wherever a model is asked for, for example
    in `bytenet translate NAME`, `bytenet serve NAME` and `bytenet train my.yaml --set training.start=NAME`.
    """
    from bytenet.lite.cards import summary
    from bytenet.lite.pretrained import model_path, pretrained_names, pretrained_path
    from bytenet.model_file import ModelFile

    if name is not None:
        model = ModelFile(model_path(name))
        if as_json:
            print_json(_described(name, model) | {"card": model.card})
        else:
            click.echo(model.card.rstrip("\n"))
        return
    names = pretrained_names()
    if as_json:
        print_json([_described(each, ModelFile(pretrained_path(each))) for each in names])
    elif not names:
        say(
            "This version of bytenet has no pretrained model. Train one, for example with "
            "`bytenet train multi30k-attention --run runs/multi30k`, or use a .bytenet file."
        )
    else:
        click.echo("\n\n".join(map(summary, names)))


def _described(name: str, model: "ModelFile") -> dict[str, Any]:
    source, target = model.config.data.languages
    size = model.path.stat().st_size
    return {"name": name, "source": source, "target": target, "bytes": size, "facts": model.facts}
