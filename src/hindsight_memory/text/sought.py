"""Reads off a question which keys of the asker it asks for: «where do I live» asks for ``profile.home_city``."""

from __future__ import annotations

from typing import Final

from hindsight_memory.text.patterns import Lazy

READ: Final = 200
"""Characters of a question that are read: who writes more asks for more than a key."""

_ASKED: Final = (
    (
        "profile.name",
        (
            r"what(?:'s|\s+is|\s+was)\s+my\s+(?:full\s+|first\s+|last\s+|own\s+)?(?:sur)?name|who\s+am\s+i\b"
            r"|(?:know|remember|recall|tell\s+me)\s+(?:what\s+)?my\s+(?:full\s+|first\s+)?name"
        ),
        "我(?:的(?:全名|名字|姓名)?)?(?:叫|是|姓)(?:什么|啥)(?:名字?)?|我是谁|(?:知道|记得|告诉我)我的?(?:名字|姓名|叫什么)",
    ),
    (
        "profile.home_city",
        (
            r"where\s+(?:do\s+i|am\s+i)\s+(?:currently\s+|now\s+)?(?:live|living|based)\b"
            r"|(?:which|what)\s+(?:city|town|place|country)\s+(?:do\s+i\s+(?:currently\s+|now\s+)?live|am\s+i\s+(?:living|based))"
            r"|what(?:'s|\s+is)\s+my\s+(?:home\s*)?(?:city|town)\b(?!\s+of)"
        ),
        "我(?:现在|目前|如今)?(?:住|定居|生活)(?:在)?(?:哪|什么(?:地方|城市)|啥地方)|我的?(?:居住地|常住地|所在城市)",
    ),
    (
        "profile.job",
        (
            r"what\s+do\s+i\s+(?:currently\s+)?do\s+(?:for\s+(?:a\s+living|work)|professionally)"
            r"|what(?:'s|\s+is)\s+my\s+(?:current\s+)?(?:job|occupation|profession)"
        ),
        "我(?:现在|目前)?是?(?:做|干)(?:什么|啥|哪一?行)(?:工作|职业|的)|我的?(?:工作|职业)是(?:什么|啥)",
    ),
    (
        "profile.employer",
        (
            r"(?:where|what\s+company|which\s+company|who)\s+do\s+i\s+(?:currently\s+|now\s+)?work(?:\s+(?:for|at))?"
            r"|(?:who|what)(?:'s|\s+is)\s+my\s+(?:current\s+)?(?:employer|company)\b"
        ),
        "我(?:现在|目前)?在(?:哪|什么)(?:里|儿|个|家)?(?:公司|单位|地方)?(?:工作|上班)|我的?公司(?:是|叫)(?:什么|哪)",
    ),
    (
        "profile.age",
        r"how\s+old\s+am\s+i\b|what(?:'s|\s+is)\s+my\s+age\b",
        "我(?:今年|现在)?(?:多大|几岁|多少岁)|我的?年[龄纪]是?多",
    ),
    (
        "profile.birthday",
        r"when(?:'s|\s+is)\s+my\s+birthday|when\s+was\s+i\s+born|what(?:'s|\s+is)\s+my\s+(?:birthday|birth\s*date|date\s+of\s+birth)",
        "我的?生日(?:是|在)?(?:哪|什么|几|多)|我(?:是)?(?:哪|几|什么)(?:一)?(?:年|天|月|号|时候).{0,6}(?:出生|生日|生)",
    ),
    (
        "profile.origin",
        r"where\s+am\s+i\s+(?:originally\s+)?from\b|where\s+(?:was\s+i\s+born|did\s+i\s+grow\s+up)|what(?:'s|\s+is)\s+my\s+home\s*town",
        "我(?:是|来自)(?:哪里|哪儿|什么地方)(?:人|的|来)?|我是哪里人|我的?(?:老家|家乡|籍贯)(?:是|在)?(?:哪|什么)",
    ),
    (
        "profile.email",
        r"what(?:'s|\s+is)\s+my\s+e-?mail",
        "我的?(?:电子)?邮(?:箱|件)(?:地址)?(?:是|为)?(?:什么|多少|哪)",
    ),
    (
        "profile.phone",
        r"what(?:'s|\s+is)\s+my\s+(?:(?:phone|mobile|cell|telephone)(?:\s+number)?)\W*$",
        "我的?(?:手机|电话)(?:号码?|号)?(?:是|为)?(?:多少|几号)|我的?(?:手机|电话)(?:号码?|号)是什么",
    ),
    (
        "profile.address",
        r"what(?:'s|\s+is)\s+my\s+(?:home\s+|street\s+|postal\s+|mailing\s+)?address\b",
        "我的?(?:家庭)?(?:地址|住址)(?:是|在)?(?:什么|哪)",
    ),
    (
        "profile.time_zone",
        r"(?:what|which)(?:'s|\s+is)?\s+(?:my\s+)?time\s*zone(?:\s+am\s+i\s+in)?\W*$",
        "我(?:的|在|在哪个|是)?(?:哪个|什么)?时区(?:是|在)?(?:什么|哪|多少)?",
    ),
    ("profile.blood_type", r"what(?:'s|\s+is)\s+my\s+blood\s+(?:type|group)", "我的?血型|我是什么血型"),
    (
        "profile.nationality",
        r"what(?:'s|\s+is)\s+my\s+nationality|what\s+nationality\s+am\s+i",
        "我的?国籍(?:是)?(?:什么|哪)|我是哪国人",
    ),
    (
        "profile.marital_status",
        r"am\s+i\s+(?:married|single|engaged|divorced)\b|what(?:'s|\s+is)\s+my\s+marital\s+status",
        "我(?:结婚|离婚|订婚|单身)(?:了)?(?:吗|没)|我的?婚姻状况",
    ),
    (
        "profile.form_of_address",
        (
            r"(?:what|how)\s+(?:should|do|can)\s+you\s+(?:call|address)\s+me|what(?:'s|\s+is)\s+my\s+nickname"
            r"|what\s+do\s+i\s+(?:want|like)\s+(?:you\s+)?to\s+(?:be\s+called|call\s+me)"
        ),
        "(?:怎么|如何|该|应该)(?:称呼|叫)我|叫我(?:什么|啥)|我的?(?:昵称|外号)(?:是|叫)(?:什么|啥)",
    ),
    (
        "preference.diet",
        r"am\s+i\s+(?:a\s+)?(?:vegetarian|vegan|pescatarian)\b|what(?:'s|\s+is)\s+my\s+diet\b",
        "我(?:是)?(?:不是)?(?:吃素|素食者?|吃荤)(?:吗|的吗|么)?|我的?饮食习惯",
    ),
)
_ENDS: Final = (
    r"(?=\W*$|[?!.,;]|\s+(?:again|now|nowadays|these|right|currently|at|please|in|address|number|for\s+you)\b)"
)
"""What may follow: «what is my name server» asks for no name."""
_ASKS: Final = tuple(
    (key, Lazy(rf"(?i)(?<![a-z])(?:{english}){_ENDS}|(?<![妈爸母父友事学板弟哥姐妹])(?:{chinese})"))
    for key, english, chinese in _ASKED
)


def keys_sought(question: str) -> tuple[str, ...]:
    """The keys that a question asks for, of those whose statements share few words with it; none if it asks for none.

    Only what the asker wants to know of themselves: «where does Mia live» asks for no key of theirs.
    """
    asked = question[:READ]
    return tuple(key for key, form in _ASKS if form.pattern.search(asked))
