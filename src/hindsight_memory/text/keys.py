"""Keys that rules give to what they read (``domain.attribute``), and whether a key has one current value or many."""

from __future__ import annotations

from typing import Final

from hindsight_memory.text.common import table
from hindsight_memory.text.patterns import Lazy

_SINGLE: Final = table(
    """
    profile.name profile.home_city profile.job profile.employer profile.age profile.birthday profile.origin
    profile.email profile.phone profile.address profile.time_zone profile.blood_type profile.nationality
    profile.marital_status profile.form_of_address preference.diet
    """
)
_SINGLE_GROUPS: Final = ("preference.favorite_",)


def is_single(key: str | None) -> bool:
    """Whether a key has one current value, which a newer one replaces; of other keys many values stand side by side."""
    return key is not None and (key in _SINGLE or key.startswith(_SINGLE_GROUPS))


_MANY: Final = ("rule.", "decision.")


def has_many(key: str) -> bool:
    """Whether memories of one key stand side by side: tastes in one field, rules, decisions.

    Of any other key a bank has one current value: ``profile.home_city``, ``preference.language``.
    """
    return key.startswith(_MANY) or key.removeprefix("preference.") in _TASTES


_TOPICS: Final = (
    (
        "answers",
        (
            "answers?|repl(?:y|ies)|responses?|respond|explanations?|explain|bullets?|emojis?|concise|verbose"
            "|sentences|summar(?:y|ies|ise|ize)"
            "|examples|jargon|tone|in (?:english|chinese|german|french|spanish)"
        ),
        "回答|回复|解释|说明|表情|列表|要点|简洁|啰嗦|举例|语气|用中文|用英文|用英语",
    ),
    (
        "code",
        (
            "code|commits?|branch(?:es)?|tests?|functions?|variables?|indent(?:ation)?|type hints?|linters?"
            "|deploy(?:ments?)?|merge|pull requests?"
            "|repo(?:sitory)?|migrations?|production|staging"
        ),
        "代码|提交|分支|测试|函数|变量|缩进|部署|合并|仓库|生产环境|上线",
    ),
    (
        "tools",
        (
            "dark mode|light mode|vim|emacs|vs ?code|tabs|spaces|python|rust|typescript|javascript|golang|java"
            "|linux|windows|mac(?:os)?"
            "|docker|react|vue|terminal|keyboards?"
        ),
        "编辑器|深色模式|浅色模式|命令行|终端|键盘",
    ),
    (
        "drink",
        (
            "drink(?:s|ing)?|coffee|tea|beer|wine|juice|water|soda|espresso|latte|cappuccino|matcha|decaf|milk|whisky"
            "|cocktails?"
        ),
        "咖啡|喝|茶|啤酒|红酒|白酒|果汁|可乐|拿铁|豆浆|牛奶",
    ),
    (
        "food",
        (
            "foods?|eat(?:ing)?|cook(?:ing)?|bak(?:e|ing)|pizza|sushi|pasta|rice|noodles?|bread|cheese"
            "|chocolate|cakes?|fruits?|vegetables?|veggies"
            "|meat|beef|pork|chicken|fish|seafood|shellfish|spicy|sweets|salads?|soups?|curry|tacos?|burgers?"
            "|coriander|cilantro|garlic|onions?"
            "|mushrooms?|nuts?|peanuts?|olives?|tofu|eggs?|breakfast|desserts?|ice cream|ramen|cuisine|steak"
            "|gluten|dairy"
        ),
        (
            "吃|菜|辣|甜|饭|面条|拉面|火锅|烧烤|海鲜|水果|肉|虾|蛋|蒜|葱|豆腐|零食|巧克力|面包|饺子|早餐|夜宵"
            "|寿司|花生|口味"
        ),
    ),
    (
        "music",
        "music|songs?|jazz|hip.?hop|opera|piano|guitar|violin|bands?|concerts?|singing",
        "音乐|歌|爵士|摇滚|钢琴|吉他|乐队|演唱会",
    ),
    (
        "sport",
        (
            "sports?|running(?! (?:my|our|a|the))|jogging|football|soccer|basketball|tennis|swimming|cycling"
            "|biking|hiking|hikes?|yoga|gym|climbing|skiing|snowboarding"
            "|surfing|danc(?:e|ing)|work(?:ing)? out|exercis(?:e|ing)"
        ),
        "运动|跑步|足球|篮球|网球|羽毛球|乒乓球|游泳|骑行|骑车|爬山|徒步|瑜伽|健身|滑雪|跳舞",
    ),
    ("reading", "books?|reading|novels?|poetry|poems?|fiction|fantasy|manga|comics", "书|阅读|小说|诗|漫画"),
    ("film", "movies?|films?|cinema|series|anime|documentar(?:y|ies)", "电影|电视剧|动漫|纪录片|综艺"),
    (
        "travel",
        "travel(?:l?ing)?|trips?|beach(?:es)?|mountains?|camping|hotels?|flights?|seats?",
        "旅行|旅游|海边|露营|酒店|航班|靠窗|靠过道",
    ),
    ("pets", "dogs?|cats?|pets?|animals?|pupp(?:y|ies)|kittens?|turtles?", "狗|猫|宠物|动物"),
    ("art", "art|painting|drawing|pottery|sculptures?|photography|museums?", "画画|绘画|书法|摄影|陶艺|博物馆|画"),
    ("games", "games?|gaming|chess|poker", "游戏|象棋|围棋|桌游"),
    (
        "colour",
        "colou?rs?|blue|red|green|purple|yellow|black|white|pink",
        "颜色|蓝色|红色|绿色|紫色|黄色|黑色|白色|粉色",
    ),
    ("work", "meetings?|remote|working from home|stand-?ups?|overtime", "会议|开会|远程办公|加班|早会"),
)
_TASTES: Final = frozenset(name for name, *_ in _TOPICS)
_TOPIC: Final = tuple(
    (name, Lazy(rf"(?i)(?<![a-z])(?:{english})(?![a-z])|{chinese}")) for name, english, chinese in _TOPICS
)


def topic_of(text: str, other: str) -> str:
    """The topic a text speaks of first, of those that people have preferences and rules about; ``other`` if none."""
    found = ((match.start(), name) for name, words in _TOPIC if (match := words.pattern.search(text)))
    return min(found, key=lambda pair: pair[0], default=(0, other))[1]


def words_of(*topics: str) -> str:
    """The English words of topics, as one expression."""
    return "|".join(english for name, english, _ in _TOPICS if name in topics)
