"""Words that carry grammar rather than meaning, of the languages that prompts are most often written in."""

from __future__ import annotations

_ENGLISH = """
a about after all also am an and any are as at be because been before being but by can could d did do does doing
done don down for from get go going had has have having he her here him his how i if in into is it its just let
like ll m make may me might more most much must my need no not now of off ok okay on once one only or other our
out over please re s same see she should so some such t than thank thanks that the their them then there these they
thing this those through to too try under up us use using ve very want was way we well were what when where
which while who why will with without would yes you your
"""
_GERMAN = """
aber alle als also am an auch auf aus bei bin bis bitte da das dass dem den der des die dies diese dieser doch du
ein eine einem einen einer es er für hat haben ich ihr im in ist ja jetzt kann man mit nach nicht noch nur oder
schon sein sich sie sind so soll und uns unter vom von vor war was wenn wer wie wir wird wo zu zum zur über
"""
_FRENCH = """
au aux avec ce ces cette comme dans de des du elle en est et être il ils je la le les leur mais me mon ne nous on
ou où par pas peut plus pour que qui sa se ses si son sont sur te tout tu un une vous
"""
_SPANISH = """
al como con cuando de del el ella en entre es esta este esto hay la las lo los mas me mi muy no nos o para pero
por porque que se ser si sin sobre son su sus te tiene un una y ya yo
"""
_RUSSIAN = """
а без бы был была были было в вы да для до его ее если есть еще же за и из или им их к как когда ли мне мы на
надо не нет но о он она они от по при с со так там то только ты у уже что чтобы это этот я
"""
_ITALIAN_PORTUGUESE = """
anche che chi ci come con da dal della delle di dove e gli ho i il io le lo ma nel nella non per più quando
questo sono un una uma um os as ao dos das na nas não no nos ou pelo pela quem seu sua também
"""

STOP_WORDS: frozenset[str] = frozenset(
    word
    for language in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _RUSSIAN, _ITALIAN_PORTUGUESE)
    for word in language.split()
)
