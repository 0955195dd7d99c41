"""What Chinese clauses look like that are worth remembering: the rules of ``text.worth``."""

from __future__ import annotations

import re
from typing import Final

from hindsight_memory.domain import Kind
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.worth_words import Rule, preference, rule_about

_FACT, _HOW = Kind.SEMANTIC, Kind.PROCEDURAL

_ADVERB: Final = (
    "(?:真的|其实|现在|目前|一直|平时|最|很|挺|非常|特别|超级?|比较|更|也|还是|都|就|从小|尤其|格外|十分|有点|向来"
    "|本来|个人|经常|常常|最近|已经|刚刚?|刚才|又|只)*"
)
_THING: Final = (
    "(?![啊呀吧呢哦嘛的，。！]|[看吃喝听玩去做](?:$|[的啊呀吧了，。！!])|过|里面|其中|上面"
    "|[^，。]{0,10}的[^，。]{1,6}(?:太|有|都|就是|是)|你|您|他|她|它|这"
    "|那|谁|什么|哪|跟你|和你|听你|看你|与你|自己|一个人(?:$|[，。])|上了?(?:你|他|她)|的|吗|呢)(?P<it>\\w.{1,80}"
    "|\\w$|《.{1,80})"
)
_JOB: Final = (
    "(?:工程师|程序员|设计师|老师|教师|医生|护士|律师|会计|学生|研究生|博士生|作家|记者|编辑|翻译|摄影师|厨师"
    "|司机|经理|顾问|分析师|研究员|教授|科学家"
    "|架构师|运维|销售|公务员|警察|军人|农民|画家|演员|歌手|主播|店长|老板|创业者|自由职业者|实习生|咨询师"
    "|药剂师|飞行员|产品经理|测试|开发)"
)
_PERSON: Final = (
    "(?:妈妈|爸爸|母亲|父亲|老婆|妻子|老公|丈夫|女朋友|男朋友|女友|男友|儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹"
    "|爷爷|奶奶|外公|外婆|姥姥|姥爷|老板|领导|同事|室友"
    "|闺蜜|狗|猫|宠物)"
)
_ATTRIBUTES: Final = {
    "生日": "profile.birthday",
    "年龄": "profile.age",
    "邮箱": "profile.email",
    "电子邮箱": "profile.email",
    "电话": "profile.phone",
    "手机号": "profile.phone",
    "手机号码": "profile.phone",
    "电话号码": "profile.phone",
    "地址": "profile.address",
    "住址": "profile.address",
    "家庭住址": "profile.address",
    "时区": "profile.time_zone",
    "血型": "profile.blood_type",
    "国籍": "profile.nationality",
    "家乡": "profile.origin",
    "老家": "profile.origin",
    "母语": "profile.native_language",
    "工作": "profile.job",
    "职业": "profile.job",
    "公司": "profile.employer",
    "专业": "profile.major",
    "学校": "profile.school",
    "星座": "profile.star_sign",
    "身高": "profile.height",
    "体重": "profile.weight",
    "预算": "profile.budget",
    "爱好": "profile.hobbies",
    "兴趣": "profile.hobbies",
    "口味": "preference.food",
    "偏好": "preference.other",
    "习惯": "profile.habits",
    "名字": "profile.name",
    "姓名": "profile.name",
    "网名": "profile.form_of_address",
    "手机": "profile.phone_model",
    "电脑": "profile.laptop",
    "编辑器": "profile.editor",
}
_FAVOURITES: Final = {
    "颜色": "color",
    "食物": "food",
    "菜": "food",
    "水果": "fruit",
    "电影": "movie",
    "书": "book",
    "歌": "song",
    "歌手": "singer",
    "运动": "sport",
    "季节": "season",
    "城市": "city",
    "饮料": "drink",
    "动物": "animal",
    "编程语言": "programming_language",
}
_LEADS: Final = re.compile("(?:还是|先|用|采用|使用|改用|选用|选择|换成|迁移到|去|把|在|不|要|将|对|的|\\s)*")


def attribute_of(it: str) -> str | None:
    """The key of an attribute of the user, as Chinese names it."""
    if it.startswith("最喜欢的"):
        return f"preference.favorite_{_FAVOURITES.get(it.removeprefix('最喜欢的'), 'other')}"
    return _ATTRIBUTES.get(it)


def _stack(it: str) -> str | None:
    return "fact.project_stack" if re.match(r"\s*[A-Za-z]", it) else None


def _employer(it: str) -> str | None:
    """The key of where one works, unless only a place is named."""
    named = re.search("[A-Za-z]|公司|集团|大学|医院|银行|学校|中学|小学|厂|店|局|所|院|部|企业|机构", it)
    return "profile.employer" if named else None


def _decision(it: str) -> str | None:
    """The key of a decision that names a thing in Latin letters at once; a Chinese phrase names none by rule."""
    found = re.match(r"[A-Za-z][\w.+#-]*", _LEADS.sub("", it, count=1))
    return f"decision.{found[0].lower()}" if found else None


REMEMBER: Final = Lazy(
    "(?:请|麻烦|帮我|你要|你得|一定要?|千万)*(?:记住|记一下|记下来?|牢记|(?:别忘了|不要忘记|不要忘了"
    "|记得)(?=我|咱|以后|每次|：|:))(?!了|吗|这一刻|此刻|的)(?P<mark>[：:，,]|一点|这一点"
    "|这件事)?[：:，,]?\\s*(?=.{2})"
)
"""What asks to remember; what follows is read like a clause of its own."""


_DENIED: Final = "(?:别|不要|不用|不必|不许|禁止|别再|不准|少)"
_DO: Final = "(?:请|都|就(?=用|叫|按|别|直接)|一律|每次|只|用(?!手机)|回答|回复|直接|给我|叫我|帮我|称呼)"
_CHANGED: Final = "(?:改用|换成|换到|切换到|切到|迁移到|迁到|替换成|改成)了?"
_NOT_HIM: Final = "(?!你|他|她|这个|那个)"
_WE: Final = "(?:我们?|咱们?|团队|我们?团队|项目|我们?项目|公司|我们?公司|后端|前端)"

RULES: Final = (
    # What the one who answers shall do
    Rule(
        "以后别",
        Lazy(
            "(?:以后|今后|往后|从今以后|从现在(?:开始|起)|下次)[，,]?(?:你|请)?(?:都|就"
            f"|再也)?{_DENIED}(?P<it>.{{2,80}})"
        ),
        _HOW,
        rule_about,
        0.9,
        polarity=-1,
    ),
    Rule(
        "以后都",
        Lazy(
            "(?:以后|今后|往后|从今以后|从现在(?:开始|起))[，,]?(?:你|请|凡是|每次"
            f"|[^我他她，。]{{0,12}}?)(?={_DO})(?P<it>.{{3,80}})"
        ),
        _HOW,
        rule_about,
        0.9,
    ),
    Rule(
        "每次",
        Lazy(
            "(?:请)?每次(?P<it>(?:回答|回复|提交|部署|写|改|生成|总结|开会|推荐|给我).{0,40}(?:都|先|要|请"
            "|必须|务必).{2,80})"
        ),
        _HOW,
        rule_about,
        0.8,
    ),
    Rule(
        "永远不要",
        Lazy("(?:请)?(?:永远|绝对|千万|任何时候都?)(?:不要|别|不能|不许)(?P<it>.{2,80})"),
        _HOW,
        rule_about,
        0.9,
        polarity=-1,
    ),
    Rule(
        "一律",
        Lazy("(?:请)?(?P<it>[^我他她，。]{0,20}(?:一律|务必都?|永远都?要)(?:用|写|按|先|不|使用|回答).{2,80})"),
        _HOW,
        rule_about,
        0.8,
    ),
    # Who the user is
    Rule(
        "我叫",
        Lazy(
            "我(?:的名字)?(?:叫做?|是叫)(?!他|她|它|你|您|了|上|来|一|人|车|外卖|不|做什么|什么|醒|住|大家|停"
            "|苦)(?P<it>[\\w·]{1,20})"
        ),
        _FACT,
        "profile.name",
        0.9,
    ),
    Rule(
        "叫我",
        Lazy(
            "(?:你|以后|请|就|可以|直接|都|大家)*(?:叫|称呼)我(?!起床|醒|一[声下]|去|来|做|的|等|帮|别|不|看"
            "|说)(?P<it>[\\w·]{1,10}?)(?:吧|就行|就好|就可以了?"
            "|即可|好了)?$"
        ),
        _FACT,
        "profile.form_of_address",
        0.8,
    ),
    Rule(
        "住在",
        Lazy(
            f"我(?:和\\w{{1,6}}|们|家)?{_ADVERB}(?:住在|定居在|定居于|住)(?!一起|院|校|宿舍|的|不|得|了|你|他"
            "|她|这|那|哪|朋友)(?P<it>.{2,60})"
        ),
        _FACT,
        "profile.home_city",
        0.8,
    ),
    Rule(
        "搬到",
        Lazy(
            "(?:搬家了，)?(?:我(?:们|家)?|(?=从))(?:和\\w{1,6})?(?:已经|刚刚?|最近|现在|上周|上个?月|去年|今年"
            "|\\w{1,6}月\\w{0,3})*(?:从\\w{2,8})?搬(?:到|去|来)了?(?P<it>.{2,60})"
        ),
        _FACT,
        "profile.home_city",
        0.8,
    ),
    Rule("家在", Lazy("我(?:的)?家(?:现在)?(?:在|位于)(?!一起)(?P<it>.{2,40})$"), _FACT, "profile.home_city", 0.7),
    Rule(
        "职业",
        Lazy(f"我{_ADVERB}(?:是|做|当|担任)(?:一名|一位|一个|个|名|位|的)?(?P<it>[\\w+]{{0,14}}?{_JOB})(?:$|[，,。 ])"),
        _FACT,
        "profile.job",
        0.8,
    ),
    Rule(
        "工作", Lazy(f"我{_ADVERB}在(?P<it>[\\w·]{{2,20}}?)(?:做|当|担任)\\w{{0,12}}{_JOB}"), _FACT, "profile.job", 0.8
    ),
    Rule(
        "上班",
        Lazy(
            f"我{_ADVERB}在(?!这|那|哪|一家公司|考虑|坚持|想|思考|找|做|忙|努力|认真|家|处理|学习|进行"
            "|面对)(?P<it>[\\w·]{2,20}?)(?:上班|工作|任职|就职|实习)(?!的|时|上|中|了|压力)"
        ),
        _FACT,
        _employer,
        0.8,
    ),
    Rule(
        "年龄",
        Lazy(f"我(?:今年|现在)?{_ADVERB}(?P<it>\\d{{1,2}}|[一二三四五六七八九十]{{1,3}})岁了?$"),
        _FACT,
        "profile.age",
        0.6,
    ),
    Rule("来自", Lazy("我(?:是)?(?:来自|出生在|老家在|从小在)(?P<it>.{2,20})"), _FACT, "profile.origin", 0.7),
    Rule(
        "家人",
        Lazy(
            "我(?:家)?有(?:一|两|二|三|四|五|\\d)?(?:个|只|条)(?P<it>\\w{0,4}(?:儿子|女儿|孩子|哥哥|弟弟|姐姐"
            "|妹妹|狗|猫))"
        ),
        _FACT,
        "profile.family",
        0.6,
    ),
    Rule(
        "婚姻",
        Lazy("我(?:已经|刚|还)?(?P<it>结婚了|离婚了|单身|订婚了|未婚)(?:$|，)"),
        _FACT,
        "profile.marital_status",
        0.7,
    ),
    Rule(
        "我的…是",
        Lazy(
            f"我(?:自己)?的?(?P<it>{'|'.join(sorted(_ATTRIBUTES, key=len, reverse=True))}"
            f"|最喜欢的(?:{'|'.join(_FAVOURITES)}))"
            "(?:主要)?(?:是|为|在|：|:)(?!不是|什么|因为|为了|很|非常|吗|否|想|要|让|希望)(?P<value>.{1,60})"
        ),
        _FACT,
        attribute_of,
        0.7,
    ),
    # Health
    Rule(
        "过敏",
        Lazy(f"我{_ADVERB}(?:对|吃)(?P<it>.{{1,20}}?){_ADVERB}(?:会|严重)*过敏"),
        _FACT,
        "health.allergy",
        1.0,
        polarity=-1,
    ),
    Rule(
        "不能吃",
        Lazy(f"我{_ADVERB}(?:不能|不可以|从不|不)(?:吃|喝)(?!了|得|下|完|饭|药|亏|惊|透|准|醋)(?P<it>.{{1,30}})"),
        _FACT,
        "preference.diet_restriction",
        0.8,
        polarity=-1,
    ),
    Rule(
        "饮食",
        Lazy(f"我{_ADVERB}(?:是)?(?:一?个)?(?P<it>素食者|素食主义者|吃素|纯素|吃清真|乳糖不耐受?)"),
        _FACT,
        "preference.diet",
        0.9,
    ),
    # What the user likes
    Rule(
        "不喜欢",
        Lazy(
            f"我{_ADVERB}(?:不{_ADVERB}(?:喜欢|爱吃|爱喝|爱看|爱|想再)|讨厌|反感|厌恶|受不了|再也不想|接受不了"
            f"|不再喜欢){_THING}"
        ),
        _FACT,
        preference,
        0.7,
        polarity=-1,
    ),
    Rule(
        "喜欢",
        Lazy(
            f"我{_ADVERB}(?:喜欢|喜爱|热爱|爱吃|爱喝|爱看|爱听|偏好|偏爱|偏向于?|习惯用|习惯于|倾向于?|爱上了?"
            f"|迷上了?){_THING}"
        ),
        _FACT,
        preference,
        0.6,
    ),
    # People of the user: theirs is not the user's own
    Rule(
        "家人的",
        Lazy(
            f"我(?:的|家)?(?P<it>{_PERSON})(?:的(?:名字|生日)是|叫|住在|{_ADVERB}(?:喜欢|讨厌|爱吃|不喜欢)"
            "|对.{1,12}过敏)(?!我|你|他|她|这|那)(?P<value>.{1,60})"
        ),
        _FACT,
        "people.family",
        0.5,
    ),
    # What is worked with
    Rule(
        "改用",
        Lazy(
            f"(?:{_WE}|(?=.{{0,40}}了)(?:从.{{1,20}})?)(?:把.{{1,20}})?(?:现在|已经|都|最近|决定|刚|全部|统一"
            f"|要)*{_CHANGED}(?P<it>{_NOT_HIM}.{{2,60}})"
        ),
        _FACT,
        _stack,
        0.8,
        of_work=True,
    ),
    Rule(
        "换成",
        Lazy(
            "(?:\\w{1,6}从)?(?P<old>[A-Za-z][\\w .+#-]{1,30}|手机|电脑|笔记本|编辑器|数据库"
            f"|框架)(?:已经)?{_CHANGED}(?=.*了|(?<=了)){_NOT_HIM}(?P<it>.{{2,60}})"
        ),
        _FACT,
        None,
        0.7,
    ),
    Rule(
        "不再用",
        Lazy(f"{_WE}(?:现在|已经|都)*(?:不再(?:使用|用)|不用|弃用)(?P<it>[A-Za-z].{{1,60}}|.{{2,20}}了$)"),
        _FACT,
        _stack,
        0.8,
        polarity=-1,
        of_work=True,
    ),
    Rule(
        "用",
        Lazy(
            f"{_WE}(?:现在|目前|都|一直|主要|统一|平时)*(?:用的是|使用的是|用|使用|基于|部署在"
            "|跑在)(?P<it>[A-Za-z][\\w.+# -]*.{0,60})"
        ),
        _FACT,
        _stack,
        0.6,
        of_work=True,
    ),
    # Decisions and results
    Rule(
        "决定",
        Lazy(
            f"{_WE}?(?:最终|最后|已经|一致|经过讨论)*(?:决定|商定|选定|敲定|确定)(?!了$)(?P<it>.{{2,}}?(?:因为"
            "|由于|原因是|为了|考虑到).{2,})"
        ),
        _FACT,
        _decision,
        0.8,
        of_work=True,
    ),
    Rule(
        "因为…决定",
        Lazy(
            f"(?:因为|由于|考虑到|鉴于).{{2,60}}?(?:所以|因此)?{_WE}?(?:最终|最后|一致)?(?:决定|选定"
            "|敲定)(?P<it>.{3,})"
        ),
        _FACT,
        _decision,
        0.8,
        of_work=True,
    ),
    Rule(
        "解决办法",
        Lazy(
            "(?:最终|最后)?(?:的)?(?:解决办法|解决方法|解决方案|修复方法|修复方案|处理办法)(?:是|：|:"
            "|就是)(?P<it>.{3,})"
        ),
        _HOW,
        None,
        0.8,
        of_work=True,
    ),
    Rule(
        "解决了",
        Lazy(
            "(?:最终|最后|后来|我们?|终于|是)*(?:通过|靠|用(?=[A-Za-z]))(?P<it>.{3,60})(?:解决了?|修复了"
            "|修好了|搞定了|解决的)"
        ),
        _HOW,
        None,
        0.8,
        of_work=True,
    ),
    Rule(
        "原因是",
        Lazy(
            "(?:\\w{0,20}?的?(?:根本|真正|主要|失败|报错|崩溃|故障|出错)的?)?(?:原因|根因|问题)(?:就?是|在于"
            "|出在|其实是)(?!什么|啥|吗|不|我|你)(?P<it>.{3,})"
        ),
        _FACT,
        None,
        0.8,
        of_work=True,
    ),
)
