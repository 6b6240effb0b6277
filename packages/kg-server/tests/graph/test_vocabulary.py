"""Words that begin alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.vocabulary import LIKENESS_MIN, PREFIX_LETTERS, RELATIVES_MAX, Vocabulary

words = st.text(alphabet="abé", min_size=1, max_size=9)


def vocabulary(*known: str) -> Vocabulary:
    made = Vocabulary()
    for word in known:
        made.add(word)
    return made


def test_the_nearest_relatives_come_first_with_the_share_they_have_in_common() -> None:
    made = vocabulary("parametrize", "parametrization", "parameter", "paragraph", "other")
    assert made.relatives("parametrized") == [
        ("parametrize", 11 / 12),
        ("parametrization", 10 / 15),
        ("parameter", 7 / 12),
    ]


def test_words_too_short_or_with_signs_have_no_relatives() -> None:
    made = vocabulary("cat", "cats", "src/cats", "cats-2")
    assert made.relatives("cat") == []
    assert made.relatives("cats") == []


@given(st.lists(words, max_size=30), st.lists(words, max_size=10), words)
def test_relatives_are_those_of_the_words_that_stand(known: list[str], gone: list[str], word: str) -> None:
    made = vocabulary(*known)
    made.relatives(word)
    for one in gone:
        made.discard(one)
    standing = {one for one in known if one not in gone and len(one) >= PREFIX_LETTERS}

    def likeness(other: str) -> float:
        same = next(
            (at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other))
        )
        return same / max(len(word), len(other)) if same >= PREFIX_LETTERS else 0.0

    expected = sorted(
        ((other, likeness(other)) for other in standing - {word} if likeness(other) >= LIKENESS_MIN),
        key=lambda one: (-one[1], one[0]),
    )[:RELATIVES_MAX]
    assert made.relatives(word) == expected
