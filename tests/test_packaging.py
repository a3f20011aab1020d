"""An install contains the whole package and nothing under the names of other packages."""

import configparser
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import bytenet

ROOT = Path(__file__).parents[1]
LICENCES = ("LICENSE", "LICENSE-MODELS")
PINNED_EXTRAS = ("profiling", "notebooks", "serve", "test")


def requirements(extra: str | None = None) -> list[Requirement]:
    """The requirements in setup.cfg, for the package or for one of its extras."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    text = setup["options.extras_require"][extra] if extra else setup["options"]["install_requires"]
    return [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory) -> set[str]:
    """The files of the wheel that a plain `pip install .` builds. The test builds from a copy of the repository."""
    folder = tmp_path_factory.mktemp("packaging")
    source = folder / "source"
    for name in ("bytenet", "datasets", "profiling", "tests"):
        copytree(ROOT / name, source / name, symlinks=True, ignore=ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", *LICENCES):
        copy2(ROOT / name, source)
    (source / "bytenet" / "pretrained" / "xx-yy.bytenet").touch()  # there may be no other
    code = "from setuptools.build_meta import build_wheel; build_wheel('..')"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_install_has_no_other_top_level_names(wheel_names):
    top = {name.partition("/")[0] for name in wheel_names}
    assert top == {"bytenet", f"bytenet-{bytenet.__version__}.dist-info"}


def test_an_install_is_complete(wheel_names):
    modules = {f"bytenet/{path.relative_to(ROOT / 'bytenet')}" for path in (ROOT / "bytenet").rglob("*.py")}
    for linked in ("datasets", "profiling"):
        assert f"bytenet/{linked}/__init__.py" in wheel_names
        modules |= {f"bytenet/{path.relative_to(ROOT)}" for path in (ROOT / linked).rglob("*.py")}
    presets = {str(path.relative_to(ROOT)) for path in (ROOT / "bytenet" / "presets").rglob("*.yaml")}
    assert len(presets) >= 6
    data = [path for kind in ("csv", "yaml") for path in (ROOT / "bytenet" / "reproduction" / "data").glob(f"*.{kind}")]
    tables = {f"bytenet/reproduction/data/{path.name}" for path in data}
    assert len(tables) >= 3
    measured = list((ROOT / "bytenet" / "presets").glob("*/measured/*.yaml"))
    assert {str(path.relative_to(ROOT)) for path in measured} < presets
    shipped = {path.name for path in (ROOT / "bytenet" / "pretrained").glob("*.bytenet")} | {"xx-yy.bytenet"}
    models = {f"bytenet/pretrained/{name}" for name in shipped}
    page = {f"bytenet/serving/page/{name}" for name in ("page.html", "script.js", "style.css")}
    assert {name for name in wheel_names if not name.partition("/")[0].endswith(".dist-info")} == (
        modules | presets | models | tables | page
    )


@pytest.mark.parametrize("folder", [".", "lite"])
def test_both_distributions_have_the_licences_of_the_code_and_of_the_models(tmp_path, folder):
    source = tmp_path / "source"
    (source / "bytenet" / "lite").mkdir(parents=True)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "bytenet/__init__.py", *LICENCES):
        if (ROOT / folder / name).is_file():
            copy2(ROOT / folder / name, source / name)
    code = "from setuptools.build_meta import prepare_metadata_for_build_wheel; prepare_metadata_for_build_wheel('..')"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (info,) = tmp_path.glob("*.dist-info")
    metadata = message_from_string((info / "METADATA").read_text(encoding="utf-8"))
    assert metadata["License-Expression"] == "MIT AND CC-BY-2.0"
    assert metadata.get_all("License-File") == [*LICENCES]
    for name in LICENCES:
        assert (info / "licenses" / name).read_bytes() == (ROOT / name).read_bytes()


@pytest.mark.parametrize("name", ["datasets", "profiling"])
def test_links_to_the_packages_are_relative(name):
    link = ROOT / "bytenet" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..", name)


def test_importing_the_library_defines_no_top_level_name(tmp_path):
    code = (
        "import bytenet.datasets, bytenet.profiling, sys;"
        "sys.exit(' '.join({'datasets', 'profiling'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("extra", [None, *PINNED_EXTRAS])
def test_every_requirement_is_pinned_to_an_allowed_version(extra):
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert list(pinned) == sorted(pinned)
    for requirement in requirements(extra):
        version = pinned[requirement.name.lower()]
        assert requirement.specifier.contains(Version(version)), f"{requirement} is pinned to {version}"


def test_requirements_allow_only_working_tensorflow_versions():
    wanted = {requirement.name: requirement.specifier for requirement in requirements()}
    assert wanted["tensorflow"].contains("2.21.0")
    assert not wanted["tensorflow"].contains("2.22.0")
    assert not wanted["tensorflow-text"].contains("2.21.0")  # cannot be imported
    assert wanted["tensorflow-text"].contains("2.21.1")
    assert "tensorboard" in wanted  # TensorFlow does not install it


def test_gpu_extra_adds_the_cuda_libraries_of_the_same_tensorflow():
    (gpu,) = requirements("gpu")
    (tensorflow,) = [requirement for requirement in requirements() if requirement.name == "tensorflow"]
    assert (gpu.name, gpu.extras, gpu.specifier) == ("tensorflow", {"and-cuda"}, tensorflow.specifier)


def test_the_citation_names_this_version_and_the_thesis():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["cff-version"], citation["type"], citation["title"]) == ("1.2.0", "software", "bytenet")
    assert citation["version"] == bytenet.__version__
    assert citation["license"] == "MIT"
    assert citation["message"]
    assert citation["authors"] == [{"name": "bytenet contributors"}]
    (thesis,) = citation["references"]
    assert thesis["type"] == "thesis"
    assert thesis["year"] == 2017
    assert thesis["url"] in (ROOT / "README.md").read_text(encoding="utf-8")
