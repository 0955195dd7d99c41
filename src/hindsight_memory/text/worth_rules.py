"""What English clauses look like that are worth remembering: the rules of ``text.worth``.

A rule looks at one clause from its first word on, so the clause is about the one who speaks, or names whom it is about.
"""

from __future__ import annotations

from typing import Final

from hindsight_memory.domain import Kind
from hindsight_memory.text.worth_words import (
    Rule,
    attribute_of,
    decision_about,
    english,
    preference,
    relative,
    rule_about,
)

REMEMBER: Final = english(
    r"(?:please )?(?:remember|keep in mind|bear in mind|make a note|note down|do(?:n't| not) forget)"
    r"(?: this| the following| for later| for next time| for the future)*(?:\s*[:,]\s*| that |\s+(?=(?:my|i|we"
    r"|always|never)(?![a-z])))"
    r"(?!(?:time|day|when|you|you're|one|night|trip|how)\b)(?=\S)"
)
"""What asks to remember; what follows is read like a clause of its own."""

_FACT, _HOW = Kind.SEMANTIC, Kind.PROCEDURAL
_STACK: Final = "fact.project_stack"
_YOU: Final = "(?:(?:make sure|be sure) (?:to |you )|(?:i want|i'd like|i need) you to |you (?:should|must|need to) )?"


RULES: Final = (
    # What the one who answers shall do
    Rule(
        "from now on",
        english(r"(?:from now on|going forward|in (?:the )?future|from here on)\s*,?\s+(?!i(?:'ll|'m| will| am) ){it}"),
        _HOW,
        rule_about,
        0.9,
    ),
    Rule("always", english("(?:please )?" + _YOU + "always (?:{ordered}|be) {it}"), _HOW, rule_about, 0.9),
    Rule(
        "never",
        english("(?:please )?" + _YOU + "(?:never|do(?:n't| not) ever) {ordered} (?!up\\b|never\\b|die\\b){it}"),
        _HOW,
        rule_about,
        0.9,
        polarity=-1,
    ),
    Rule(
        "no more",
        english(
            "(?:please )?(?:do(?:n't| not) {ordered}|stop [a-z]+ing) (?P<it>.{2,150}?)(?: anymore| any more"
            r"| ever again| again)\W*$"
        ),
        _HOW,
        rule_about,
        0.8,
        polarity=-1,
    ),
    Rule(
        "stop",
        english(r"(?:please )?stop (?P<it>(?:using|adding|writing|sending|calling|putting)\W.{2,150})"),
        _HOW,
        rule_about,
        0.8,
        polarity=-1,
    ),
    Rule(
        "whenever",
        english(
            "(?:please )?(?:whenever|every time|each time) (?:i|you"
            "|we) .{3,80}?, (?:please )?(?:always )?{ordered} {it}"
        ),
        _HOW,
        rule_about,
        0.8,
    ),
    # Who the user is
    Rule("name", english("my (?:full |first )?name(?:'s| is) {proper}"), _FACT, "profile.name", 0.9),
    Rule(
        "call me",
        english(
            "(?:please |you can |just |(?:everyone|everybody|people|my friends) calls? me (?=me)"
            "|you may )*call me (?P<it>(?-i:[A-Z])[\\w-]+){end}"
        ),
        _FACT,
        "profile.form_of_address",
        0.8,
    ),
    Rule(
        "lives",
        english(
            "(?:{am}(?:living|based|settled) in|{i}(?:live|reside) in|{have}(?:moved"
            "|relocated) (?:from [\\w\\s]+? )?to) {proper}"
        ),
        _FACT,
        "profile.home_city",
        0.8,
    ),
    Rule(
        "lives",
        english("(?:{i}live in|{have}moved to) (?P<it>[a-z]{4,}){end}(?<!town)(?<!city)(?<!fear)(?<!hope)(?<!here)"),
        _FACT,
        None,
        0.6,
    ),
    Rule(
        "works as",
        english(
            "(?:(?:{am}working|{i}work) as (?:an?|the) |my job is (?:an?|to|as) "
            r"|{am}an? (?=(?:[a-z-]+ ){0,3}?[a-z]*{job}))\w.{0,150}"
        ),
        _FACT,
        "profile.job",
        0.8,
    ),
    Rule("works at", english("(?:{am}working|{i}work) (?:at|for) (?:the )?{proper}"), _FACT, "profile.employer", 0.8),
    Rule("age", english(r"{am}(?P<it>\d{1,2})(?: years old|\W*$)"), _FACT, "profile.age", 0.6),
    Rule(
        "from",
        english("(?:{am}(?:originally )?from|i (?:originally )?come from|i (?:was born|grew up) in) {proper}"),
        _FACT,
        "profile.origin",
        0.7,
    ),
    Rule("family", english("{have}{count} {kin}.{0,150}"), _FACT, "profile.family", 0.6),
    Rule(
        "married",
        english(
            "(?:{am}(?P<it>married|engaged|divorced|widowed){end}|i got (?:married|divorced|engaged){end}).{0,150}"
        ),
        _FACT,
        "profile.marital_status",
        0.7,
    ),
    Rule("speaks", english("{i}speak (?:fluent |some |a little )?{proper}"), _FACT, "profile.languages", 0.6),
    Rule(
        "my … is",
        english(
            r"my {attribute}(?: is|[\x27\u2019]s| are|:) (?!(?:that|so|too|very|really|not|also|going|getting"
            r"|to|just|still|here|on|in|about|out|always|like|\w+ly|\w+ing)\b)\S.{1,150}"
        ),
        _FACT,
        attribute_of,
        0.7,
    ),
    # Health
    Rule(
        "allergic",
        english(
            "(?:i (?:just |recently )?(?:found out|learned|discovered)(?: recently)?(?: that)?"
            " )?(?:{am}(?:(?:severely|highly|deathly) )?allergic to|{have}an? (?:\\w+ )?(?:allergy"
            "|intolerance) to) (?!you){it}"
        ),
        _FACT,
        "health.allergy",
        1.0,
        polarity=-1,
    ),
    Rule(
        "allergy",
        english(r"{have}an? (?P<it>[a-z]+(?: [a-z]+)?) (?:allergy|intolerance)\b.{0,150}"),
        _FACT,
        "health.allergy",
        1.0,
        polarity=-1,
    ),
    Rule(
        "cannot eat",
        english(
            "i (?:can't|cannot|can not|don't|do not) (?:eat|drink) (?!it|that|this|much|any|well|when|at|for"
            "|too|so)(?P<it>[a-z].{2,150})"
        ),
        _FACT,
        "preference.diet_restriction",
        0.8,
        polarity=-1,
    ),
    Rule(
        "diet",
        english(
            "{am}(?:an? )?(?P<it>vegetarian|vegan|pescatarian|lactose[- ]intolerant|diabetic|celiac"
            r"|coeliac)\b.{0,150}"
        ),
        _FACT,
        "preference.diet",
        0.9,
    ),
    # What the user likes
    Rule(
        "prefers",
        english("(?:{i}prefer |i(?:'d| would) rather have |i(?:'d| would) prefer (?!to )){thing}"),
        _FACT,
        preference,
        0.8,
    ),
    Rule(
        "likes",
        english(
            "(?:{i}(?:like|love|enjoy|adore)|{am}(?:an? (?:big |huge )?fan of|obsessed with|fond of"
            "|crazy about|passionate about|into)) {thing}"
        ),
        _FACT,
        preference,
        0.6,
    ),
    Rule(
        "dislikes",
        english(
            "(?:{i}(?:hate|dislike|can't stand|cannot stand|detest|loathe)|i (?:can't|cannot) (?:stand|bear)"
            "|{i}(?:don't|do not) (?:really )?"
            "(?:like|enjoy|care for)|{am}not (?:a (?:big |huge )?fan of|fond of|into)|i no longer (?:like"
            "|enjoy)) {thing}"
        ),
        _FACT,
        preference,
        0.7,
        polarity=-1,
    ),
    # People of the user: theirs is not the user's own
    Rule(
        "relative",
        english(
            "my {person}(?:'s (?:name|birthday) is| is (?:called|named|an?|allergic to|vegetarian|vegan)"
            "| lives in| works (?:as|at|for)| likes| loves"
            "| hates| prefers| can't stand)(?! (?:it|that|this|little|big|bit|great|good|lot|lovely"
            r"|such)\b) \S.{1,150}"
        ),
        _FACT,
        relative,
        0.5,
    ),
    # What is worked with
    Rule(
        "uses",
        english("(?:{we})(?:use|using|run|rely on|deploy (?:to|on)|deploying to|work with|host) (?!to ){tool}"),
        _FACT,
        _STACK,
        0.6,
        of_work=True,
    ),
    Rule(
        "runs on",
        english(
            "our (?:stack|app|project|backend|frontend|database|site|pipeline|ci|server)(?: is"
            "| are)? (?:built (?:with|on|in)|based on|written in|hosted on|runs? on|uses)"
            " {it}"
        ),
        _FACT,
        _STACK,
        0.7,
        of_work=True,
    ),
    Rule(
        "switched",
        english(
            "(?:{we}(?:just |recently |finally )?(?:switched|migrated|moved over|changed|upgraded"
            "|ported)(?: [\\w\\s]{1,30})?(?: from [\\w.+# -]{1,40}?)? to) {tool}"
        ),
        _FACT,
        _STACK,
        0.8,
        of_work=True,
    ),
    Rule(
        "replaced",
        english("{we}replaced (?P<old>[\\w.+# -]{2,40}?) (?:with|by) {tool}"),
        _FACT,
        _STACK,
        0.8,
        of_work=True,
    ),
    Rule(
        "no longer uses",
        english("{we}(?:no longer use|stopped using|don't use|do not use|dropped|got rid of) {tool}"),
        _FACT,
        _STACK,
        0.8,
        polarity=-1,
        of_work=True,
    ),
    # Decisions and results
    Rule(
        "decided",
        english(
            "{we}(?:decided|agreed|chose|opted|settled|went) (?P<it>(?:to|on|for|with|that|against)?{reason} .{3,})"
        ),
        _FACT,
        decision_about,
        0.8,
        of_work=True,
    ),
    Rule("decided on", english("{we}(?:decided|settled|agreed) on {thing}"), _FACT, decision_about, 0.7, of_work=True),
    Rule(
        "decision",
        english(r"(?:(?:the |our )?(?:final )?decision(?: is| was) to |decision: ){it}"),
        _FACT,
        decision_about,
        0.8,
        of_work=True,
    ),
    Rule(
        "fixed by",
        english(
            r"(?:{we}|it (?:was |is )?|(?:that|this|the [\w\s-]{2,60}) (?:was |is |has been )|)(?:fixed|solved"
            r"|resolved)(?: (?:it|this|that|the [\w\s-]{2,60}))? by {it}"
        ),
        _HOW,
        None,
        0.8,
        of_work=True,
    ),
    Rule(
        "the fix was",
        english("{cure}(?: for [\\w\\s-]{2,60})? (?:is|was) (?:to )?(?!not|in progress|still|to be)(?P<it>\\w.{5,})"),
        _HOW,
        None,
        0.8,
        of_work=True,
    ),
    Rule(
        "the cause was",
        english(
            "{fault}(?: of [\\w\\s-]{2,60})? (?:was|is|turned out to be)(?: caused by| due to| that)? (?!not "
            "|still |that i |a good|fixed|solved|resolved|gone){it}"
        ),
        _FACT,
        None,
        0.8,
        of_work=True,
    ),
    Rule(
        "caused by",
        english(r"(?:the|this|that) [\w\s-]{2,60} (?:was|is) caused by {it}"),
        _FACT,
        None,
        0.8,
        of_work=True,
    ),
)
