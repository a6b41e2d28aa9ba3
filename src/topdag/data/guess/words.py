"""Words: those in names of columns that tell what a column is, and those with an order, such as low, medium, high,
or intervals such as 18-24."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIERS = _words(
    """
    id ids identifier idcode idno idnum subject subjects subj subjid patient patid pat case caseid caseno obs
    observation seqno serial uuid key record recordid household hh hhid family familyid famid fam father
    mother pid mid fid familyid personid choiceid studyid patientid pidnum patnum subjnum ptid uid
    firm firmid company fi nr gvkey permno cusip ssn isbn pedigree ped animal litter plant
    pig cow dog rat mouse bird pupil student person player worker employee tree nest
    """
)
WEIGHTS = _words(
    """
    freq frequency frequencies count counts n weight weights wt wgt nobs num number cnt fr fweight
    """
)
DESIGN = _words("block blk plot rep reps replicate replication batch run tray bench")
"""Names of columns of a designed experiment, whose cells have one row each."""
MARGINS = _words("total all sum overall")
"""States of rows that add up others."""
MEASURES = _words(
    """
    age ages weight wt height ht bmi score scores days day hours time times month months year years cost costs income
    inc salary wage wages price size mean avg count rate stay area length width depth dist distance temp temperature
    pressure level dose amount total sum pct percent share ratio value volume acid speed
    """
)
"""Words that make a measurement of what a name speaks of: patient_age, family_income."""
DATES = _words(
    """
    date dates datetime timestamp day dob birthdate admitdate start end
    """
)
CLOCKS = _words(
    """
    time trend year yr month quarter week day date t period years days gameno
    """
)
OCCASIONS = (
    CLOCKS
    | DATES
    | _words(
        """
        visit wave round trial session occasion hour hours minute minutes min week weeks month months season semester
        sem wk yrs
        """
    )
)
"""Names of columns that tell the measurements of a subject apart."""
NOMINAL = _words(
    """
    race ethnic ethnicity ethn religion relig region reg district county city state country province sector
    industry ind occupation occup occ job type kind group grp cluster zip zone brand species treatment treat
    trt arm sex gender marital marit site center centre clinic hospital ward block batch machine method allele
    loci locus geno genotype snp exon film expt experiment strata stratum party diagnosis cause geo
    location loc nationality language category cat variety team chain choice mode relationship workclass
    herd brood airline pen plot dept department stratum commune inst institution
    """
)
COUNTS = _words(
    """
    count counts number num n no nr visits children kids siblings deaths births strikes accidents claims
    events visit patents doctor hospital episodes calls goals hits homeruns seizures absent ncases cases size
    members affairs docvis hospvis los awards articles pubs cigarettes parity kid child pregnancies npreg
    """
)
RATED = _words(
    """
    rate rating rank stage grade level score class severity degree quality scale status agree likert education
    educ satisfaction health hlth
    """
)

SCALES = tuple(
    scale.split(", ")
    for scale in (
        "very low, low, medium, high, very high",
        "low, lower middle, middle, moderate, upper middle, high",
        "very small, small, medium, large, very large",
        "short, medium, long",
        "none, some, marked",
        "none, mild, moderate, severe, very severe",
        "none, slight, moderate, severe",
        "absent, slight, moderate, severe",
        "never, rarely, seldom, sometimes, often, very often, usually, always",
        "never, once, twice, few, some, many, most, all",
        "no, perhaps, maybe, yes",
        "no, partial, yes",
        "very bad, bad, very poor, poor, fair, indifferent, average, good, very good, excellent",
        "unacceptable, acceptable, good, very good",
        "strongly disagree, disagree, slightly disagree, neutral, neither, slightly agree, agree, strongly agree",
        "strongly against, against, neutral, for, strongly for",
        "not at all, a little, somewhat, quite a bit, very much",
        "not happy, pretty happy, very happy",
        "worse, same, better",
        "young, middle, old",
        "child, adolescent, adult, elderly",
        "first, second, third, fourth, fifth",
        "1st, 2nd, 3rd, 4th, 5th",
        "none, primary, elementary, secondary, high, college, university, tertiary",
        "jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec",
        "january, february, march, april, may, june, july, august, september, october, november, december",
        "mon, tue, wed, thu, fri, sat, sun",
        "monday, tuesday, wednesday, thursday, friday, saturday, sunday",
        "fair, good, very good, premium, ideal",
        "i, ii, iii, iv, v, vi",
        "assistant, associate, full",
        "beginner, intermediate, advanced, expert",
    )
)
NUMBER = r"[-+]?\$?\d[\d,]*\.?\d*"
INTERVAL = re.compile(
    rf"[\[(]?(?P<low>{NUMBER})\s?(?:-|–|:|to|,|_)\s?(?P<high>{NUMBER})[\])]?[a-z/%]*"
    rf"|(?P<below><=?|under |less than |up to |≤)\s?(?P<top>{NUMBER})[a-z/%]*"
    rf"|(?P<above>>=?|over |more than |≥)\s?(?P<bottom>{NUMBER})[a-z/%]*"
    rf"|(?P<from>{NUMBER})\s?(?:\+|-| and over| or more| plus)[a-z/%]*",
    re.IGNORECASE,
)
FEWEST = 3
"""So few words are no scale: two have no order that matters."""


def order_of_words(words: Sequence[Any]) -> list[int] | None:
    """The places of the words in increasing order, or None where they have no order that is known."""
    if len(words) < FEWEST or not all(isinstance(word, str) for word in words):
        return None
    plain = [re.sub(r"[\s_.]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word)).strip().lower() for word in words]
    for scale in SCALES:
        if all(word in scale for word in plain):
            return sorted(range(len(plain)), key=lambda i: scale.index(plain[i]))
    ends = [lower_end(word) for word in plain]
    if any(end is None for end in ends):
        return None
    return sorted(range(len(ends)), key=lambda i: ends[i] or (0.0, 0))


def lower_end(word: str) -> tuple[float, int] | None:
    """Where an interval begins, those below a number before all that begin there."""
    found = INTERVAL.fullmatch(word)
    if not found:
        return None
    number = next(text for text in (found["low"], found["top"], found["bottom"], found["from"]) if text)
    value = float(re.sub(r"[$,]", "", number))
    return (value, -1 if found["below"] else 1 if found["above"] else 0)
