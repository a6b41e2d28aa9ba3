"""Words in the names of columns that tell what a column is."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIERS = _words(
    """
    id ids identifier idcode idno idnum subject subjects subj subjid patient patid pat case caseid caseno obs
    observation seqno serial uuid key record recordid household hh hhid family familyid famid fam father
    mother pid mid fid firm firmid company fi nr gvkey permno cusip ssn isbn pedigree ped animal litter plant
    pig cow dog rat mouse bird pupil student person player worker employee tree nest
    """
)
WEIGHTS = _words(
    """
    freq frequency frequencies count counts n weight weights wt wgt nobs num number cnt fr fweight
    """
)
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
    loci locus geno genotype snp exon film expt experiment strata stratum party diagnosis cause geo area
    location loc nationality language category cat variety team chain choice mode
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
