"""Words that steer an agent and say nothing of what about: continue, yes do it, fix the tests, 继续."""

from __future__ import annotations

from functools import cache

from kg_server.graph.terms import words

_WORDS = """
again all another answer anything apply ask away back bug bugs build changes check clean code commit complete concise
confirm continue correct cool different done edit else error errors everything exactly explain fail failing failed
file files finish first fix fixed forget fine good great happened happening happens hello help hey hi implement
instead investigate issue judgement judgment keep last later less linter lint list long look looks make maybe merge
mind more move nah never new next nice nope note nothing option over part pause perfect plan plus point proceed push
question ready redo refactor rerun resume retry review right run save second see send shorter show simple simpler skip
something sorry stop stuff summarise summarize summary sure task test tests thanks third thx todo tries try typo undo
undone update verify wait way well whatever work working works write wrong yeah yep yup
weiter mach mache machen fertig nochmal genau danke bitte los stopp warte test tests fehler beheben korrigiere prüfe
continue continuer continuez poursuis encore merci oui non vas corrige arrête attends parfait
continúa continua sigue seguir gracias vale listo corrige para espera otra vez adelante hazlo
продолжай дальше давай хорошо спасибо исправь проверь стоп ещё готово
avanti prosegui grazie basta fatto correggi segue obrigado continue
继续 繼續 好的 可以 谢谢 謝謝 是的 不是 开始 停止 修复 测试 运行 再来 下一步 对的
続けて 続き 次へ お願いします ありがとう はい いいえ 直して もう一度 テスト
계속 계속해 고마워 네 아니 수정해 다시 테스트
"""


def only_directive(terms: list[str]) -> bool:
    """Whether every one of these evidence terms steers and none names a matter."""
    return all(term in _directives() for term in terms)


@cache
def _directives() -> frozenset[str]:
    return frozenset(term for token in words(_WORDS) for term in token)
