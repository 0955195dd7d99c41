"""Words that turn a statement into its opposite, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hindsight_memory.text.common import table
from hindsight_memory.text.tokens import stem

NEGATIONS: Final = table(
    """
    not no never none nobody nothing neither nor without n't cannot cant dont doesnt didnt isnt arent wasnt werent wont
    wouldnt couldnt shouldnt hasnt havent hadnt
    不 没 没有 别 无 未 非 从不 不再 并非 不会 不能 不要 不想 不是 不用 不可 不行 未曾 没法 无法 毫无 从来不 从未
    不得 不太
    """
)
"""Words that deny what stands with them."""

BOUND_NEGATIONS: Final = table(
    "不错 不过 不管 不同 不仅 不断 不少 不久 不论 不但 不如 不幸 不客气 不好意思 没事 没关系 不禁 不得不"
)
"""Chinese words that begin like a denial and are none."""

_PAIRS: Final = """
    love/hate dislike, like/hate dislike, enjoy/hate dislike, adore/hate, prefer/avoid, accept/reject refuse decline,
    agree/disagree, allow/forbid, approve/reject, start/stop quit, begin/end finish, open/close, buy/sell, win/lose,
    increase/decrease reduce, raise/lower cut, gain/lose, join/leave quit, enable/disable, include/exclude, add/remove,
    keep/drop discard, hire/fire, pass/fail, succeed/fail, remember/forget, arrive/depart, push/pull, inside/outside,
    before/after, early/late, earlier/later, always/never, more/less, most/least, high/low, higher/lower, big/small,
    large/small, long/short, hot/cold, warm/cold, old/young new, fast/slow, hard/easy soft, difficult/easy, full/empty,
    happy/sad unhappy, good/bad, best/worst, better/worse, right/wrong left, true/false, true/wrong, safe/dangerous,
    cheap/expensive, public/private, possible/impossible, available/unavailable, married/single divorced, male/female,
    alive/dead, on/off, up/down, healthy/sick unhealthy, vegan/carnivore, loud/quiet, clean/dirty, wet/dry, dark/light,
    asleep/awake, sit/stand, morning/evening, day/night, weekday/weekend, employed/unemployed, online/offline
    喜欢/讨厌 厌恶, 爱/恨 讨厌, 喜爱/讨厌, 热爱/讨厌, 爱吃/讨厌, 爱喝/讨厌, 同意/反对 拒绝, 接受/拒绝, 支持/反对,
    允许/禁止,
    开始/停止 结束, 打开/关闭, 开/关, 买/卖, 赢/输, 增加/减少, 上升/下降, 上涨/下跌, 涨/跌, 提高/降低, 加入/退出,
    启用/禁用 停用,
    成功/失败, 记得/忘记, 以前/以后, 早/晚, 总是/从不, 多/少, 高/低, 大/小, 长/短, 热/冷, 快/慢, 难/容易,
    简单/复杂 困难,
    开心/难过, 高兴/难过 生气, 好/坏 差, 最好/最差, 对/错, 正确/错误, 安全/危险, 便宜/贵, 公开/私密,
    已婚/单身 未婚 离婚,
    单身/结婚, 健康/生病, 干净/脏, 白天/晚上, 早上/晚上, 里面/外面, 左/右, 远/近, 胖/瘦, 甜/苦 咸 辣, 咸/淡, 有/没有
"""


def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for entry in (each for line in _PAIRS.strip().splitlines() for each in line.split(",")):
        one, _, others = entry.strip().partition("/")
        for other in others.split():
            found.setdefault(stem(one), set()).add(stem(other))
            found.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITES: Final = _opposites()


def opposites(one: Iterable[str], other: Iterable[str]) -> tuple[str, str] | None:
    """A word of one side and its opposite on the other; both sides as stems."""
    against = set(other)
    for word in one:
        found = sorted(_OPPOSITES.get(word, frozenset()) & against)
        if found:
            return word, found[0]
    return None
