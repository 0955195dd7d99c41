"""What the rules of ``text.worth`` are made of: the rule itself, the keys it gives, and the words of English ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hindsight_memory.domain import Kind
from hindsight_memory.text.keys import topic_of
from hindsight_memory.text.patterns import Lazy

Key = str | Callable[[str], str | None] | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A clause that matches ``pattern`` is worth remembering.

    ``key`` is a key, or makes one of the group ``it`` of the match. ``polarity`` is -1 where something is denied,
    disliked or given up. ``of_work`` says that it is about work done: then it counts from an assistant as well.
    """

    name: str
    pattern: Lazy
    kind: Kind
    key: Key
    importance: float
    polarity: int = 1
    of_work: bool = False


def preference(it: str) -> str:
    """The key of a preference for it."""
    return f"preference.{topic_of(it, 'other')}"


def rule_about(it: str) -> str:
    """The key of a rule about it."""
    return f"rule.{topic_of(it, 'general')}"


def attribute_of(it: str) -> str:
    """The key of an attribute of the user, as English names it."""
    name = re.sub(r"[\s-]+", "_", it.lower()).replace("favourite", "favorite")
    return _OF_ATTRIBUTE.get(name, f"{'preference' if name.startswith('favorite_') else 'profile'}.{name}")


def is_attribute(it: str) -> bool:
    """Whether English words name an attribute of a person."""
    return _ATTRIBUTES.pattern.fullmatch(it) is not None


_OF_ATTRIBUTE: Final = {
    "timezone": "profile.time_zone",
    "hometown": "profile.origin",
    "email_address": "profile.email",
    "e_mail": "profile.email",
    "phone_number": "profile.phone",
    "number": "profile.phone",
    "home_address": "profile.address",
    "company": "profile.employer",
    "occupation": "profile.job",
    "profession": "profile.job",
    "diet": "preference.diet",
    "pronouns": "profile.form_of_address",
    "mother_tongue": "profile.native_language",
}


def relative(it: str) -> str:
    """The key of what is so of somebody near the user."""
    return f"people.{re.sub(r'[^a-z]+', '_', it.lower())}"


def decision_about(it: str) -> str | None:
    """The key of a decision: what was decided on, in at most two words; ``None`` where it is not named at once."""
    found = _DECIDED.pattern.match(it)
    about = found["about"].lower().split() if found else []
    return f"decision.{'_'.join(about)}" if about and about[0] not in _NAMELESS else None


def _one_of(words: str) -> str:
    """Any of the words of a table; ``_`` stands for the space inside one."""
    return "(?:" + "|".join(words.replace("_", r"\s+").replace("'", "['’]?").split()) + ")"


_LEAD_IN: Final = _one_of(
    "to on that we will should would not opt for use using go going with switch move migrate adopt keep stay"
    " build host store write drop"
    " stick from in about the a an our all"
)
_NAMELESS: Final = frozenset({"it", "this", "that", "these", "those", "them", "be", "go", "do", "take", "just", "not"})
_JOINS: Final = _one_of("for as because since to in on and instead over with at due so")
_DECIDED: Final = Lazy(rf"(?i)(?:{_LEAD_IN}\s+)*(?P<about>[a-z][\w.+#-]*(?:\s+(?!{_JOINS}(?![a-z]))[a-z][\w.+#-]*)?)")

_PRONOUNS: Final = _one_of(
    "it its it's this that that's these those them him her his he she they their you your yours how when what"
    " what's where why"
    " who if one some both so too as same such any another something anything everything nothing and or not"
    " more me most being"
    " out up by i we my our seeing hearing going option all_of all_the all_your all_these"
)
_PASSING: Final = _one_of(
    "hear see know say think ask be thank make get do try go check point add start talk discuss share invite"
)
_LASTING: Final = _one_of(
    "outdoors beach sea ocean mountains rain snow cold heat sun countryside piano guitar violin smell_of taste_of"
)
_JOB: Final = _one_of(
    "engineer developer programmer designer scientist analyst manager consultant architect administrator"
    " teacher professor"
    " lecturer researcher nurse doctor physician surgeon dentist pharmacist therapist psychologist lawyer"
    " attorney accountant"
    " student writer author journalist editor translator photographer musician artist actor chef baker waiter"
    " waitress barista"
    " driver pilot mechanic electrician plumber carpenter farmer gardener veterinarian firefighter"
    " police_officer soldier"
    " librarian salesperson freelancer contractor entrepreneur founder intern counselor banker economist"
    " biologist chemist"
    " physicist mathematician historian producer"
)
_PERSON: Final = _one_of(
    "wife husband partner girlfriend boyfriend fiancée? mother mom mum father dad sister brother daughter son"
    " aunt uncle cousin"
    " niece nephew grandmother grandma grandfather grandpa boss manager roommate flatmate best_friend"
    " neighbou?r dog cat puppy"
    " kitten older_sister older_brother younger_sister younger_brother little_sister little_brother"
)
_ORDERED: Final = _one_of(
    "use answer reply write respond call ask give send show include add put start end format translate run"
    " commit push check test"
    " make keep tell mention explain cite assume let follow avoid delete touch change deploy merge suggest"
    " recommend speak talk"
    " say return name sign round convert sort list remind schedule book order store save log create edit open"
    " skip refer address"
    " quote number confirm proceed wrap respect prefer stick"
)
_ATTRIBUTE: Final = _one_of(
    "birthday age email e-mail email_address phone phone_number number address home_address time_?zone"
    " blood_type nationality"
    " hometown native_language mother_tongue job occupation profession employer company diet pronouns"
    " star_sign zodiac_sign"
    " shoe_size height weight budget salary landlord doctor dentist therapist manager boss team school"
    " university major"
    " favou?rite(?:_[a-z-]+){1,3} laptop phone_model car operating_system os editor ide shell working_hours office"
)
_ATTRIBUTES: Final = Lazy(rf"(?i){_ATTRIBUTE}|name")
_ADVERB: Final = _one_of(
    "really also always still just truly absolutely especially particularly generally usually personally much"
    " do totally actually"
    " honestly definitely simply mostly now both currently very recently finally already originally only so"
)
_FRAGMENTS: Final = {
    "adv": rf"(?:{_ADVERB}\s+){{0,3}}",
    "am": rf"i(?:['’]?m|\s+am)\s+(?:{_ADVERB}\s+){{0,2}}",
    "have": rf"(?:i|we)(?:['’]?ve|\s+have)?(?:\s+got)?\s+(?:{_ADVERB}\s+){{0,2}}",
    "i": rf"i\s+(?:{_ADVERB}\s+){{0,3}}",
    "we": r"(?:we|i|(?:our|the)\s+(?:team|company|project|app|backend|frontend|group))(?:['’]ve|\s+have|['’]re"
    r"|\s+are)?\s+"
    rf"(?:{_ADVERB}\s+){{0,2}}",
    # Not what only the talk around it explains («I love that!»), nor a wish of the moment («I like to hear it»).
    "thing": rf"(?!{_PRONOUNS}(?![a-z])|to\s+{_PASSING}(?![a-z])|to\W|an?\s+(?:good|great|bit|lot|few)(?![a-z])"
    rf"|the\s+(?!{_LASTING}(?![a-z]))|[^,.;!]{{0,80}}(?<![a-z])(?:them|those|these"
    r"|this)(?![a-z]))(?P<it>\w.{2,200})",
    "it": r"(?P<it>\S.{1,200})",
    "proper": r"(?P<it>(?-i:[A-Z])\w+.{0,150})",
    "tool": r"(?P<it>(?-i:(?:the\s+|an?\s+)?(?:[A-Z][\w.+#-]*|[a-z]+[A-Z\d][\w.+#-]*)).{0,150}|(?:\w+(?:sql|db|js)"
    "|tabs|spaces)"
    rf"\b.{{0,150}}|(?!{_PRONOUNS}(?![a-z]))[a-z][\w-]*\s+(?:for|as)\s+(?!now|a\s+(?:while|bit))\w.{{0,150}})",
    "job": rf"{_JOB}(?![a-z])",
    "person": rf"(?P<it>{_PERSON})",
    "ordered": _ORDERED,
    "attribute": rf"(?P<it>{_ATTRIBUTE})",
    "count": r"(?:an?|one|two|three|four|five|six|\d{1,2})",
    "kin": r"(?:[\w-]+\s+){0,2}?(?P<it>"
    rf"{_one_of('dogs? cats? kids? child(?:ren)? sons? daughters? brothers? sisters? siblings?')})(?![a-z])",
    "reason": rf".{{0,200}}\b{_one_of('because since due_to so_that as_(?:it|we|they) in_order_to the_reason')}\b",
    "end": rf"(?=\W*$|\s+{_one_of('because since but and so for in on with from now to please instead when')}(?![a-z])"
    "|[,;])",
    "fault": r"(?:the\s+)?(?:root\s+cause|cause|culprit|(?:(?:actual|real|underlying)\s+)?(?:problem|issue|bug|error"
    "|failure|crash))",
    "cure": r"(?:the\s+)?(?:fix|solution|workaround|remedy|resolution)",
}


def english(template: str) -> Lazy:
    """The expression of a template: ``{name}`` is a fragment, a space any blank, an apostrophe of any kind."""
    parts = re.split(r"\{([a-z]+)\}", template)
    plain = [part.replace(" ", r"\s+").replace("'", "['’]?") for part in parts[::2]]
    inside = [_FRAGMENTS[name] for name in parts[1::2]]
    return Lazy("(?i)" + "".join(text for pair in zip(plain, [*inside, ""], strict=True) for text in pair))
