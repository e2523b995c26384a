"""Size and shape of the source tree, and the words it uses: ``make house``.

It prints figures and judges none of them: modules and lines of each folder, module names that
occur more than once, the depth of the estimators' class hierarchies, accesses to private
attributes across packages, numeric constants of modules, and words that the glossary replaces.

    python benchmarks/house.py              the working tree
    python benchmarks/house.py REVISION     any commit, branch or tag
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Words that the field has better ones for, counted in identifiers.
REPLACED = [
    "strength",
    "judge",
    "judged",
    "judgement",
    "watch",
    "request",
    "lesson",
    "material",
    "along",
    "pull",
    "slope",
    "corner",
    "asleep",
    "calm",
    "unrest",
    "reach",
    "answers",
    "truth",
    "place",
    "places",
    "there",
    "told",
    "asked",
    "wish",
    "some",
    "mine",
    "few",
    "found",
    "telling",
    "share",
    "kink",
    "room",
    "typed",
    "growing",
    "engine",
]
#: Words of the field, counted everywhere.
FIELD = [
    "regularization",
    "hyper.?parameter",
    "solver",
    "line.search",
    "screening",
    "active.set",
    "working.set",
    "duality.gap",
    "shrinking",
    "Hessian",
    "gradient",
]
#: Names that may occur in several folders.
MAY_REPEAT = {"__init__", "__main__", "base", "base_classifier", "base_regressor", "options"}
#: Folders with modules named after those whose subject they offer: faces and commands.
NAMED_AFTER_OTHERS = ("sklearn", "cli/commands")


def main() -> None:
    """Print the figures of the working tree, or of the revision that is named."""
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as folder:
            describe(unpacked(sys.argv[1], Path(folder)))
    else:
        describe(ROOT)


def unpacked(revision: str, folder: Path) -> Path:
    """Write the tree of a revision to a folder."""
    archive = subprocess.run(
        ["git", "archive", revision, "src", "cpp", "tests"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def describe(root: Path) -> None:
    """Print the figures of one tree."""
    source = root / "src" / "separable"
    modules = {path: path.read_text() for path in sorted(source.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in modules.items()}
    print_folders(source, modules)
    print_repeated_names(source, modules)
    print_hierarchies(trees)
    print_private_accesses(source, trees)
    constants = sum(numeric_constants(tree) for tree in trees.values())
    print(f"\nmodule-level numeric constants: {constants}")
    print_words(modules)
    core = [path.read_text() for path in (root / "cpp").rglob("*.[ch]pp")]
    print(f"\nC++: {len(core)} files, {sum(text.count(chr(10)) for text in core)} lines")


def print_folders(source: Path, modules: dict[Path, str]) -> None:
    """Print the modules and lines of each folder, the fullest first."""
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path, text in modules.items():
        folder = str(path.parent.relative_to(source))
        counts[folder] += path.name != "__init__.py"
        lines[folder] += text.count("\n")
    print(f"{len(modules)} modules, {sum(lines.values())} lines in {len(counts)} folders")
    for folder, count in counts.most_common():
        print(f"  {folder:40} {count:4} modules {lines[folder]:7} lines")
    print(f"largest folder: {counts.most_common(1)[0]}")


def print_repeated_names(source: Path, modules: dict[Path, str]) -> None:
    """Print the names that modules of several folders share."""
    homes = defaultdict(list)
    for path in modules:
        folder = str(path.parent.relative_to(source))
        if path.stem not in MAY_REPEAT and folder not in NAMED_AFTER_OTHERS:
            homes[path.stem].append(folder)
    repeated = {name: folders for name, folders in homes.items() if len(folders) > 1}
    print(f"\nmodule names used more than once: {len(repeated)}")
    for name, folders in repeated.items():
        print(f"  {name}: {', '.join(folders)}")


def print_hierarchies(trees: dict[Path, ast.Module]) -> None:
    """Print how many of the package's own classes each public estimator consists of."""
    bases: dict[str, list[str]] = {}
    for path, tree in trees.items():
        if any(folder in str(path.parent) for folder in NAMED_AFTER_OTHERS):
            continue  # they would hide the classes that they are named after
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [base_name(base) for base in node.bases]
    public = public_names(trees)
    depth = {name: len(ancestors(name, bases)) for name in public if name in bases}
    print("\nown classes in the hierarchy of each public class:")
    for name, count in sorted(depth.items(), key=lambda item: -item[1]):
        print(f"  {name:28} {count}")


def public_names(trees: dict[Path, ast.Module]) -> list[str]:
    """Return the names that ``separable`` itself exports."""
    top = min(trees, key=lambda path: len(path.parts))
    for path, tree in trees.items():
        if path.name == "__init__.py" and len(path.parts) == len(top.parts):
            for node in tree.body:
                if isinstance(node, ast.Assign) and base_name(node.targets[0]) == "__all__":
                    return list(ast.literal_eval(node.value))
    return []


def ancestors(name: str, bases: dict[str, list[str]]) -> set[str]:
    """Return a class and all classes of the package that it inherits from."""
    seen: set[str] = set()
    left = [name]
    while left:
        each = left.pop()
        if each in bases and each not in seen:
            seen.add(each)
            left += bases[each]
    return seen


def base_name(node: ast.expr) -> str:
    """Return the last name of ``a``, ``a.b`` or ``a[b]``."""
    if isinstance(node, ast.Subscript):
        return base_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def print_private_accesses(source: Path, trees: dict[Path, ast.Module]) -> None:
    """Print how often a package reads ``x._name`` of a name that another package defines."""
    defined: dict[str, set[str]] = defaultdict(set)
    used: list[tuple[str, str]] = []
    for path, tree in trees.items():
        package = path.relative_to(source).parts[0]
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and is_private(node.name):
                defined[node.name].add(package)
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                owner = base_name(node.value)
                if owner in {"self", "cls"}:
                    defined[node.attr].add(package)
                else:
                    used.append((package, node.attr))
    across = [use for use in used if use[1] in defined and use[0] not in defined[use[1]]]
    print(f"\nprivate attributes read across packages: {len(across)}")
    for (package, name), count in Counter(across).most_common(10):
        print(f"  {package}: {name} {count}")


def is_private(name: str) -> bool:
    """Say whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def numeric_constants(tree: ast.Module) -> int:
    """Count the names in capitals that a module sets to numbers."""
    count = 0
    for node in tree.body:
        value = getattr(node, "value", None)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [
            each.id
            for target in targets
            for each in getattr(target, "elts", [target])
            if isinstance(each, ast.Name) and each.id.isupper()
        ]
        if names and value is not None and is_numeric(value):
            count += len(names)
    return count


def is_numeric(node: ast.expr) -> bool:
    """Say whether an expression consists of numbers and arithmetic alone."""
    parts = [
        each for each in ast.walk(node) if isinstance(each, (ast.Constant, ast.Name, ast.Call))
    ]
    return bool(parts) and all(
        isinstance(each, ast.Constant)
        and isinstance(each.value, (int, float))
        and not isinstance(each.value, bool)
        for each in parts
    )


def print_words(modules: dict[Path, str]) -> None:
    """Print how often words occur: the replaced ones in identifiers, the field's ones anywhere."""
    counts: Counter[str] = Counter()
    for text in modules.values():
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                parts = re.split(r"_|(?<=[a-z])(?=[A-Z])", token.string)
                counts.update(part.lower() for part in parts)
    print("\nreplaced words in identifiers:")
    shown = {word: counts[word] + counts[word + "s"] for word in REPLACED}
    print("  " + ", ".join(f"{word} {count}" for word, count in shown.items()))
    everything = "\n".join(modules.values())
    print("words of the field, anywhere:")
    field = {word: len(re.findall(word, everything, re.IGNORECASE)) for word in FIELD}
    named = {word.replace(".?", "-").replace(".", " "): count for word, count in field.items()}
    print("  " + ", ".join(f"{word} {count}" for word, count in named.items()))


if __name__ == "__main__":
    main()
