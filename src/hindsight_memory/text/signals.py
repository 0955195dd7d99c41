"""Tells small talk from what is worth remembering by itself."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LONGEST: Final = 80
"""Characters beyond which no text is small talk: whoever writes more has something to say."""

_ENGLISH: Final = (
    r"hi+(?: there| all| everyone| again)?|hey+(?: there| all| everyone)?|hello+(?: there| again| everyone)?|yo"
    r"|greetings|good (?:morning|afternoon|evening|night|day)|morning|welcome(?: back)?"
    r"|nice to (?:meet|see) you(?: too| again)?|how are you(?: doing)?(?: today)?|how(?:'s| is) it going"
    r"|how have you been|what'?s up|sup|i'?m (?:good|fine|well|ok)|(?:bye|goodbye)(?: for now| bye)?|bye+"
    r"|see (?:you|ya)(?: later| soon| around)?|take care|talk to you (?:later|soon)|later|cya"
    r"|have a (?:good|great|nice|lovely) (?:day|one|evening|night|weekend|time)|good luck|cheers|you too|same here"
    r"|me too|(?:many )?thanks?(?: you)?(?: so much| very much| a lot| a million| again)?|thx|ty|tysm"
    r"|much appreciated|appreciate it|(?:you'?re |you are )?(?:very )?welcome|no worries|no problem|np|anytime"
    r"|any time|my pleasure|don'?t mention it|ok+|okay+|k+|okey|oki|alright|all right|all good|right|sure(?: thing)?"
    r"|yes+|yeah+|yep|yup|ya|no+|nope|nah|of course|absolutely|definitely|exactly|certainly|indeed|agreed|i agree"
    r"|true|fine|good|great|nice|cool|awesome|perfect|amazing|wonderful|excellent|fantastic|lovely|sweet|wow|oh+|ah+"
    r"|aha|hmm+|mm+|mhm|uh+|um+|ha(?:ha)+h?|he(?:he)+|lol|lmao|rofl|xd|yay"
    r"|(?:that )?(?:sounds|looks) (?:good|great|nice|perfect|fun|like a plan)(?: to me)?|works for me|got it|gotcha"
    r"|i see|understood|makes sense|noted|roger(?: that)?|copy(?: that)?|will do|go ahead|please|sorry|my bad|oops"
    r"|well|so|then|and|it'?s ok(?:ay)?|done|congrats|congratulations|test|testing|ping|pong|ack"
    r"|heartbeat(?:_ok| ok)?|keep ?alive|no_reply|continue|go on|next"
)
_CHINESE: Final = (
    "你好呀?|您好|大家好|哈喽|哈啰|嗨|喂|早上好|上午好|中午好|下午好|晚上好|早安?|晚安|午安|在吗|在不在|最近怎么样"
    "|最近好吗|吃了吗|好久不见|再见|拜拜|回见|回头见|下次见|改天聊|保重|辛苦(?:了|你了|您了)?"
    "|多?谢谢?(?:你|您|啦|了)?|非常感谢|太?感谢(?:你|您|了)?|多谢|不客气|不用谢|没事|没关系|没问题|不好意思|抱歉"
    "|对不起|好+(?:的+|吧|呀|啊|滴|哒|嘞|了|呢)?|嗯+|哦+|噢+|喔+|啊+|哈+|嘿+|呵+|嘻+|唉|哎|是(?:的|啊|呀)?"
    "|对(?:的|啊|呀)?|不(?:是|行|要|对)?的?|行(?:吧|啊)?|可以(?:的|啊)?|没错|当然|确实|同意|收到|明白(?:了)?|了解"
    "|懂了|知道(?:了|啦)|原来如此|原来是这样|真的吗?|太好了|太棒了|真棒|不错|厉害|加油|恭喜(?:你|您)?|继续|请继续"
    "|测试|心跳"
)
# Possessive: once a phrase is read it is not read otherwise, so no text takes more than one pass.
_ONLY_SMALL: Final = re.compile(rf"(?:\s*+(?>(?:{_ENGLISH})(?![a-z0-9_'])|(?:{_CHINESE})))*+\s*+")
_MOMENT: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[t ]+\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:z|\s?[+-]\d\d:?\d\d)?"
    r"|\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\s*[\[(<]?\s*(?:" + _MOMENT.pattern + r")\s*[\])>]?[\s:.-]*", re.IGNORECASE)
_SIGN: Final = re.compile(r"[^\w\s']|(?<!\w)'|'(?!\w)")


def is_small_talk(text: str) -> bool:
    """Whether a text is only greetings, thanks, farewells, assent, emoji, punctuation or a bare timestamp.

    Every word must be known small talk: a name, a number, a day or anything unknown makes it worth keeping.
    """
    text = unicodedata.normalize("NFKC", text[: _LONGEST * 4]).strip().lower().replace("’", "'")
    if len(text) > _LONGEST:
        return False
    if _BRACKETED.fullmatch(text) or text == "+1":
        return True
    return bool(_ONLY_SMALL.fullmatch(_SIGN.sub(" ", text)))
