"""The files of a run and of a profile, as TensorBoard serves them and as a browser shows them.

The browser is the fixture `browser` of tests/conftest.py. Without Chromium, only the answers of the server are tested.
BYTENET_SCREENSHOTS sets the folder of the screenshots. The screenshots in docs/screenshots were made by

    BYTENET_SCREENSHOTS=docs/screenshots pytest -m slow tests/profiling/traces/test_tensorboard_in_browser.py
"""

import base64
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

pytestmark = pytest.mark.slow
pytest.importorskip("xprof", reason="TensorBoard's Profile tab is not installed: pip install '.[profiling]'")

# TensorBoard consists of shadow trees, and the profile is a frame. The text of a page is the text of all of them.
_ALL_TEXT = """
const collect = node => {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  if (['SCRIPT', 'STYLE'].includes(node.nodeName)) return '';
  let parts = [...node.childNodes].map(collect);
  if (node.shadowRoot) parts.push(collect(node.shadowRoot));
  if (node.nodeName === 'IFRAME' && node.contentDocument) parts.push(collect(node.contentDocument.documentElement));
  return parts.join(' ');
};
return collect(document.documentElement);
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory, free_port, wait_for):
    """The address of a TensorBoard server with a small run, its logs and a profile of the same training."""
    from bytenet.config import load_config
    from bytenet.profiling.traces.capture import capture_training
    from bytenet.training import train

    settings = (
        "model.dim=16", "model.num_sets=1", "model.dilations=[1,2]", "training.epochs=8", "evaluation.every_epochs=2",
        "evaluation.continuous_every_seconds=null", "training.jit_compile=false",
    )  # fmt: skip
    config = load_config("digits", settings)
    folder = train(config, tmp_path_factory.mktemp("tensorboard") / "run")
    capture_training(config, folder.logs / "profile")
    port = free_port()
    address = f"http://localhost:{port}"
    program = Path(sys.executable).with_name("tensorboard")
    arguments = ["--logdir", folder.logs, "--port", str(port), "--load_fast=false"]
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: requests.get(f"{address}/data/plugin/profile/runs", timeout=30).json(), "The profile")
            yield address
        finally:
            process.terminate()


def test_scalars_text_and_profile_are_served(server):
    def get(path, **parameters):
        answer = requests.get(f"{server}/data/{path}", params=parameters, timeout=60)
        assert answer.status_code == 200
        return answer

    active = {name for name, plugin in get("plugins_listing").json().items() if plugin["enabled"]}
    assert {"scalars", "text", "profile"} <= active
    scalars = get("plugin/scalars/tags").json()
    assert {"loss", "learning_rate", "gradient_norm"} <= set(scalars["train"])
    assert {"bleu", "loss"} <= set(scalars["validation"])
    assert get("plugin/text/tags").json() == {"validation": ["translations"]}
    (run,) = get("plugin/profile/runs").json()
    tools = get("plugin/profile/run_tools", run=run).json()
    assert {"framework_op_stats", "overview_page"} <= set(tools)
    (host,) = {found["hostname"] for found in get("plugin/profile/hosts", run=run, tag="framework_op_stats").json()}
    operations = get("plugin/profile/data", run=run, tag="framework_op_stats", host=host).text
    for name in ("encoder", "block_1_dilation_2", "conv_dilated", "pre_normalization", "gradient_tape"):
        assert name in operations


# A script that the browser fetches from Google draws the tables and charts of the Profile tab. Without the Internet,
# only its numbers and the trace viewer are there.
@pytest.mark.parametrize(
    ("page", "name", "texts"),
    [
        ("#scalars", "tensorboard-scalars", ("loss", "learning_rate", "bleu")),
        ("#text", "tensorboard-text", ("translations", "source", "reference")),
        ("#profile", "tensorboard-profile", ("Host Compute Time", "Run Environment")),
        ("?tool=trace_viewer@&run={run}#profile", "tensorboard-trace", ("/host:CPU", "tf_Compute")),
    ],
)
def test_browser_shows_the_texts_of_each_tab(server, browser, wait_for, tmp_path, page, name, texts):
    run = requests.get(f"{server}/data/plugin/profile/runs", timeout=30).json()[0]
    browser("url", url="about:blank")
    browser("url", url=f"{server}/{page.format(run=run)}")

    seen = []

    def shown():
        seen.append(browser("execute/sync", script=_ALL_TEXT, args=[]))
        return all(part in seen[-1] for part in texts)

    try:
        wait_for(shown, f"The text of {page}")
    except TimeoutError:
        missing = [part for part in texts if part not in seen[-1]]
        pytest.fail(f"{page} lacks {missing}; its text ends in: {' '.join(seen[-1].split())[-1000:]}")
    time.sleep(3)  # for pictures: they have no text to wait for
    picture = base64.b64decode(browser("screenshot"))
    folder = Path(os.environ.get("BYTENET_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.png").write_bytes(picture)
    assert 10_000 < len(picture) < 300_000
