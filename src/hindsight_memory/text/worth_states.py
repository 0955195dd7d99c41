"""What clauses look like that say how things are now: counts, values and habits that changed, in English and Chinese.

These rules of ``text.worth`` ask for a word of change: «I have three bikes now» and 「我现在有三辆车了」 are news of
what was otherwise and stays so, «I have three questions» passes.
"""

from __future__ import annotations

from typing import Final

from hindsight_memory.domain import Kind
from hindsight_memory.text.habits import VEHICLE
from hindsight_memory.text.keys import topic_of, words_of
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.worth_rules_zh import attribute_of as attribute_zh
from hindsight_memory.text.worth_words import Rule, attribute_of, english, is_attribute, preference

_FACT: Final = Kind.SEMANTIC
_KIN: Final = (
    "kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|cats?|dogs?|kittens?|pupp(?:y|ies)|pets?"
)
_KIN_ZH: Final = "儿子|女儿|孩子|宝宝|哥哥|弟弟|姐姐|妹妹|狗|猫|宠物"
_FAMILY: Final = Lazy(rf"(?i)\b(?:{_KIN})\b|{_KIN_ZH}")


def _counted(it: str) -> str | None:
    """The key of what somebody has several of."""
    return "profile.family" if _FAMILY.pattern.search(it) else None


def _valued(it: str) -> str | None:
    """The key of what has another value, where it is a person's attribute."""
    return attribute_of(it) if is_attribute(it) else attribute_zh(it)


def _taken_up(it: str) -> str | None:
    """The key of a habit: that of a taste, in a field where people have some."""
    return preference(it) if topic_of(it, "") else None


# English

_NOW: Final = "(?:(?<!right) now| these days| nowadays)"
_DONE: Final = r"(?=\W*$|[.,;!]| (?:because|since|but|and|so|for|after|thanks)(?![a-z]))"
_OWNED: Final = (
    f"(?:{_KIN}|grandchild(?:ren)?|grandkids?|nephews?|nieces?|twins|roommates?|flatmates?|housemates?|tenants|employees"
    "|apprentices|cars?|vans?|bikes?|bicycles?|motorbikes?|motorcycles?|scooters?|boats?|houses?|flats|apartments|gardens"
    "|plants?|trees|hens?|chickens?|ducks|goats|horses?|pon(?:y|ies)|cows?|sheep|rabbits?|hamsters?|birds?|parrots?|fish"
    "|turtles?|bees|hives?|beehives?|guitars?|pianos?|violins?|cameras?|lenses|laptops?|phones?|tablets?|consoles?"
    "|monitors|keyboards?|records|vinyls?|books|coins?|stamps?|postcards?|figurines?|paintings?|watches|tattoos?|jobs"
    "|degrees|certificates|subscribers|followers)"
)
"""What people have for long and count."""
_THINGS: Final = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,4})"
    rf" (?P<it>(?:[\w-]+ ){{0,2}}?{_OWNED}(?![\w-])(?: (?:in|at|on|of|total|altogether)(?! a moment)[\w ]{{0,40}}?)?)"
)
_MOMENTARY: Final = (
    "(?:question|problem|issue|point|bus|train|flight|plane|ride|fever|temperature|mood|head|battery|turn|order|answer"
    "|reply|idea|thought|guess|plan|goal|score|progress|status|position|location|time|next|last|only|life|day|mind"
    "|heart|advice|focus|concern|worry|mom|mother|mum|dad|father|wife|husband|sister|brother|sons?|daughter|friends?"
    "|kids?|boyfriend|girlfriend|partner|parents|colleagues?|first|understanding|impression|opinion|script|build|branch"
    "|repo|app|test|tests|function|class|query|server|file|project|page|draft|article|post|paper)"
)
"""What is so for the moment, people, who are somewhere or do something, and what is worked at."""
_KEPT: Final = (
    "(?:code|password|passcode|passphrase|pin|combination|number|address|extension|rent|price|fee|budget|deadline|limit"
    "|meeting|stand-?up|appointment|shift|lesson|plate|handle|username)"
)
_VALUED: Final = (
    rf"(?:my |(?:the|our) (?=(?:[\w-]+ ){{0,3}}?{_KEPT} ))"
    r"(?!(?:source )?code (?:is|are|was|has)(?: now)? (?!\d))"  # «my code is now on GitHub»
    rf"(?P<it>(?!(?:[\w-]+ ){{0,3}}?{_MOMENTARY}(?![a-z]))[a-z][\w-]*(?: [\w-]+){{0,3}}?)"
)
_VALUE: Final = (
    "(?:(?:at|on|in|every|room|about|around|roughly) ){0,2}"
    r"(?:[$€£¥#]?\d[\w:,./-]*(?<!x)(?! ?(?:%|percent|times|lines|seconds|ms|minutes|tests|errors))"
    r"|(?-i:[A-Z])[\w-]+|(?-i:[a-z]+[A-Z\d])\w*)"
    "(?: (?!(?:faster|slower|better|worse|longer|shorter|more|less|bigger|smaller)(?![a-z]))[\\w:.-]+){0,3}?"
)
"""A value is a figure or a name: «4712», «Anna»; «fine» and «30 % faster» are none."""
_BECAME: Final = (
    "(?:(?:has|have|was|were) )?(?:(?:just|recently|been) )*(?:changed|moved|went up|gone up|raised)"
    "(?: from [^,;]{1,30}?)? to"
)
_TOPICS: Final = words_of("drink", "food", "sport", "reading", "tools")
_NOT_OTHER: Final = (
    "(?!(?:the |an? |another |my |our )*(?:other|next|previous|first|second|last|another|one|pages?|tabs?|topics?"
    "|subjects?|windows?|screens?|channels?|lines?|sides?|modes?|sad|happy|angry|it|this|that|them|you|here|there"
    "|talking)(?![a-z]))"
)
_SWITCHED: Final = (
    r"(?![^.!?]* for (?:an?|one|two|three|\d+) (?:day|week|month)s?(?![a-z]))"
    "(?:i|we)(?:'ve| have)?(?: (?:just|recently|finally|now|also|completely))*"
    " (?:switched|converted|gone back|went back|changed)(?: over| back)?"
)
_DOES: Final = (
    f"(?P<it>(?:(?:drink|eat|wear|smoke|ride|drive) |(?:take|catch) (?=(?:the |an? |my )?(?:{VEHICLE})(?![a-z]))"
    "|(?:bike|cycle|walk|commute) (?=to |by ))"
    "(?!(?:home|there|off|away|out|back|around|it|this|that|them|him|her|you|too|more|less|much|some|any|a lot|a bit"
    r"|all|nothing|anything|everything|like|as|way|with|without|and|or|but|because|when|so|for|in|on|\d)"
    r"(?![a-z]))[a-z][\w -]{1,60}?)"
)

ENGLISH: Final = (
    *(
        Rule("have now", english(pattern), _FACT, _counted, 0.6)
        for pattern in (
            f"(?:i|we) (?:now have|now own|now keep|have now|'ve now got) {_THINGS}{_DONE}",
            f"now (?:i|we)(?: have|'ve| own| keep)(?: got)? {_THINGS}{_DONE}",
            f"(?:i|we)(?:'ve| have| own| keep)(?: got)? {_THINGS}{_NOW}{_DONE}",
        )
    ),
    *(
        Rule("is now", english(pattern), _FACT, _valued, 0.7)
        for pattern in (
            f"{_VALUED} (?:is|are) now {_VALUE}{_DONE}",
            f"{_VALUED} (?:is|are) {_VALUE}{_NOW}{_DONE}",
            f"{_VALUED} {_BECAME} {_VALUE}{_DONE}",
        )
    ),
    *(
        Rule("does now", english(pattern), _FACT, _taken_up, 0.7)
        for pattern in (
            rf"{_SWITCHED} from {_NOT_OTHER}[^,;]{{2,40}}? to {_NOT_OTHER}(?P<it>[a-z][\w -]{{1,60}}?){_DONE}",
            rf"{_SWITCHED} to {_NOT_OTHER}(?P<it>(?:[\w-]+ ){{0,3}}?(?:{_TOPICS}|{VEHICLE})(?: [\w-]+){{0,3}}?){_DONE}",
            f"(?:(?:now|nowadays|these days),? (?:i|we)|(?:i|we) now) {_DOES}{_DONE}",
            f"(?:i|we) (?:mostly |only |usually |always )?{_DOES}(?:{_NOW}| instead){_DONE}",
        )
    ),
)

# Chinese

_SINCE: Final = "(?:现在|目前|如今|已经|最近|终于|这边|手里|手上|家里|一共|总共|也|又|都)*"
_COUNT: Final = "(?:[一两二三四五六七八九十]{1,3}|\\d{1,4})多?"
_OF_HOUSE: Final = (
    f"(?:{_KIN_ZH}|孙子|孙女|外甥|侄子|侄女|徒弟|员工|室友|租客|车|自行车|房子?|公寓|店铺?|地|院子|树|花|多肉|绿植|盆栽|鸡|鸭|鹅"
    "|羊|牛|马|兔子?|仓鼠|鸟|鹦鹉|鱼|乌龟|蜜蜂|蜂箱|蜂群|吉他|钢琴|小提琴|相机|镜头|电脑|笔记本|手机|平板|显示器|键盘|游戏机"
    "|唱片|黑胶|书|硬币|邮票|明信片|手办|画|手表|纹身|萨摩|柯基|金毛|哈士奇|泰迪|布偶)"
)
"""What people have for long and count."""
_KEPT_ZH: Final = (
    "(?:密码|口令|门禁码?|暗号|电话|手机号码?|工号|学号|车牌号?|门牌号?|群号|会议|例会|早会|周会|班次|上班时间|营业时间|截止日期"
    "|截止时间|交稿时间|房号|座位号?)"
)
_AMOUNT: Final = "(?:房租|月租|租金|工资|月薪|年薪|薪水|体重|学费|单价|会费|物业费|时薪|底薪)"
_MOMENTARY_ZH: Final = (
    "(?![^，。]{0,6}(?:问题|体温|心情|状态|位置|电量|进度|温度|心跳|血压|想法|感觉|任务|目标|重点|情况|处境|关系|生活"
    "|天气|意思|答案|分数|排名|身体|精神|脑子|心态|压力|验证码|排队|计划|梦想|愿望|代码|脚本|程序|项目|分支|接口|页面|文件))"
)
_ONCE_ZH: Final = "(?![^，。]{0,4}(?:今天|明天|后天|[本这下上]周|[本这下上]次))"
_OURS: Final = "(?:(?:我们?|咱们?)(?:家|公司|团队|办公室)?的?|家里的?|公司的?|办公室的?|团队的?)"
_FIGURE: Final = "(?=[^，。；！？]{0,12}(?:\\d|[A-Za-z]|[一二两三四五六七八九十百千万]{2}))"
_NUMBER: Final = (
    "(?=[^，。；！？A-Za-z]{0,8}(?:\\d|[A-Z]+\\d|[一二三四五六七八九十]点|[一二两三四五六七八九十百千万]{2}))"
)
_NO_VALUE: Final = (
    "(?!什么|啥|谁|哪|多少|几|吗|不|没|错|对的|空|这样|那样|好|坏|很|太|非常|挺|最|更|越|正常|因为|为了|用户)"
)
_IS_NOW: Final = (
    "(?:(?:现在|目前|如今)(?:已经|都)?(?:是|为|在|叫)"
    "|(?:现在|目前|如今|已经|最近|刚刚?|又|都)*(?:改成|改为|改到|变成|变为|换成|换为|调到|推迟到|提前到))了?"
)
_COMES_TO: Final = (
    "(?:(?:现在|已经|最近|又|今年|这个月|从?下?个?月起?)*(?:[涨降调加减长]到|[涨降调]成|改成|变成|变为)(?=了|[^，。；！？]*了)了?"
    "|现在是)"
)
_ON: Final = (
    "(?:现在|目前|最近|已经|平时|以后|从此|今后|又|也|就|都|全|开始|早上|晚上|中午|早餐|早饭|午餐|午饭|晚餐|晚饭|上班|上下班"
    "|上学|通勤|睡前|周末|出门|回家|这个月|上个?月|这周|上周|今年|去年)*"
)
_ACTS: Final = (
    "(?:喝|吃(?!药)|骑|穿|抽|练|学(?!校|期)|坐(?=[^，。]{0,3}(?:车|公交|地铁|高铁|火车|轻轨|大巴|飞机))|走(?=路|高速|小路)"
    "|开(?=[^，。]{0,4}车)|打(?=[^，。]{0,4}(?:球|拳|太极))|上(?=[早中晚夜白]班))"
)
_OTHER: Final = f"(?:改成?|换成?)(?P<it>{_ACTS}(?![了过完得这那你他她它])[^，。；！？,.;!?了吗吧呢]{{1,16}}?)"
_INTO: Final = f"{_OTHER}了(?!吧|就好|多好|算了)"
_I_NOW: Final = f"(?:{_ON}(?:我们?|咱们?)|\\A){_ON}"

CHINESE: Final = (
    Rule(
        "现在有",
        Lazy(
            "(?=[^，。]*(?:现在|目前|如今|已经|终于|一共|总共|了))(?:现在|目前|如今)?(?:(?:我们?|咱们?)家?|家里|家中)"
            f"{_SINCE}(?:有|养了?|攒了?|收藏了?)了?{_COUNT}[\\u4e00-\\u9fff](?P<it>[^，。的要没得需想在给]{{0,5}}{_OF_HOUSE})"
            "了?(?=[，。；！,.;! ]|$)"
        ),
        _FACT,
        _counted,
        0.6,
    ),
    *(
        Rule("现在是", Lazy(pattern), _FACT, _valued, 0.7)
        for pattern in (
            f"{_OURS}(?!们|家|公司){_MOMENTARY_ZH}(?P<it>[^，。的是有在把你他她]{{2,10}}?){_IS_NOW}{_NO_VALUE}{_FIGURE}",
            f"(?!.{{0,3}}[你您他她]){_ONCE_ZH}(?P<it>[^，。我是把A-Za-z]{{0,6}}?{_KEPT_ZH}){_IS_NOW}{_NO_VALUE}{_NUMBER}",
            f"{_OURS}?(?P<it>{_AMOUNT}){_COMES_TO}{_NO_VALUE}{_NUMBER}",
        )
    ),
    *(
        Rule("改喝", Lazy(pattern), _FACT, _taken_up, 0.7)
        for pattern in (
            f"{_I_NOW}{_INTO}",
            f"{_I_NOW}(?:现在|最近|已经){_ON}{_OTHER}(?=[，。；！,.;!]|$)",
            f"{_I_NOW}(?:不再?|再也不|没再|很少|戒了?)[^，。]{{1,12}}了?[，,]\\s*{_ON}{_INTO}",
        )
    ),
)
