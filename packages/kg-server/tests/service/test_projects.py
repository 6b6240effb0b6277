"""Which project a folder belongs to."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from kg_server.graph.errors import InvalidEntry
from kg_server.service.projects import Project, Projects, is_same_folder, plain_name
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import GraphKey, Layout
from kg_world import World

NOBODY = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid", "-c", "init.defaultBranch=main")
Of = Callable[[Path | str], Project | None]


def git(folder: Path, *words: str) -> None:
    """Run git without the user's own settings."""
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *NOBODY, *words], cwd=folder, env=environ, check=True, capture_output=True, timeout=60)


@pytest.fixture
def of(world: World) -> Of:
    """The project of a folder."""
    return lambda folder: world.context.projects.of(str(folder))


@pytest.fixture
def checkout(world: World) -> Path:
    """A git repository with a commit."""
    folder = world.home / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def slug(project: Project | None) -> str:
    """The slug of what must be a project."""
    assert project is not None
    assert project.key.level == "project"
    return project.key.slug


@pytest.mark.requirement("files.without-git")
@pytest.mark.requirement("files.slug-base-name")
def test_a_folder_is_a_project_under_its_own_name(world: World, of: Of) -> None:
    project = of(world.project)
    assert project == Project(world.project, GraphKey("project", "app"))


@pytest.mark.requirement("files.slug-base-name")
def test_two_folders_of_the_same_name_never_share_a_slug(world: World, of: Of) -> None:
    other = world.home / "elsewhere" / "app"
    other.mkdir(parents=True)
    first, second = slug(of(world.project)), slug(of(other))
    assert first == "app"
    assert second.startswith("app-")
    assert len(second) == len("app-") + 6
    assert slug(of(world.project)) == first


def test_the_slug_of_a_stored_project_stays_with_its_folder_after_a_restart(world: World) -> None:
    other = world.home / "elsewhere" / "app"
    other.mkdir(parents=True)
    world.put(world.open(other), "first-come", "The other app wrote first.")
    (stored,) = world.layout.projects.iterdir()
    world.restart()
    assert slug(world.context.projects.of(str(world.project))) != stored.name
    assert slug(world.context.projects.of(str(other))) == stored.name


@pytest.mark.requirement("files.root-of-repository")
def test_a_sub_folder_of_a_work_tree_is_the_same_project(of: Of, checkout: Path) -> None:
    deep = checkout / "src" / "deep"
    deep.mkdir(parents=True)
    assert of(deep) == of(checkout)
    assert slug(of(deep)) == "checkout"


@pytest.mark.requirement("files.worktree-main")
def test_a_linked_work_tree_is_its_main_checkouts_project(world: World, of: Of, checkout: Path) -> None:
    linked = world.home / "linked"
    git(checkout, "worktree", "add", "-q", str(linked), "-b", "side")
    (linked / "src").mkdir()
    assert of(linked) == of(linked / "src") == of(checkout)


def test_the_memory_of_a_work_tree_outlives_it(world: World, of: Of, checkout: Path) -> None:
    linked = world.home / "linked"
    git(checkout, "worktree", "add", "-q", str(linked), "-b", "side")
    world.put(world.open(linked), "side-lesson", "Learned in the work tree.")
    git(checkout, "worktree", "remove", "--force", str(linked))
    assert "side-lesson" in world.read_all(world.open(checkout))


def test_a_submodule_is_a_project_of_its_own(of: Of, checkout: Path, world: World) -> None:
    part = world.home / "part"
    part.mkdir()
    git(part, "init", "-q")
    git(part, "commit", "-q", "--allow-empty", "-m", "first")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "vendored")
    project = of(checkout / "vendored")
    assert project is not None
    assert project.path == checkout / "vendored"


def test_a_git_file_that_leads_nowhere_marks_a_root_all_the_same(world: World, of: Of) -> None:
    for content in ("", "gitdir: /nowhere/.git/worktrees/x", "nonsense", "gitdir: ../../other"):
        (world.project / ".git").write_text(content, encoding="utf-8")
        (world.project / "src").mkdir(exist_ok=True)
        project = of(world.project / "src")
        assert project is not None
        assert project.path == world.project


def test_a_git_file_that_is_no_text_does_no_harm(world: World, of: Of) -> None:
    (world.project / ".git").write_bytes(b"\xff\xfe\x00gitdir: \x80")
    assert slug(of(world.project)) == "app"


@pytest.mark.parametrize("folder", ["home", "/", "tmp", "/usr", "/etc"])
def test_home_temp_and_system_folders_are_the_users_alone(world: World, of: Of, folder: str) -> None:
    path = {"home": world.home, "tmp": Path(tempfile.gettempdir())}.get(folder, Path(folder))
    assert of(path) is None


def test_a_folder_below_the_temp_folder_can_be_a_project(of: Of, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    assert slug(of(tmp_path / "below")) == "below"


def test_a_home_kept_in_git_does_not_make_one_project_of_all_in_it(world: World, of: Of) -> None:
    (world.home / ".git").mkdir()
    assert slug(of(world.project)) == "app"
    assert of(world.home) is None


def test_a_home_that_has_a_project_graph_already_keeps_it(world: World) -> None:
    folder = world.layout.projects / "home"
    folder.mkdir(parents=True)
    (folder / "graph.json").write_text(f'{{"_meta": {{"project_path": "{world.home}"}}}}', encoding="utf-8")
    assert slug(world.context.projects.of(str(world.home))) == "home"


@pytest.mark.requirement("files.nested-own-graph")
def test_a_nested_folder_that_has_a_graph_of_its_own_keeps_it(world: World, checkout: Path) -> None:
    nested = checkout / "packages" / "core"
    nested.mkdir(parents=True)
    folder = world.layout.projects / "core"
    folder.mkdir(parents=True)
    (folder / "graph.json").write_text(f'{{"_meta": {{"project_path": "{nested}"}}}}', encoding="utf-8")
    assert slug(world.context.projects.of(str(nested))) == "core"
    assert slug(world.context.projects.of(str(checkout))) == "checkout"


@pytest.mark.requirement("files.one-path-many-forms")
@pytest.mark.parametrize("form", ["{0}/", "{0}/src/..", "{0}/./", "{1}/link"])
def test_every_way_to_write_a_folder_is_one_project(world: World, of: Of, form: str) -> None:
    (world.project / "src").mkdir()
    (world.home / "link").symlink_to(world.project)
    assert of(form.format(world.project, world.home)) == of(world.project)


@pytest.mark.requirement("files.one-path-many-forms")
@pytest.mark.skipif(os.name != "nt", reason="forms that only Windows has")
@pytest.mark.parametrize("form", [str.lower, str.upper, lambda path: path.replace("\\", "/"), lambda path: path + "\\"])
def test_every_way_to_write_a_folder_on_windows_is_one_project(
    world: World, of: Of, form: Callable[[str], str]
) -> None:
    assert of(form(str(world.project))) == of(world.project)


def test_two_spellings_are_one_folder_only_where_the_file_system_says_so(tmp_path: Path) -> None:
    (tmp_path / "Shop").mkdir()
    (tmp_path / "SHOP").mkdir()
    (tmp_path / "shop").symlink_to(tmp_path / "Shop")  # as a file system without case answers
    shop = str(tmp_path / "Shop")
    assert is_same_folder(shop, str(tmp_path / "shop"))
    assert not is_same_folder(shop, str(tmp_path / "SHOP"))
    assert not is_same_folder(shop, str(tmp_path / "sHOP"))
    assert not is_same_folder(shop, str(tmp_path / "other"))


def test_a_graph_that_says_of_no_folder_is_found_by_the_folders_own_name(world: World) -> None:
    (world.home / "my app").mkdir()
    folder = world.layout.projects / "my app"
    folder.mkdir(parents=True)
    (folder / "graph.json").write_text('{"nodes": {"old": {"id": "old", "gist": "Kept."}}}', encoding="utf-8")
    assert slug(world.context.projects.of(str(world.home / "my app"))) == "my app"


def test_a_symlinked_home_is_still_home(world: World, tmp_path: Path) -> None:
    link = tmp_path / "home-link"
    link.symlink_to(world.home)
    projects = Projects(world.context.memory.storage, link)
    assert projects.of(str(world.home)) is None
    assert projects.of(str(link)) is None


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("/no/such\0folder", "NUL"),
        ("relative/folder", "not absolute"),
        ("", "not absolute"),
        ("/no/such/folder/anywhere", "not an existing folder"),
        ("/no/such/\ud800folder", "not an existing folder"),
        ("/" + "x" * 5_000, "not an existing folder"),
    ],
)
def test_a_folder_that_cannot_be_meant_is_a_clear_error(of: Of, folder: str, told: str) -> None:
    with pytest.raises(InvalidEntry, match=told) as refused:
        of(folder)
    assert "send the" in str(refused.value)
    assert len(str(refused.value)) < 400
    assert "\0" not in str(refused.value)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")
@pytest.mark.parametrize("way", ["caf\udce9", "caf\udce9/src", "link"])
def test_a_folder_whose_name_is_no_text_is_refused_and_harms_no_other_session(world: World, of: Of, way: str) -> None:
    os.makedirs(os.fsencode(str(world.home / "caf\udce9" / "src")))
    (world.home / "caf\udce9" / ".git").mkdir()
    (world.home / "link").symlink_to(world.home / "caf\udce9")
    with pytest.raises(InvalidEntry, match=r"cwd '.*caf\\udce9.*' has a name that is no UTF-8 text"):
        world.open(world.home / way)
    world.put(world.open(), "lesson", "A lesson.")


def test_a_file_is_no_folder(world: World, of: Of) -> None:
    (world.project / "notes.txt").touch()
    with pytest.raises(InvalidEntry, match="not an existing folder"):
        of(world.project / "notes.txt")


@pytest.mark.requirement("files.slug-plain")
@pytest.mark.parametrize("name", ["bad name!", "..x", "漢字", "été", "हिन्दी", "-", "a" * 200, "$(rm -rf)", "a\nb"])
def test_a_slug_is_one_plain_path_component(world: World, of: Of, name: str) -> None:
    folder = world.home / "odd" / name
    folder.mkdir(parents=True)
    made = slug(of(folder))
    assert made
    assert made not in (".", "..")
    assert not set("/\\ \n$()!") & set(made)
    assert not made.startswith((".", "-"))
    assert world.layout.snapshot(GraphKey("project", made)).is_relative_to(world.layout.projects)


@pytest.mark.parametrize("name", ["app", "my_app-2.0", "漢字", "हिन्दी", "ภาษาไทย", "e\u0301te\u0301"])
def test_a_plain_name_of_any_script_is_its_own_slug(name: str) -> None:
    assert plain_name(name) == name


def test_names_that_make_the_same_slug_are_still_two_projects(world: World, of: Of) -> None:
    slugs = set()
    for name in ("my app", "my-app", "my!app"):
        (world.home / name).mkdir()
        slugs.add(slug(of(world.home / name)))
    assert len(slugs) == 3


def test_two_projects_with_the_longest_possible_name_can_both_be_stored(world: World) -> None:
    for parent in ("one", "two"):
        folder = world.home / parent / ("漢" * 85)
        folder.mkdir(parents=True)
        world.put(world.open(folder), f"lesson-{parent}", "Stored.")
    assert len(list(world.layout.projects.iterdir())) == 2


def test_names_that_differ_in_case_alone_do_not_share_a_folder_where_case_is_ignored(world: World, of: Of) -> None:
    slugs = set()
    for name in ("Shop", "shop"):
        (world.home / "case" / name / "x").mkdir(parents=True, exist_ok=True)
        slugs.add(slug(of(world.home / "case" / name)).casefold())
    assert len(slugs) == 2


def test_projects_can_be_restricted_to_some_folders(world: World, tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    for folder in (allowed / "app", outside):
        folder.mkdir(parents=True)
    projects = Projects(JsonFiles(Layout(tmp_path / "other-store")), world.home, (allowed,))
    assert slug(projects.of(str(allowed / "app"))) == "app"
    assert projects.of(str(outside)) is None
