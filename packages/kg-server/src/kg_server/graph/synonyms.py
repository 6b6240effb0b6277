"""Words that developers use for one another. A prompt says `delete the folder`, the lesson `remove a directory`."""

from __future__ import annotations

from functools import cache

from kg_server.graph.stems import stem

_GROUPS = """
delete remove erase drop unlink purge
directory folder dir
duplicate repeat repeated redundant dedupe
make create generate build produce
find search locate lookup discover seek
show display print list view output
error exception failure traceback crash
bug issue problem defect fault
fix repair correct resolve solve
change modify alter edit update
convert transform cast translate parse
get fetch retrieve obtain return
check verify test validate ensure
kill stop terminate end abort
start launch begin boot
run execute invoke call
copy duplicate clone
move rename
join concatenate concat combine merge append
split separate divide
string text str
integer int number num numeric
list array sequence
dictionary dict map mapping hash
function method func routine procedure
parameter argument arg param option flag
variable var
configuration config setting option preference
documentation docs doc
compress zip archive pack
extract unzip unpack decompress
download fetch pull
upload push send
password passphrase credential secret
login signin authenticate authentication auth
user account
message mail email
image picture photo pic
quick fast speed performance
slow latency delay
big large huge
small little tiny
length size count
empty blank null none missing
sort order
reverse invert backward
first initial beginning head
last final tail
number amount count
include contain
exclude ignore skip omit
equal same identical
different difference diff compare
database db
column field
row record line
repository repo
environment env
dependency package library module
deprecate deprecated obsolete legacy
support allow enable
disable deactivate off
disk drive storage
memory ram
process pid task job
thread concurrent parallel
network connection connect
permission access right privilege
schedule cron timer
replace substitute sub
uppercase upper capital capitalize
lowercase lower
average mean
maximum max largest highest
minimum min smallest lowest
time date datetime timestamp
job work career occupation profession
car vehicle
child children kid
buy purchase
movie film
vacation holiday trip travel
like enjoy love
sad unhappy upset
happy glad joy
prevent avoid block
require need
close shut
open load
save store persist write
token key
response reply answer
server backend service
client frontend
deploy deployment release rollout
typing typed type annotation
implement implementation add
plugin extension addon
hook callback
parse parser parsing
link url href
"""


def synonyms(term: str) -> tuple[str, ...]:
    """The stemmed terms that stand for a stemmed one, in alphabetical order; most terms have none."""
    return _table().get(term, ())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            found.setdefault(word, set()).update(group - {word})
    return {word: tuple(sorted(others)) for word, others in found.items()}
