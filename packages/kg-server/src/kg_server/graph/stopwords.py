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
welche welcher welches wann warum wo woher wohin wem wen wessen wurde wurden werden hatte hatten diesem diesen seine
seiner ihre ihrer durch gegen ohne während wieviel viele keine kein mir mich dir dich
"""
_FRENCH = """
au aux avec ce ces cette comme dans de des du elle en est et être il ils je la le les leur mais me mon ne nous on
ou où par pas peut plus pour que qui sa se ses si son sont sur te tout tu un une vous
quel quelle quels quelles quoi quand comment pourquoi combien dont donc aussi entre leurs notre votre cet été était ont
avait fait lors après avant sous chez afin ainsi
"""
_SPANISH = """
al como con cuando de del el ella en entre es esta este esto hay la las lo los mas me mi muy no nos o para pero
por porque que se ser si sin sobre son su sus te tiene un una y ya yo
cuál cuáles cuándo dónde quién quiénes qué cómo cuánto cuántos cuántas donde desde hasta durante fue fueron era ha han
había ser estas estos esa ese eso tras según
"""
_RUSSIAN = """
а без бы был была были было в вы да для до его ее если есть еще же за и из или им их к как когда ли мне мы на
надо не нет но о он она они от по при с со так там то только ты у уже что чтобы это этот я
где какой какая какое какие каким каких сколько кто кого кому чем чего почему зачем который которая которое которые
этого этой этом эти тех том того свой свою своих её или также после между чей
"""
_ITALIAN_PORTUGUESE = """
anche che chi ci come con da dal della delle di dove e gli ho i il io le lo ma nel nella non per più quando
questo sono un una uma um os as ao dos das na nas não no nos ou pelo pela quem seu sua também
"""

_DUTCH_SWEDISH = """
de het een en van ik te dat die in is niet zijn op aan met als voor er maar om dan zou wat mijn dit zo door over
hoe waar welke wie waarom wanneer naar bij uit ook worden werd heeft geen och att det som för på är av den till inte
om ett har jag så hur vad vem när varför vilken vilka hos eller från
"""
_POLISH_CZECH = """
i w na z do nie się że to jest jak co a o od po za dla przez czy kto gdzie kiedy dlaczego jaki jaka jakie który która
które są był była było jego jej ich oraz ale lub tak już tylko bardzo v ve se že je jak kde kdy proč který která
"""
_TURKISH = """
bir ve bu da de için ile ne mi mı mu mü çok daha gibi kadar olan olarak yok nasıl nerede kim hangi neden niçin
kaç sonra önce ama veya ise ki
"""
_ARABIC = """
في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين كيف لماذا كم هل
هو هي هم أن إن كان كانت يكون قد لا لم لن أو ثم بعد قبل بين عند كل أي أية منذ حتى كما وهو وهي فيها منها عليه اسم
"""
_HINDI = """
का की के को में से पर है हैं था थी थे और या यह वह इस उस क्या कौन कब कहाँ कैसे क्यों कितने कितना एक ने भी तो ही नहीं हो कर लिए
"""
_CHINESE_JAPANESE = """
什么 怎么 如何 哪些 哪个 哪里 哪一 为什 是什 么是 多少 谁是 这个 那个 这些 那些 我们 你们
他们 一个 可以 没有 不是 就是 还是 以及 或者 因为 所以 的是 了吗
的 了 是 在 和 与 或 吗 呢 吧 请 什麼 怎麼 這個 那個 為什
です ます した する して いる ある こと もの これ それ あれ どの どれ どこ なぜ
すか ので から まで より には では とは のは のが
のか のを のに であ でき され った とい いう って ない なに 何で どう うな うに
は が を に で と の も か へ や
"""

STOP_WORDS: frozenset[str] = frozenset(
    word
    for language in (
        _ENGLISH,
        _GERMAN,
        _FRENCH,
        _SPANISH,
        _RUSSIAN,
        _ITALIAN_PORTUGUESE,
        _DUTCH_SWEDISH,
        _POLISH_CZECH,
        _TURKISH,
        _ARABIC,
        _HINDI,
        _CHINESE_JAPANESE,
    )
    for word in language.split()
)
