"""Which files a command line plainly shows: a table of commands, each with the files it reads, or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kg_server.plugins.shell import shell_reads
from kg_server.plugins.shell.reads import COMMAND_CHARACTERS, FILES_MAX
from kg_server.plugins.shell.words import Operator, Unparsable, tokens

HOME = "/w"

READS: dict[str, str] = {
    # one file, each command
    "cat a.py": "a.py",
    "/bin/cat a.py": "a.py",
    "cat -n a.py": "a.py",
    "cat -- -a.py": "-a.py",
    "cat a.py b.py c/d.py": "a.py b.py c/d.py",
    "cat ./a.py ../b.py": "./a.py ../b.py",
    "cat /etc/hosts": "/etc/hosts",
    "cat ~/notes.md": "~/notes.md",
    "cat a.py a.py": "a.py",
    "cat 1 2 3 4 5 6 7 8 9": "1 2 3 4 5 6 7 8",
    "head a.py": "a.py",
    "head -n20 a.py": "a.py",
    "head -n 20 a.py": "a.py",
    "head -20 a.py": "a.py",
    "head --lines 20 a.py": "a.py",
    "head --lines=20 a.py": "a.py",
    "head -c 100 a.py": "a.py",
    "head --bytes 100 -q a.py": "a.py",
    "tail a.py": "a.py",
    "tail -f log.txt": "log.txt",
    "tail -n +5 a.py": "a.py",
    "tail +5 a.py": "a.py",
    "tail -5 a.py": "a.py",
    "tail -f --pid 12 log.txt": "log.txt",
    "tail --lines=3 -s 1 a.py": "a.py",
    "less a.py": "a.py",
    "less -N a.py": "a.py",
    "less +G a.py": "a.py",
    "less -p pattern a.py": "a.py",
    "sed -n 1,5p a.py": "a.py",
    "sed -n '1,5p' a.py b.py": "a.py b.py",
    "sed -ne 1p a.py": "a.py",
    "sed -n -e 1p -e 2p a.py": "a.py",
    "sed --quiet --expression=1p a.py": "a.py",
    "sed --silent --expression 1p a.py": "a.py",
    "sed -n -f script.sed a.py": "a.py",
    "sed -nE 's/a/b/p' a.py": "a.py",
    "grep foo a.py": "a.py",
    "grep -n foo a.py b.py": "a.py b.py",
    "grep -e foo a.py": "a.py",
    "grep -e foo -e bar a.py": "a.py",
    "grep --regexp=foo a.py": "a.py",
    "grep --regexp foo a.py": "a.py",
    "grep -A 3 -B2 foo a.py": "a.py",
    "grep --context 3 foo a.py": "a.py",
    "grep -m1 foo a.py": "a.py",
    "grep -f patterns.txt a.py": "a.py",
    "grep --include '*.py' foo a.py": "a.py",
    "grep 'two words' a.py": "a.py",
    "grep -- -x a.py": "a.py",
    "egrep 'a|b' a.py": "a.py",
    "fgrep a.b a.py": "a.py",
    "jq . data.json": "data.json",
    "jq -r .name data.json": "data.json",
    "jq --arg k v . data.json": "data.json",
    "jq --slurpfile k other.json . data.json": "data.json",
    "jq --indent 2 . data.json": "data.json",
    "jq -f filter.jq data.json": "data.json",
    "jq --from-file filter.jq data.json": "data.json",
    "jq '.a | .b' data.json": "data.json",
    "nl a.py": "a.py",
    "nl -ba a.py": "a.py",
    "nl -b a -w 3 a.py": "a.py",
    "nl --body-numbering=a a.py": "a.py",
    "rg foo a.py": "a.py",
    "rg -n foo a.py": "a.py",
    "rg -A 3 foo a.py": "a.py",
    "rg -g '*.py' foo a.py": "a.py",
    "rg --glob '*.py' foo a.py": "a.py",
    "rg -e foo a.py": "a.py",
    "rg --context=2 -i foo a.py": "a.py",
    "rg --no-heading --line-number foo src/a.py": "src/a.py",
    # lists, pipelines, groups
    "cat a.py | grep x": "a.py",
    "cat a.py|head -5": "a.py",
    "cat a.py |& grep x": "a.py",
    "grep x a.py | head -n 5 | tail -n 2": "a.py",
    "cat a.py && cat b.py || cat c.py": "a.py b.py c.py",
    "cat a.py; cat b.py": "a.py b.py",
    "cat a.py & cat b.py": "a.py b.py",
    "cat a.py\ncat b.py": "a.py b.py",
    "cat a.py \\\n  b.py": "a.py b.py",
    "(cat a.py)": "a.py",
    "(cat a.py; cat b.py) | wc": "a.py b.py",
    "{ cat a.py; }": "a.py",
    "! cat a.py": "a.py",
    "time cat a.py": "a.py",
    "if true; then cat a.py; fi": "a.py",
    "if cat a.py; then echo x; else cat b.py; fi": "a.py b.py",
    "while true; do cat a.py; done": "a.py",
    "for f in x y; do cat b.py; done": "b.py",
    "ls && cat a.py": "a.py",
    "git status; cat a.py": "a.py",
    "echo $(date); cat a.py": "a.py",
    "test -f a.py && cat a.py": "a.py",
    "[ -f a.py ] && cat a.py": "a.py",
    # what runs another command
    "FOO=1 cat a.py": "a.py",
    "FOO=1 BAR='x y' cat a.py": "a.py",
    "env FOO=1 cat a.py": "a.py",
    "env -i cat a.py": "a.py",
    "env -u FOO cat a.py": "a.py",
    "sudo cat a.py": "a.py",
    "sudo -u root cat a.py": "a.py",
    "command cat a.py": "a.py",
    "nohup cat a.py": "a.py",
    "nice cat a.py": "a.py",
    "nice -n 5 cat a.py": "a.py",
    "timeout 5 cat a.py": "a.py",
    "timeout -k 1 5 cat a.py": "a.py",
    "stdbuf -o L cat a.py": "a.py",
    "bash -c 'cat a.py'": "a.py",
    "bash -lc 'cat a.py && head --lines 20 b.py'": "a.py b.py",
    "sh -c \"cat 'a b.py'\"": "'a b.py'",
    "/bin/zsh -lc 'sed -n 1,200p src/a.py'": "src/a.py",
    "bash -c 'cd sub && cat c.py'": "sub|c.py",
    # redirections
    "cat < a.py": "a.py",
    "grep foo < a.py": "a.py",
    "cat a.py > b.py": "a.py",
    "cat a.py >> b.py": "a.py",
    "cat a.py 2>/dev/null": "a.py",
    "cat a.py 2>&1 | grep x": "a.py",
    "cat a.py &> all.txt": "a.py",
    "cat a.py >| b.py": "a.py",
    "cat 0< a.py": "a.py",
    "cat <<< text a.py": "a.py",
    "cat a.py <<EOF\ncat b.py\nEOF": "a.py",
    "cat <<'EOF' > out\ncat b.py\nEOF\ncat c.py": "c.py",
    "cat <<-EOF\n\tcat b.py\n\tEOF\ncat c.py": "c.py",
    "cat <<A <<B\nx\nA\ny\nB\ncat c.py": "c.py",
    # quotes
    "cat 'a b.py'": "'a b.py'",
    'cat "a b.py"': "'a b.py'",
    "cat a\\ b.py": "'a b.py'",
    "cat 'a'\"b\"c.py": "abc.py",
    "cat $'a.py'": "a.py",
    "cat 'it'\\''s.py'": '"it\'s.py"',
    'cat "a\\"b.py"': "'a\"b.py'",
    "cat '*.py'": "*.py",
    "cat '$x.py'": "$x.py",
    "cat a\\*.py": "a*.py",
    "cat größe.py 漢字.md": "größe.py 漢字.md",
    "cat a.py # b.py": "a.py",
    "cat a#b.py": "a#b.py",
    'echo "don\'t" && cat a.py': "a.py",
    # some operands are certain, others not
    "cat $X a.py": "a.py",
    "cat *.py a.py": "a.py",
    "cat a.py `ls`": "a.py",
    "cat - a.py": "a.py",
    "cat {a,b}.py c.py": "c.py",
    # folders
    "cd sub && cat c.py": "sub|c.py",
    "cd sub; cat c.py; cd ..; cat d.py": "sub|c.py sub/..|d.py",
    "cd /x && cat c.py": "/x|c.py",
    "cd ~/x && cat c.py": "~/x/c.py",
    "cd && cat c.py": "~/c.py",
    "cd -- sub && cat c.py": "sub|c.py",
    "cat a.py; cd sub; cat c.py": "a.py sub|c.py",
    "(cd sub && cat c.py); cat a.py": "sub|c.py a.py",
    "cd sub | cat a.py": "a.py",
    "cd sub & cat a.py": "a.py",
    "pushd sub && cat c.py": "sub|c.py",
    "cd $X; cat /etc/hosts": "/etc/hosts",
}

NOTHING = [
    "",
    "cat",
    "ls a.py",
    "echo a.py",
    "python a.py",
    "vim a.py",
    "wc -l a.py",
    "rm a.py",
    "cp a.py b.py",
    "git show HEAD:a.py",
    "git diff a.py",
    "git grep foo a.py",
    "ssh host cat a.py",
    "docker exec c cat a.py",
    "xargs cat a.py",
    "find . -name a.py -exec cat {} ;",
    "awk '{print}' a.py",
    "diff a.py b.py",
    "diff <(cat a.py) b.py",
    "echo $(cat a.py)",
    "echo `cat a.py`",
    'echo "$(cat a.py)"',
    "sed '1,5p' a.py",
    "sed -i s/a/b/ a.py",
    "sed -n -i 1p a.py",
    "sed -i.bak -n 1p a.py",
    "sed --in-place -n 1p a.py",
    "grep foo",
    "rg foo",
    "rg --files",
    "rg --files a.py",
    "rg --weird foo a.py",
    "rg --type-list",
    "nl --weird a.py",
    "nl -Q a.py",
    "jq --weird . data.json",
    "jq -n . data.json",
    "jq --args . a b",
    "jq .",
    "cat $FOO",
    "cat ${FOO}.py",
    "cat *.py",
    "cat a?.py",
    "cat [ab].py",
    "cat {a,b}.py",
    'cat "$FOO/a.py"',
    "cat -",
    "cat > a.py",
    "cat >> a.py",
    "cat <<EOF\na.py\nEOF",
    "cat <<< a.py",
    "python x.py < data.json",
    "cat 'a.py",
    'cat "a.py',
    "cat a.py $(",
    "cat a.py `",
    "echo hi # cat a.py",
    "cat\\ a.py",
    "'cat a.py'",
    "$CMD a.py",
    "cd $X && cat c.py",
    "cd - && cat c.py",
    "popd && cat c.py",
    "pushd && cat c.py",
    "f() { cat a.py; }",
    "function f { cat a.py; }",
    'bash -c "$SCRIPT"',
    "bash script.sh",
    "bash -c",
    "for f in cat a.py; do echo; done",
    "case cat in a.py) echo;; esac",
    "timeout 5",
    "sudo",
    "FOO=cat",
    "catalog a.py",
    "head -n 20",
    "head --lines 20",
    "tail -f",
    "grep -e foo",
    "[ -f a.py ]",
    "alias cat=x",
    "cat\0 a.py",
]


def told(command: str, folder: str = HOME) -> list[str]:
    """Each file as the table writes it: with its folder before a bar where that is not the hook's own."""
    written = []
    for read in shell_reads(command, folder):
        inside = read.folder.removeprefix(f"{HOME}/") if read.folder not in ("", HOME) else ""
        path = repr(read.path) if set(read.path) & set(" '\"") else read.path
        written.append(f"{inside}|{path}" if inside else path)
    return written


@pytest.mark.requirement("file.shell-reads")
@pytest.mark.parametrize("command", READS)
def test_a_command_that_shows_files_reads_them(command: str) -> None:
    assert " ".join(told(command)) == READS[command]


@pytest.mark.parametrize("command", NOTHING)
def test_a_command_that_shows_no_certain_file_reads_none(command: str) -> None:
    assert told(command) == []


def test_the_table_is_as_long_as_the_specification_asks() -> None:
    assert len(READS) + len(NOTHING) >= 120


@pytest.mark.parametrize("command", ["cat a.py", "cd sub && cat c.py", "cd ~; cat /etc/hosts x.py"])
def test_where_the_folder_is_not_known_only_a_whole_path_counts(command: str) -> None:
    assert all(read.path.startswith(("/", "~")) for read in shell_reads(command, ""))


def test_no_more_than_eight_files_count() -> None:
    assert len(shell_reads("cat " + " ".join(map(str, range(50))), HOME)) == FILES_MAX


@pytest.mark.parametrize(
    "piece",
    [
        *("cat a;", "(", ")", "$(", "${", "`", "'", '"', "\\", "<<E\n", "cd x;", "{ "),
        *("if ", "cat ", "-n ", "$'", "\n", "| ", "a=b ", "env "),
    ],
)
def test_a_hostile_command_comes_to_an_end_and_an_overlong_one_is_not_looked_at(piece: str) -> None:
    fits = piece * (COMMAND_CHARACTERS // len(piece))
    assert len(shell_reads(fits, HOME)) <= FILES_MAX
    assert shell_reads("cat a.py;" + fits + piece, HOME) == []


@given(st.text(st.sampled_from("cat head cd bash -c a.py'\"\\$(){}`<>|&;\n#*~=- "), max_size=80))
def test_no_command_line_is_too_odd(command: str) -> None:
    for read in shell_reads(command, HOME):
        assert read.path
        assert read.path.startswith(("/", "~")) or read.folder.startswith("/")


@given(st.text(max_size=60))
def test_a_quoted_name_is_read_whatever_it_holds(name: str) -> None:
    quoted = "'" + name.replace("'", "'\\''") + "'"
    wanted = [] if not name or "\0" in name or name == "-" else [name]
    assert [read.path for read in shell_reads(f"cat -- {quoted}", HOME)] == wanted


@given(st.text(st.sampled_from("ab '\"\\$(`<>|&;\n#"), max_size=40))
def test_the_tokens_of_a_line_are_no_more_than_its_characters(line: str) -> None:
    try:
        found = list(tokens(line))
    except Unparsable:
        return
    assert len(found) <= len(line)
    assert all(token.text for token in found if isinstance(token, Operator))
