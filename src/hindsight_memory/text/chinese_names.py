"""Chinese names: people by surname and title, places and organisations by lists and endings, titles of works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from hindsight_memory.text.common import table
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.tokens import dictionary_cutter

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese characters, for use within brackets of a pattern."""

_RUN: Final = Lazy(f"[{HAN}]+")
_SURNAMES: Final = frozenset(
    "王李张刘陈杨赵吴徐孙朱郭罗梁宋郑韩唐冯董曹程蔡潘袁余杜魏苏吕丁沈姚卢姜崔钟谭陆廖贾韦邹孟熊秦邱侯陶黎贺顾郝龚邵覃"
    "钱戴莫汤薛闫尹殷葛俞倪翁戚柯阮童裴岑兰"
)
_DOUBTFUL: Final = frozenset("黄周胡林何高马谢许曾彭萧于叶任汪范石夏付方江段雷龙史武严孔向常毛万文安康白金温田施洪牛")
"""Surnames that are everyday words: the given name must look like one."""

_ANY_SURNAME: Final = _SURNAMES | _DOUBTFUL
_COMPOUND: Final = ("欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "令狐", "司徒", "夏侯")
_GIVEN: Final = frozenset(
    "娟丽涵轩静敏伟强磊军洋勇艳杰涛超霞刚桂芳兰英华玉秀萍红梅琳莉玲珍琴云燕雪颖倩婷雯怡欣佳嘉梦瑶瑜璐琪琦瑾妍妮娜娅悦彤诗思"
    "雨宇宁宸晨辰浩皓博文武斌彬鑫鹏飞龙虎峰锋辉晖旭阳昊天翔凯恺健坚毅志智哲泽泉海波涌江淮河洁冰清婉晓小子梓紫芷若茹薇蕾蓉菲"
    "菁莹盈珊珂柯榕松柏林森枫栋梁楠桐树荣荷莲茜芸苗馨香春夏秋冬国建民平安康乐福禄寿喜庆祥瑞德仁义礼信忠孝贤良善美淑惠慧娴雅"
    "俊豪杰雄威震霆雷电岩山石川溪源远航帆舟凡帅伦倪允元兴光明亮昌盛隆昆仑冠群立业成功胜利永恒久长生新鸣麟昱煜烨炜焕灿"
)
_BARRED: Final = frozenset(
    "的了着过是在有和与就都也还又不没很要会能可以去来到说时个些什么这那里吗呢吧啊呀哦嗯家头贴女您你我他她它们做吃喝看买给"
    "把被让对为用中上下前后边间次日号点分半每各某其此该并及或但而且因所则即如当从往至比跟同得工总师叔姨哥姐弟妹爷奶爸妈伯婶嫂先老"
)
_NOT_PEOPLE: Final = table(
    """
王子 孙子 公孙 张力 王国 王者 孙辈 钱包 程序 程度 汤圆 陶瓷 童年 余生 余额 丁香 苏打 温馨 温升 方向 方法 高峰
高薪 白云 金黄 金属 平安 安康 文明 万幸 石头 马上 马虎 黄金 周全 周末 许可 雷雨 林业 江山 兰花 毛巾 胡同 康复
杜绝 姜汤 罗列 谢谢 唐突 石油 田园 海洋 向来 付出 安静 高兴 高大 常常 严格 白天 夏天 龙虾 陆续 陆地 郑重 贺卡
顾客 顾问 潘多拉 钟头 徐徐 莫非 薛定谔 温柔 方便 方案 任务 任何 何时 何况 于是 科普 高超 陈旧 多谢 小丑 默契
哈巴 哈哈 安全 周到 周围 周期 夏季 龙门 段落 江湖 湖南 胡说
"""
)
_TITLES: Final = (
    "先生|女士|小姐|太太|老师|老板|医生|大夫|护士|经理|教授|博士|阿姨|叔叔|伯伯|师傅|师兄|师姐|同学|主任|院长|校长|律师|会计|工程师"
    "|队长|局长|处长|科长|董事长|总监|秘书|奶奶|爷爷|大爷|大妈|大哥|大姐"
)
_TITLED: Final = Lazy(rf"([{''.join(sorted(_ANY_SURNAME))}])({_TITLES})")
_SHORT_TITLES: Final = frozenset("总工哥姐叔姨董导局处")
_SHORT_TITLED: Final = Lazy(rf"[{''.join(sorted(_ANY_SURNAME))}][{''.join(_SHORT_TITLES)}]")
_FAMILIAR: Final = Lazy(
    rf"[小老][{''.join(_SURNAMES)}周林胡马谢黄何高许]|阿[{''.join(sorted(_GIVEN))}]|小[明红芳强军刚丽华琳敏宇杰]"
)
_SOUNDS: Final = (  # characters that foreign names are written with
    "阿埃艾安奥巴贝比彼波博布查茨达黛戴丹德迪蒂杜多恩尔法菲费弗福盖格戈古哈汉赫亨霍基吉加贾杰金卡凯坎科克肯库奎拉莱兰朗劳勒雷"
    "里丽莉利莲琳卢鲁露伦罗洛马玛麦曼梅米莫姆穆娜纳内尼妮诺欧帕佩皮珀普奇乔琼让瑞萨塞桑莎沙史斯苏索塔泰汤特提托瓦威维温沃西希夏"
    "谢雅亚扬伊茵英约泽詹珍兹丝芬顿森逊治列夫开朗琪琳爱"
)
_TRANSLITERATED: Final = Lazy(f"[{_SOUNDS}]{{2,6}}")
_FOREIGN: Final = Lazy(f"[{_SOUNDS}]{{1,6}}+(?:[·•・][{_SOUNDS}]{{1,8}}+)++")
_PLACES: Final = table(
    """
北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州
云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆 香港 澳门 海口 三亚 广州 深圳 杭州 南京 苏州 无锡 常州 宁波
温州 绍兴 合肥 福州 厦门 泉州 南昌 济南 青岛 烟台 威海 郑州 洛阳 开封 武汉 长沙 株洲 东莞 佛山 珠海 惠州 中山
汕头 潮汕 桂林 南宁 成都 绵阳 贵阳 昆明 大理 丽江 拉萨 西安 兰州 西宁 银川 乌鲁木齐 沈阳 大连 长春 哈尔滨
石家庄 太原 呼和浩特 扬州 镇江 徐州 嘉兴 金华 义乌 琼海 文昌 儋州 中国 美国 英国 法国 德国 日本 韩国 朝鲜
俄罗斯 加拿大 澳大利亚 澳洲 新西兰 新加坡 马来西亚 泰国 越南 印度 印尼 菲律宾 意大利 西班牙 葡萄牙 荷兰 瑞士
瑞典 挪威 芬兰 丹麦 冰岛 希腊 土耳其 埃及 巴西 阿根廷 墨西哥 欧洲 非洲 亚洲 东京 大阪 京都 奈良 北海道 首尔
釜山 曼谷 纽约 洛杉矶 旧金山 西雅图 波士顿 芝加哥 伦敦 巴黎 柏林 罗马 米兰 悉尼 墨尔本 温哥华 多伦多 硅谷 浦东
浦西 海淀 朝阳区 中关村 望京 陆家嘴 西湖 黄山 泰山 华山 峨眉山 长城 故宫 天安门 外滩 长江 黄河 珠峰 九寨沟
张家界
"""
)
_BRANDS: Final = table(
    """
腾讯 阿里巴巴 阿里云 百度 淘宝 天猫 微信 支付宝 华为 小米 京东 抖音 快手 美团 滴滴 字节跳动 网易 微博 知乎 豆瓣
小红书 拼多多 钉钉 飞书 高德 苹果公司 微软 谷歌 特斯拉 比亚迪 蔚来 理想汽车 大疆 联想 海尔 格力 携程 顺丰
哔哩哔哩 星巴克 麦当劳 肯德基 红楼梦 西游记 三国演义 水浒传
"""
)
_AREA: Final = Lazy(rf"[{HAN}]{{2,6}}(?:[市省县镇岛山湖江]|区|街道)")
_NOT_AREAS: Final = Lazy(
    "城市|超市|上市|股市|夜市|地区|小区|社区|园区|景区|市区|山区|城区|校区|片区|辖区|爬山|登山|火山|全省|该区|各区|工业区|休息区|服务区"
)
_ORGANISATION: Final = Lazy(
    "公司|集团|大学|学院|中学|小学|幼儿园|医院|银行|酒店|大厦|广场|机场|火车站|公园|博物馆|图书馆|研究院|研究所|超市|书店|餐厅|寺|大桥"
)
_ROAD: Final = Lazy("路|街|大街|大道|巷|胡同")
_PROPER: Final = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz", "j"})
_STREETS: Final = _PROPER | {"n"}
_STREET: Final = Lazy(rf"(?!高速|快速|步行|小吃|美食|商业)[{HAN}]{{2,10}}[路街]")
_PERSONAL: Final = frozenset({"nr", "nrt", "nrfg"})
_LEADS: Final = "与和给跟送是让帮陪为在向已需请找问带被对把约叫"
_NOT_PROPER: Final = Lazy(
    "[的了在去来是有和与我你他她这那]|^(?:附近|当地|本地|公立|私立|新鲜|社区|中心|儿童|人民|第[一二三四五六七八九十])$"
)


def chinese_names(text: str) -> Iterator[str]:
    """The names in the Chinese parts of a text, in their order."""
    yield from (match.group() for match in _FOREIGN.pattern.finditer(text))
    yield from (match.group() for match in _TITLED.pattern.finditer(text))
    tokens = [*_tagger()(text), ("", "")]
    at = 0
    while at < len(tokens) - 1:
        word, tag = tokens[at]
        following, next_tag = tokens[at + 1]
        at += 1
        if len(word) > 12 or not "\u3400" <= word[0] <= "\uffff" or (len(word) == 1 and word not in _ANY_SURNAME):
            continue
        if whole := _in_two(word, following, next_tag):
            yield whole
            at += 1
            continue
        if tag in _PERSONAL and (person := _person_in(word)):
            yield person
        yield from _places(word, tag, following)


def chinese_words(text: str) -> Iterator[str]:
    """What the Chinese parts of a query may name: words of two characters and more, neighbours joined up to four."""
    for run in _RUN.pattern.findall(text):
        cut = dictionary_cutter()(run)
        yield from (word for word in cut if 2 <= len(word) <= 12)
        for size in (2, 3):
            joined = ("".join(cut[at : at + size]) for at in range(len(cut) - size + 1))
            yield from (word for word in joined if 2 <= len(word) <= 4)


def _in_two(word: str, following: str, next_tag: str) -> str | None:
    """A person whose name was cut in two: surname and given name, or surname and title."""
    if word in _COMPOUND and next_tag in _PERSONAL and len(following) <= 2:
        return word + following
    if word not in _ANY_SURNAME:
        return None
    if following in _SHORT_TITLES:
        return word + following
    given = next_tag in _PERSONAL and len(following) <= 2 and _is_given(following, word in _DOUBTFUL)
    return word + following if given else None


def _person_in(word: str) -> str | None:
    """The person that a word names; one cut with the word before it («与丽娟») is cut again."""
    if is_person(word):
        return word
    return word[1:] if word[0] in _LEADS and is_person(word[1:]) else None


def is_person(word: str) -> bool:
    """Whether a word names a person: surname and given name, a title, a familiar or a foreign name."""
    if not 2 <= len(word) <= 6 or word in _NOT_PEOPLE:
        return False
    if (
        _SHORT_TITLED.pattern.fullmatch(word)
        or _FAMILIAR.pattern.fullmatch(word)
        or _TRANSLITERATED.pattern.fullmatch(word)
    ):
        return True
    if word[:2] in _COMPOUND and 3 <= len(word) <= 4:
        return _is_given(word[2:], doubtful=False)
    if len(word) <= 3 and word[0] in _ANY_SURNAME:
        return _is_given(word[1:], doubtful=word[0] in _DOUBTFUL)
    return len(word) == 2 and all(each in _GIVEN for each in word) and not _tagged_known(word)


def _is_given(name: str, doubtful: bool) -> bool:
    if any(each in _BARRED for each in name):
        return False
    return not doubtful or all(each in _GIVEN for each in name)


def _places(word: str, tag: str, following: str) -> Iterator[str]:
    if word in _PLACES or word in _BRANDS:
        yield word
    elif tag in _PROPER and len(word) >= 3 and _AREA.pattern.fullmatch(word) and not _NOT_AREAS.pattern.search(word):
        yield word
        if word[-1] in "市省" and len(word) > 2 and word[:-1] in _PLACES:
            yield word[:-1]
    elif tag == "nt" and len(word) >= 4 and (end := _ORGANISATION.pattern.search(word)) and end.end() == len(word):
        yield word
    named = tag in _PROPER and len(word) >= 2 and not _NOT_PROPER.pattern.search(word)
    if named and (_ORGANISATION.pattern.fullmatch(following) or _ROAD.pattern.fullmatch(following)):
        yield word + following
    elif tag in _STREETS and _STREET.pattern.fullmatch(word) and not _NOT_PROPER.pattern.search(word):
        yield word


def _tagged_known(word: str) -> bool:
    # A pair of characters that may stand in a name and is an everyday word: «平安», «美丽».
    from rjieba import has_word  # noqa: PLC0415

    return bool(has_word(word))


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    # Loading the dictionary takes 0.15 s, which a program that meets no Chinese should not pay.
    from rjieba import tag  # noqa: PLC0415

    tagged: Callable[[str], list[tuple[str, str]]] = tag
    return tagged
