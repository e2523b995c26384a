"""The documentation: its examples run, and the files it names are there."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import operator
import re
from pathlib import Path

import pytest

import separable

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks/README.md"])
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "\n>>> " in page.read_text()], ids=page_id
)
def test_examples_run(page):
    results = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert results.attempted > 0
    assert results.failed == 0


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_link_is_broken(page):
    broken = []
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]+))?\)", page.read_text()):
        target = page.parent / link if link else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{link}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_named_files_exist(page):
    text = page.read_text()
    paths = {
        ROOT / path
        for path in re.findall(r"`((?:tests|src|docs|cpp|benchmarks|examples|\.ci)/[\w./]+)`", text)
    }
    assert [path for path in paths if not path.exists()] == []


def names_module(name: str) -> bool:
    """Return whether a dotted name below the package is a module, or a name defined in one."""
    whole, _, last = name.rpartition(".")
    path, module = (ROOT / "src/separable" / each.replace(".", "/") for each in (name, whole))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    source = module.with_suffix(".py")
    return source.exists() and re.search(rf"\b{last}\b", source.read_text()) is not None


@pytest.mark.parametrize("page", ["architecture", "glossary"])
def test_named_modules_exist(page):
    folders = {path.name for path in (ROOT / "src/separable").iterdir() if path.is_dir()}
    names = re.findall(r"`([a-z_]\w*(?:\.\w+)*)`", (ROOT / f"docs/{page}.md").read_text())
    names = [name for name in names if not name.endswith(".hpp")]
    modules = [name for name in names if name.partition(".")[0] in folders]
    assert len(modules) > 20
    assert [name for name in modules if not names_module(name)] == []


def test_the_picture_of_the_architecture_is_current():
    where = ROOT / "docs/pictures/architecture.py"
    spec = importlib.util.spec_from_file_location("architecture", where)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PICTURE.read_text() == script.draw(), "run `make pictures`"


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text().split()) <= 1200


def test_every_learner_has_a_page():
    from separable.workflow.learners import LEARNERS

    places = [learner.import_path for learner in LEARNERS.values()]
    stems = {place.partition(":")[0].rpartition(".")[2] for place in places}
    assert {f"docs/learners/{stem}.md" for stem in stems} <= {page_id(page) for page in PAGES}


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=page_id)
def test_every_page_is_linked_from_the_index(page):
    if page.stem == "index":
        assert "(docs/index.md)" in (ROOT / "README.md").read_text()
    else:
        assert (
            f"({page.relative_to(ROOT / 'docs').as_posix()})"
            in (ROOT / "docs/index.md").read_text()
        )


def test_every_page_is_in_the_navigation_of_the_site():
    site = (ROOT / "zensical.toml").read_text()
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")]
    assert sorted(re.findall(r'"([\w/]+\.md)"', site)) == sorted(pages)


def test_the_api_reference_has_every_public_name_once():
    pages = "".join(page.read_text() for page in ROOT.glob("docs/reference/api/*.md"))
    names = re.findall(r"^::: separable\.([\w.]+)$", pages, re.MULTILINE)
    assert sorted(names) == sorted(set(names))
    packages = ["data", "geometry", "lab", "learn", "plot", "report", "select", "serve"]
    packages += ["spark", "workflow"]
    public = set(separable.__all__) - {"__version__"}
    for package in packages:
        module = importlib.import_module(f"separable.{package}")
        public |= {f"{package}.{name}" for name in module.__all__}
    assert public - {"workflow.train"} <= set(names)
    for name in names:
        assert operator.attrgetter(name)(separable).__doc__, name


def test_every_benchmark_is_described_in_the_order_it_runs():
    from benchmarks.command import ROWS

    table = re.findall(
        r"^\| (`[^|]*) \|", (ROOT / "benchmarks/README.md").read_text(), re.MULTILINE
    )
    assert [name for cell in table for name in re.findall(r"`([\w-]+)`", cell)] == list(ROWS)
