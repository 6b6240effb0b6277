"""Which nodes name a file: every way to write a path, that file only, and an index that keeps up with every write."""

from __future__ import annotations

import unicodedata

import graph_builders as build
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.graph.touches import PATH_MAX_CHARACTERS, TouchIndex, file_keys, path_key, readings

HOME = "/home/dev"
ROOT = f"{HOME}/app"
FILE = f"{ROOT}/src/store.py"


def matches(touch: str, file: str = FILE, root: str = ROOT, home: str = HOME, fold: bool = False) -> bool:
    """Whether a node with this touch is found for the file."""
    index = TouchIndex()
    index.put("node", [touch])
    return index.nodes(file_keys(file, root, [home], fold), fold) == {"node"}


# --- the forms of a path


@pytest.mark.requirement("entries.touch-forms")
def test_a_path_relative_to_the_root_names_its_file() -> None:
    assert matches("src/store.py")


def test_a_path_that_begins_with_a_dot_names_its_file() -> None:
    assert matches("./src/store.py")
    assert matches("./src/./store.py")


def test_a_path_with_dot_dot_names_its_file() -> None:
    assert matches("src/../src/store.py")
    assert matches("docs/../src/store.py")
    assert matches("../app/src/store.py")
    assert matches("../../dev/app/src/store.py")
    assert matches("../lib/x.py", f"{HOME}/lib/x.py")
    assert matches("../../../etc/hosts", "/etc/hosts")


@pytest.mark.requirement("entries.touch-forms")
def test_a_path_below_home_names_its_file() -> None:
    assert matches("~/app/src/store.py")
    assert matches("~/notes.md", f"{HOME}/notes.md")


@pytest.mark.requirement("entries.touch-forms")
def test_an_absolute_path_names_its_file() -> None:
    assert matches(FILE)
    assert matches("/etc/hosts", "/etc/hosts")
    assert matches(f"/{FILE}")
    assert matches("/home/dev/app/docs/../src/store.py")


@pytest.mark.requirement("entries.touch-forms")
@pytest.mark.parametrize(
    "position", [":3", ":3-20", ":3:7", ":3,9", ":L3", "#L3", "#L3-L20", "#L3-20", "::test_it", "::A::b"]
)
@pytest.mark.parametrize("path", ["src/store.py", "./src/store.py", "~/app/src/store.py", FILE])
def test_a_position_in_the_file_may_follow(path: str, position: str) -> None:
    assert matches(path + position)


@pytest.mark.requirement("entries.touch-forms")
@pytest.mark.parametrize("note", [" (main)", " (the cache)", " (see load(), twice)", " (a) (b)", "  (two blanks)"])
@pytest.mark.parametrize("path", ["src/store.py", "src/store.py:12", "src/store.py:1-9", "~/app/src/store.py", FILE])
def test_an_anchor_in_brackets_may_follow(path: str, note: str) -> None:
    assert matches(path + note)


def test_marks_around_a_path_are_no_part_of_it() -> None:
    assert all(matches(form) for form in ("`src/store.py`", "'src/store.py'", '"src/store.py"', " src/store.py "))


@pytest.mark.parametrize(
    "name", ["übung.py", "メモ.md", "ключ.txt", "café.py", "my file.py", "a b/c d.md", "q (old).md"]
)
def test_names_of_any_script_and_with_blanks_are_found_however_they_are_composed(name: str) -> None:
    for touch in (unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name), f"./{name}:3"):
        for file in (unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
            assert matches(touch, f"{ROOT}/{file}")


def test_a_file_whose_name_looks_like_a_position_or_an_anchor_is_found_too() -> None:
    assert matches("notes (old).md", f"{ROOT}/notes (old).md")
    assert matches("report (1)", f"{ROOT}/report (1)")
    assert matches("log:12", f"{ROOT}/log:12")


def test_windows_paths_are_found_on_windows() -> None:
    root, home = "C:\\Users\\é x\\app", "C:\\Users\\é x"
    file = root + "\\src\\store.py"
    for touch in (
        "src/store.py",
        "src\\store.py",
        ".\\src\\store.py:3",
        "~/app/src/store.py",
        "c:/Users/é x/app/src/store.py",
    ):
        assert matches(touch, file, root, home)
    assert matches(file, file, root, home)
    assert matches("~\\app\\src\\store.py", file, root, home)
    assert matches("\\\\server\\share\\a.md", "\\\\server\\share\\a.md", root, home)
    assert not matches("src\\store.py", root + "\\lib\\store.py", root, home)


def test_a_backslash_is_a_letter_like_any_other_where_the_file_has_one() -> None:
    assert matches("odd\\name", f"{ROOT}/odd\\name")
    assert not matches("odd/name", f"{ROOT}/odd\\name")
    assert not matches("odd\\name/a.py", f"{ROOT}/odd/name/a.py")


def test_upper_and_lower_case_are_told_apart_unless_the_file_system_does_not() -> None:
    assert not matches("SRC/Store.py")
    assert matches("SRC/Store.py", fold=True)
    assert matches("~/APP/src/store.py", fold=True)
    assert matches("src/store.py", "/HOME/dev/App/SRC/store.py", fold=True)
    assert not matches("SRC/other.py", fold=True)


# --- that file only


@pytest.mark.requirement("file.path-forms")
@pytest.mark.parametrize(
    "touch",
    [
        *("store.py", "lib/store.py", "src/restore.py", "src/store.pyx", "src/store", "src/store.py/x", "src", "src/"),
        *("../src/store.py", "/src/store.py", "~/src/store.py", "/home/dev/other/src/store.py", "app/src/store.py"),
        *("src/*.py", "", ".", "..", "/", "~", "~/", "./", "../..", ":3", " (x)", "(x)", "::", "src/store.py\0"),
        *("~other/app/src/store.py", "https://host/src/store.py", "src/store.py and more"),
    ],
)
def test_a_touch_names_no_other_file(touch: str) -> None:
    assert not matches(touch)


def test_a_file_elsewhere_with_the_same_name_is_another_file() -> None:
    for file in (f"{HOME}/other/src/store.py", f"{ROOT}/zzz/src/store.py", f"{ROOT}/src/store.pyx", "/src/store.py"):
        assert not matches("src/store.py", file)


def test_without_a_root_relative_touches_name_nothing() -> None:
    assert not matches("src/store.py", root="")
    assert matches("~/app/src/store.py", root="")
    assert matches(FILE, root="")


def test_the_folder_itself_is_no_file_of_its_own() -> None:
    assert not any(key.startswith("./") for key in file_keys(ROOT, ROOT))


# --- the index


def test_several_nodes_and_several_touches_are_all_found() -> None:
    index = TouchIndex()
    index.put("a", ["src/store.py", "README.md"])
    index.put("b", [FILE])
    index.put("c", ["README.md"])
    assert index.nodes(file_keys(FILE, ROOT)) == {"a", "b"}
    assert index.nodes(file_keys(f"{ROOT}/README.md", ROOT)) == {"a", "c"}
    assert index.count("a") == 2
    assert index.count("never-heard-of") == 0


def test_a_node_written_anew_is_found_by_its_new_touches_alone() -> None:
    index = TouchIndex()
    index.put("a", ["old.py"])
    index.put("a", ["new.py"])
    assert index.nodes(["./old.py"]) == set()
    assert index.nodes(["./new.py"]) == {"a"}
    index.put("a", [])
    assert index.nodes(["./new.py"]) == set()


def test_files_of_the_same_name_are_listed_up_to_a_bound() -> None:
    index = TouchIndex()
    for number in range(5):
        index.put(f"n{number}", [f"part{number}/Index.ts"])
    assert index.named("/any/where/index.ts", 3) == ["./part0/Index.ts", "./part1/Index.ts", "./part2/Index.ts"]
    for number in range(60):
        index.put(f"m{number}", [f"other{number}/index.ts"])
    assert index.named("/any/where/index.ts", 3) == []


class Counting(dict[str, dict[str, set[str]]]):
    """A table that counts how often it is asked."""

    asked = 0

    def get(self, key: str, default: object = None) -> dict[str, set[str]]:  # type: ignore[override]
        """As a dict's, counted."""
        self.asked += 1
        return super().get(key, {})


def test_a_lookup_asks_as_often_in_a_large_memory_as_in_a_small_one() -> None:
    asked = set()
    for size in (10, 10_000):
        index = TouchIndex()
        for number in range(size):
            index.put(f"n{number}", [f"src/{number}.py", f"docs/{number % 7}.md (part {number})"])
        index._nodes = Counting(index._nodes)
        assert index.nodes(file_keys(f"{ROOT}/src/3.py", ROOT, [HOME])) == {"n3"}
        asked.add(index._nodes.asked)
    assert len(asked) == 1


def nothing_is_left(index: TouchIndex) -> bool:
    return not (index._nodes or index._named or index._keys)


paths = st.lists(
    st.sampled_from(["src", "a.py", "b.py", "..", ".", "~", "", "é", "e\u0301", "x y", "A.PY"]), min_size=1, max_size=4
).map("/".join)
touches = st.builds(lambda path, end: path + end, paths, st.sampled_from(["", ":3", " (x)", "::t"]))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(touches, max_size=3)), max_size=8), paths, st.booleans())
def test_a_lookup_finds_what_a_scan_of_all_nodes_finds(
    writes: list[tuple[str, list[str]]], path: str, fold: bool
) -> None:
    index = TouchIndex()
    for name, named in writes:
        index.put(name, named)
    keys = file_keys(f"{ROOT}/{path}", ROOT, [HOME], fold)
    wanted = {key.casefold() for key in keys} if fold else keys
    naive = {
        name
        for name, named in dict(writes).items()
        if any((key.casefold() if fold else key) in wanted for touch in named for key in readings(touch))
    }
    assert index.nodes(keys, fold) == naive
    for name, _ in writes:
        index.remove(name)
    assert nothing_is_left(index)


@given(build.histories)
def test_a_graphs_touches_are_those_of_its_nodes_after_any_history(history: list[Change]) -> None:
    graph = Graph("project")
    graph.apply(history)
    again = build.rebuilt(graph).touches
    assert (graph.touches._nodes, graph.touches._named, graph.touches._keys) == (
        again._nodes,
        again._named,
        again._keys,
    )


@given(st.text(), st.text(), st.text(), st.booleans())
def test_no_text_is_too_odd(touch: str, file: str, root: str, fold: bool) -> None:
    index = TouchIndex()
    index.put("node", [touch])
    index.nodes(file_keys(file, root, [root], fold), fold)
    index.named(file, 3)
    index.remove("node")
    assert nothing_is_left(index)


@given(st.text(alphabet="ab./~\\:(#L3) ", max_size=40))
def test_a_key_is_its_own_key(text: str) -> None:
    key = path_key(text)
    assert not key or path_key(key) == key


@pytest.mark.parametrize("unit", ["../", " (", "::", "a/", ":1", "((", "\\", "~/", " ", "#L1", "é", ")", ":1-2,3"])
def test_a_hostile_touch_has_few_readings_and_an_overlong_one_none(unit: str) -> None:
    assert readings(unit * (PATH_MAX_CHARACTERS + 1)) == set()
    for size in (500, PATH_MAX_CHARACTERS):
        assert len(readings((unit * size)[:size])) <= 12
