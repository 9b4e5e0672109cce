"""What makes a clause a rule of one kind and no other: denial, permission, duty, limits, order in time, extent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_DENIAL = re.compile(
    r"않|(?<!그러하지\s)(?<!그러하지)아니(?!요|오|라|면\s)|없(?=이|다|습|음|으|"
    r"는|을|고|어|도|게)|못(?=하|한|합|함|해|된|되|\s)|"
    r"(?<![가-힣])안\s?(?=되|됩|된|돼|하|합)|금지|불가(?!피)|말아야|말\s?것|"
    r"미지급|불인정|\bnot\b|n't\b|\bnever\b|\bcannot\b|\bno\b(?!\slater|\smore|"
    r"\sless|\.)|\bwithout\b|\bneither\b|\bnor\b|"
    r"\bprohibited\b|\bforbidden\b|\bbanned\b|\bunable\b",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    r"수\s?(?:가|는|도)?\s?있|허용|가능(?!성)|해도\s?(?:되|됩|된|좋)|하여도\s?(?:되|된)|\b(?:may|can|could)\b|"
    r"\ballowed\b|\bpermitted\b|\bentitled\b",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"(?:하|되|시키|이|[가-힣])?여야|[가-힣]?(?:해|돼|아|어|[가-힣]워|내|써|둬|"
    r"와)야\s?(?:만\s)?(?:한|합|하|함|됩|된|되)|"
    r"야\s?(?:한다|합니다|하며|하고|하나|함|됩니다)|의무|필수|"
    r"\b(?:must|shall|have to|has to|need to|needs to|required)\b|필요(?:합|하다|하며|하고|하여\s|가\s있|함|해요)",
    re.IGNORECASE,
)
# "12시간을 초과할 수 없다" allows up to twelve hours
_NOT_BEYOND = re.compile(
    r"(?:초과|넘)[가-힣]{0,4}\s?(?:수\s?)?(?:가|는)?\s?(?:없|않|못|아니)[가-힣]*|\b(?:not|never) (?:exceed|"
    r"be more than)\b|\bno more than\b",
    re.IGNORECASE,
)
# what a claim says must be said by the clause, too
_RELATIONS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "before": r"(?<![가-힣])전(?:까지|에|의|부터)?(?![가-힣])|이전|사전|미리|앞서|선지급|"
        r"\bbefore\b|\bprior\b|\bin advance\b|"
        r"\bahead\b|\bby\b",
        "after": r"(?<![가-힣])(?:후|뒤)(?:에|부터|까지|로|의)?(?![가-힣])|이후|나중|사후|"
        r"\bafter\b|\bfollowing\b|\bonce\b|\bthen\b|\blater\b|\blonger\b|\bsince\b",
        "limit": r"이내|안에|내에|까지|이하|미만|\bwithin\b|\buntil\b|\bby\b|\bup to\b|\bno later\b|\bat least\b|"
        r"\bat most\b|이상|최대|한도|넘을 수 없|초과|한하|max|limit",
        "from": r"부터|\bfrom\b|\bsince\b|\bbetween\b",
        "first": r"먼저|우선|\bfirst\b",
        "at once": r"즉시|바로|곧|\bimmediately\b|\bat once\b|\bright away\b",
        "each": r"마다|매번|씩(?![가-힣])|\beach time\b|\bevery time\b|\bwhenever\b",
        "both": r"둘\s?다|\bboth\b|\band\b|[가-힣](?:과|와)\s",
        "all": r"모두|전부|\ball\b|일괄|\bevery\b",
        "either": r"(?<=[가-힣])[·ㆍ](?=[가-힣])|중\s?하나|거나|또는|혹은|"
        r"(?<=[가-힣])이나\s|나\s(?=[가-힣]+(?:의|을|를))|\beither\b|\bor\b",
        "only": r"(?<=[가-힣])만(?=\s|[,.)]|으로|이|을|"
        r"은)(?<!다만)(?<!하지만)(?<!지만)(?<![이그저]만)|한하여|한해|한하|한정|뿐|"
        r"오직|"
        r"\bonly\b|\bsolely\b|\bexclusively\b|\bnothing but\b",
        "except": r"제외|외에|외의|그\s?밖|예외|\bexcept\b|\bunless\b|\bother than\b|그러하지\s?아니|나머지",
        "always": r"언제나|언제든|항상|상시|\balways\b|\bat any time\b|\banytime\b|\bany time\b",
        "anyone": r"누구나|누구든|모든|전\s?(?:직원|임직원)|\banyone\b|\beveryone\b|\bevery\b|\ball\b|\bany\b",
        "again": r"(?<![가-힣])다시(?![가-힣])|재(?:신청|발급|시도|심)|\bagain\b|\bretr",
        "at least": r"적어도|최소|이상|\bat least\b|\bminimum\b",
        "even if": r"더라도|관계\s?없이|상관\s?없이|무관|불구하고|\bregardless\b|\beven if\b|\birrespective\b",
        "together": r"함께|동행|같이|\btogether\b|\baccompan",
    }.items()
}
# what the clause says must be said by the claim, too: without it the claim says more than the evidence
_LIMITS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "only": _RELATIONS["only"].pattern,
        "except": r"제외|외에는|\bexcept\b|\bunless\b|\bother than\b|그러하지\s?아니",
        "approval": r"승인을|승인이|승인\s?(?:하|후)|허가를|허가\s?없이|동의를|동의가|협의하|\b(?:with|without|"
        r"subject to)\b[^.,;]{0,20}\b(?:approval|consent|permission)\b|\bapproved by\b",
        "in principle": r"원칙적으로|원칙으로|\bin principle\b|\busually\b|\bnormally\b",
        "plan": r"기로\s?(?:하|한|했)|예정|계획이|검토\s?중|논의\s?중|\bwill\b|\bplan(?:s|"
        r"ned)?\b|\bscheduled\b|\bexpected to\b",
        "part": r"(?<![가-힣])일부(?!터)|부분(?!의)|\bpart of\b|\bpartly\b|of which",
    }.items()
}
_LIMIT_HELD: dict[str, re.Pattern[str]] = {
    "only": re.compile(
        _RELATIONS["only"].pattern
        + r"|(?:이어야|여야|해야만|없으면|아니면|이면|면[\s,])|\bif\b|경우|때|하면|으면|다면|라면|까지",
        re.IGNORECASE,
    ),
    "except": re.compile(
        _RELATIONS["except"].pattern + r"|\bif\b|없으면|아니면|않으면|않는 한|않은|아닌|단[,\s]|다만", re.IGNORECASE
    ),
    "approval": re.compile(r"승인|허가|동의|협의|허락|approv|consent|permission|agree", re.IGNORECASE),
    "in principle": re.compile(r"원칙|기본적으로|예외|principle|usually|normally|generally", re.IGNORECASE),
    "plan": re.compile(r"기로|예정|계획|할 것|하려|검토|논의|will|plan|schedul|expected|going to", re.IGNORECASE),
    "part": re.compile(r"일부|부분|중\s|part|of which|of them|,\s?\d", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What kind of rule a clause is."""

    text: str
    denials: int
    permits: bool
    demands: bool
    relations: frozenset[str]
    limits: frozenset[str]

    def differs_from(self, other: Rule, *, whole: str, receives: bool) -> str | None:
        """Why the other clause, one of the evidence, is a rule of another kind; None when it is the same. `whole` is
        the sentence of this one, in which a limit may be told before or behind it."""
        if self.denials % 2 != other.denials % 2:
            return "one affirms what the other denies"
        if self.permits and not other.permits and not receives and not (self.denials and other.denials):
            return "it allows what the evidence does not"
        if self.demands and not other.demands and other.permits and not other.denials:
            return "it demands what the evidence allows"
        if added := self.relations - other.relations:
            return f"the evidence does not say {min(added)}"
        for name in sorted(other.limits):
            if not _LIMIT_HELD[name].search(whole):
                return f"it leaves out a limit ({name})"
        return None

    def differs_across(self, other: Rule, *, whole: str) -> str | None:
        """The same for a clause in another language, where only denials and limits can be compared."""
        if self.denials % 2 != other.denials % 2:
            return "one affirms what the other denies"
        if "only" in self.relations and not other.relations & {"only", "except"}:
            return "the evidence does not say only"
        return next(
            (f"it leaves out a limit ({n})" for n in sorted(other.limits) if not _LIMIT_HELD[n].search(whole)), None
        )


@lru_cache(maxsize=4096)
def rule_of(clause: str) -> Rule:
    """The kind of rule that a clause is."""
    allowed = _NOT_BEYOND.search(clause) is not None
    denials = len(_DENIAL.findall(_NOT_BEYOND.sub(" ", clause)))
    return Rule(
        text=clause,
        denials=denials,
        permits=allowed or _PERMITS.search(clause) is not None,
        demands=_DEMANDS.search(clause) is not None,
        relations=frozenset(name for name, pattern in _RELATIONS.items() if pattern.search(clause)),
        limits=frozenset(name for name, pattern in _LIMITS.items() if pattern.search(clause)),
    )
