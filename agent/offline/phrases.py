"""Fixed phrases of the question language, each with the marker that the grammar knows it by."""

from __future__ import annotations

_TABLE = """
#howmany: how many | how much
#count: number of | count of | total count of | numbers of
#total: total number of
#each: for each | for every | in each | in every | of each | of every | per | by each | from each | at each | on each | each | every | for all different | for different | grouped by | group by | for each of | to each | under each | with each | for various
#all: all information | all details | all info | all data | all attributes | all columns | all fields | everything about | everything | information about | information of | information on | complete information | full details | entire record | all records | full information | every detail | all the information | all the details
@o>=: at least | no less than | no fewer than | not less than | greater than or equal to | more than or equal to | not lower than | a minimum of | not smaller than
@o<=: at most | no more than | not more than | less than or equal to | up to | no greater than | a maximum of | not greater than | fewer than or equal to | not exceeding
@o=: equal to | equals | exactly | equal
@o>: greater than | more than | larger than | higher than | in excess of | bigger than
@o<: less than | fewer than | lower than | smaller than
@o!=: not equal to | different from | other than | not from | instead of
#ormore: or more | or higher | or greater | or above | or larger | or after | or later | or older | or over | and above | or longer
#orless: or less | or fewer | or lower | or below | or before | or earlier | or younger | or under | or shorter
#asc: ascending order | increasing order | ascending | increasing | asc | from low to high | from lowest to highest | from smallest to largest | from least to most | from a to z | lowest to highest | smallest to largest | from oldest to newest | from short to long | from small to large | from cheapest to most expensive | low to high
#desc: descending order | decreasing order | descending | decreasing | desc | reverse order | from high to low | from highest to lowest | from largest to smallest | from most to least | from z to a | highest to lowest | largest to smallest | from newest to oldest | from long to short | most to least | from most expensive to cheapest | high to low | reverse alphabetical order | reversed alphabetical order | reverse lexicographic order | reversed order | from most recent to oldest
#agedesc: from oldest to youngest | from old to young | oldest to youngest | from the oldest to the youngest
#ageasc: from youngest to oldest | from young to old | youngest to oldest | from the youngest to the oldest
#alpha: alphabetical order | alphabetically | lexicographical order | lexicographic order | alphabetic order | lexicographically | alphabetical | alphabetic | lexical order
#times: times | time
#sort: sorted | sort | sorted using | ordered using | ordered by | ordered in | order by | ordered | order them | order the | order these | ranked by | arranged | arrange | in the order of | in order of | in the order | rank them | listed in | list them in | sorting | ordering
#avg: average | mean | avg
#sum: total | sum | sum of | total sum of
#distinct: different | distinct | unique | various
#common: common | often | many times | popular | frequent | frequently | prevalent | commonly | commonly used | frequently used | popularly
#null: missing | null | unknown | empty | blank | not known | not available | not specified
#contain: contains | contain | containing | substring | include | includes | including | included
#start: starting with | starts with | start with | begins with | beginning with | begin with | started with | prefixed with | starts from
#end: ending with | end in | ends with | end with | ends in | ending in | suffix
#isnot: is not | are not | was not | were not | isn't | aren't
#not: not | never | don't | doesn't | didn't | haven't | hasn't | hadn't | cannot | can't | neither | nor | without | lack | lacks | lacking | no | outside | outside of
#except: except | excluding | except for | but not | apart from | other than those | aside from
#both: both | as well as both
#between: between | in the range of | in the range | ranging from | within the range of | within
#and: as well as | along with | together with | and also | plus | &
#who: who | that | which | whose | whom
"""


def _parsed() -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in _TABLE.strip().splitlines():
        marker, phrases = line.split(": ", 1)
        for phrase in phrases.split(" | "):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, marker))
    return {first: tuple(sorted(options, key=lambda o: -len(o[0]))) for first, options in found.items()}


PHRASES = _parsed()
"""First word to the phrases that begin with it, longest first, each with its marker."""
