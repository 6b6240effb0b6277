"""Where a file lies: links, home and linked work trees resolved, and nothing that a client names too odd."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.touches import TouchIndex
from kg_server.service.places import Place, Places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a project in it."""
    base = Path(os.path.realpath(tmp_path))
    (base / "home" / "app" / "src").mkdir(parents=True)
    (base / "home" / "app" / "src" / "store.py").write_text("x", encoding="utf-8")
    return base / "home"


@pytest.fixture
def root(home: Path) -> str:
    """The project's root."""
    return str(home / "app")


@pytest.fixture
def places(home: Path) -> Places:
    """Places over that home."""
    return Places(home, home / ".store", home.parent / "tmp")


def known(place: Place | None, *touches: str) -> list[str]:
    """Those of the touches that name the place."""
    assert place is not None
    index = TouchIndex()
    for touch in touches:
        index.put(touch, [touch])
    return [touch for touch in touches if touch in index.nodes(place.keys, place.fold)]


def test_a_file_is_shown_as_a_lesson_would_name_it(places: Places, home: Path, root: str) -> None:
    for named, shown in [
        (f"{root}/src/store.py", "src/store.py"),
        (f"{home}/notes.md", "~/notes.md"),
        ("~/notes.md", "~/notes.md"),
        ("src/store.py", "src/store.py"),
        ("../lib/x.py", "~/lib/x.py"),
        ("/etc/hosts", "/etc/hosts"),
    ]:
        place = places.of(named, root, root)
        assert place is not None
        assert place.shown == shown


def test_a_relative_path_counts_only_from_a_known_folder(places: Places, root: str) -> None:
    assert places.of("src/store.py", "", root) is None
    assert places.of("src/store.py", "app", root) is None
    assert known(places.of("store.py", f"{root}/src", root), "src/store.py") == ["src/store.py"]


@pytest.mark.parametrize("named", ["{home}/app/src/store.py", "{called}/app/src/store.py", "~/app/src/store.py"])
def test_a_link_to_the_home_folder_is_resolved_on_both_sides(tmp_path: Path, home: Path, root: str, named: str) -> None:
    called = tmp_path / "called"
    called.symlink_to(home)
    places = Places(called, home / ".store", tmp_path / "tmp")
    touches = ("src/store.py", "~/app/src/store.py", f"{root}/src/store.py", f"{called}/app/src/store.py")
    assert known(places.of(named.format(home=home, called=called), root, root), *touches) == list(touches)


def test_a_link_to_the_project_is_resolved_on_both_sides(places: Places, tmp_path: Path, root: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    touches = ("src/store.py", f"{root}/src/store.py", f"{link}/src/store.py")
    for named in (f"{root}/src/store.py", f"{link}/src/store.py", "src/store.py", "store.py"):
        folder = f"{link}/src" if named == "store.py" else str(link)
        assert known(places.of(named, folder, root), *touches) == list(touches)


def test_a_link_within_the_project_is_known_by_both_its_names(places: Places, root: str) -> None:
    os.symlink(f"{root}/src", f"{root}/code")
    assert known(places.of(f"{root}/code/store.py", root, root), "src/store.py", "code/store.py") == [
        "src/store.py",
        "code/store.py",
    ]
    place = places.of(f"{root}/src/store.py", root, root)
    assert place is not None
    assert known(place, "code/store.py") == []
    others = [
        "./code/store.py",
        "./lib/store.py",
        "/elsewhere/store.py",
        "~/app/code/store.py",
        f"{root}/code/store.py",
    ]
    assert places.leading(others, place, root) == {"./code/store.py", "~/app/code/store.py", f"{root}/code/store.py"}


def test_dot_dot_behind_a_link_leads_where_the_system_says(places: Places, home: Path, root: str) -> None:
    (home / "far" / "deep").mkdir(parents=True)
    os.symlink(home / "far" / "deep", f"{root}/jump")
    place = places.of(f"{root}/jump/../store.py", root, root)
    assert known(place, "store.py", "~/far/store.py", "src/store.py") == ["~/far/store.py"]


def test_a_file_in_a_linked_work_tree_is_that_file_of_the_project(home: Path, root: str, places: Places) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    for tree in (home / "feature", Path(root) / ".trees" / "fix"):
        git("worktree", "add", "-q", str(tree))
        place = places.of(f"{tree}/src/store.py", str(tree), root)
        assert known(place, "src/store.py", "lib/store.py") == ["src/store.py"]
        assert place is not None
        assert place.shown == "src/store.py"


def test_a_work_tree_of_another_project_has_other_files(home: Path, root: str, places: Places) -> None:
    (home / "stranger" / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (home / "tree").mkdir()
    (home / "tree" / ".git").write_text(f"gitdir: {home}/stranger/.git/worktrees/tree", encoding="utf-8")
    for folder in (home / "tree", home / "stranger"):
        assert known(places.of(f"{folder}/src/store.py", root, root), "src/store.py") == []


def test_in_a_session_without_project_only_touches_that_need_no_root_count(places: Places, root: str) -> None:
    place = places.of(f"{root}/src/store.py", root)
    assert known(place, "src/store.py", "~/app/src/store.py", f"{root}/src/store.py") == [
        "~/app/src/store.py",
        f"{root}/src/store.py",
    ]


def test_the_users_graph_knows_no_root(places: Places, root: str) -> None:
    place = places.of(f"{root}/src/store.py", root, root)
    assert place is not None
    assert "./src/store.py" in place.keys - place.far_keys
    assert "~/app/src/store.py" in place.far_keys


def test_where_case_does_not_count_is_found_out_from_the_root(home: Path, root: str, places: Places) -> None:
    place = places.of(f"{root}/src/store.py", root, root)
    assert place is not None
    (home / "APP").mkdir(exist_ok=True)  # another folder, or the same one
    same = os.path.samefile(home / "APP", root)
    assert place.fold is same


def test_a_root_whose_name_in_the_other_case_is_the_same_folder_folds_case(home: Path, places: Places) -> None:
    (home / "Mac").mkdir()
    (home / "mAC").symlink_to(home / "Mac")  # what a file system that ignores case answers
    place = places.of(f"{home}/Mac/SRC/Store.py", "", f"{home}/Mac")
    assert known(place, "src/store.py", "src/other.py") == ["src/store.py"]


@pytest.mark.parametrize(
    "named", ["", "\0", "a\0b", "/" + "a/" * 5_000, "/" + "x" * 300, "\ud800", "/\udcff/é", "~", "~nobody/x", ".", "/"]
)
def test_an_odd_path_is_no_place_or_a_place_that_nothing_names(places: Places, root: str, named: str) -> None:
    place = places.of(named, root, root)
    assert place is None or (known(place, "src/store.py") == [] and not place.is_file())


@given(st.text(), st.text(), st.booleans())
def test_no_path_is_too_odd(named: str, folder: str, absolute: bool) -> None:
    places = Places(Path("/home/nobody"), Path("/home/nobody/.store"), Path("/tmp"))
    place = places.of(f"/{named}" if absolute else named, folder, "/home/nobody/app")
    if place is not None:
        place.shown.encode("utf-8")
        places.passing(place, "/home/nobody/app", {"build"})
        places.leading([named, f"./{named}"], place, "/home/nobody/app")
        place.is_file()


def test_a_link_to_the_file_is_found_whatever_its_case_where_case_does_not_count(home: Path, places: Places) -> None:
    (home / "Mac" / "src").mkdir(parents=True)
    (home / "mAC").symlink_to(home / "Mac")
    (home / "Mac" / "code").symlink_to("SRC")
    place = places.of(f"{home}/Mac/src/store.py", "", f"{home}/Mac")
    assert place is not None
    assert places.leading(["./code/store.py"], place, f"{home}/Mac") == {"./code/store.py"}


def test_a_touch_on_another_disk_is_not_asked_for_as_that_may_hang(places: Places, home: Path, root: str) -> None:
    (home.parent / "disk").symlink_to(f"{root}/src")
    place = places.of(f"{root}/src/store.py", root, root)
    assert place is not None
    assert places.leading([f"{home.parent}/disk/store.py"], place, root) == set()


# --- what comes and goes


@pytest.fixture
def passing(places: Places, root: str) -> Callable[[str], bool]:
    """Whether a file comes and goes, for folders called build and .git."""

    def of(named: str) -> bool:
        place = places.of(named, root, root)
        assert place is not None
        return places.passing(place, root, {"build", ".git"})

    return of


def test_a_file_below_a_folder_that_is_made_anew_comes_and_goes(passing: Callable[[str], bool], home: Path) -> None:
    assert passing("build/a.py")
    assert passing("src/BUILD/deep/a.py")
    assert passing(f"{home}/other/.git/config")
    assert not passing("src/store.py")
    assert not passing("build")
    assert not passing("src/build.py")
    assert not passing("rebuild/a.py")
    assert not passing(f"{home}/notes.md")


def test_the_memorys_own_files_and_temporary_ones_come_and_go(passing: Callable[[str], bool], home: Path) -> None:
    assert passing(f"{home}/.store/user.json")
    assert passing(f"{home.parent}/tmp/out.txt")
    assert not passing(f"{home.parent}/tmpfile")


def test_each_temporary_folder_counts_for_itself(home: Path, root: str) -> None:
    places = Places(home, home / ".store", home.parent, home.parent.parent / "other")  # the project lies in the first
    for named, expected in [(f"{home}/notes.md", False), (f"{home.parent.parent}/other/x", True)]:
        place = places.of(named, "", root)
        assert place is not None
        assert places.passing(place, root, set()) is expected


def test_a_project_in_a_place_for_passing_files_has_files_that_stay(home: Path) -> None:
    root = home / "build" / "app"
    root.mkdir(parents=True)
    places = Places(home, home / ".store", home)  # all of home is the temporary folder here
    place = places.of(f"{root}/src/store.py", "", str(root))
    beside = places.of(f"{home}/notes.md", "", str(root))
    assert place is not None
    assert beside is not None
    assert not places.passing(place, str(root), {"build"})
    assert not places.passing(beside, str(root), {"build"})
