"""Four weeks of two lives, and what a careful person would have kept of them; written down before it was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SYSTEM, TOOL, AGENT = "system", "tool", "assistant"
Said = str | tuple[str, str]


@dataclass(frozen=True)
class Talk:
    """A conversation on a day of a week, and the steps of a task that were taken in it."""

    day: int
    name: str
    turns: Sequence[Said] = ()
    steps: Sequence[tuple[str, str, str]] = ()
    task: str | None = None


@dataclass(frozen=True)
class Week:
    """What happens in a week, and what is expected after it.

    ``claims`` are what an agent writes of its own, ``settles`` words of what the person keeps of two that contradict
    each other. ``current`` must be in what stands, each in one memory, ``gone`` in none, ``replaced`` among what was
    superseded; ``episodes`` are words of what happened, with how it ended.
    """

    talks: Sequence[Talk]
    current: Sequence[str]
    gone: Sequence[str]
    replaced: Sequence[str] = ()
    episodes: Sequence[tuple[str, str | None]] = ()
    claims: Sequence[str] = ()
    settles: str | None = None
    open_questions: int = 0


@dataclass(frozen=True)
class Question:
    """What is asked after the month, what must be brought up, and what must not be brought up with it."""

    text: str
    right: str
    stale: Sequence[str] = ()


NOISE = "<recalled-memory>\n[1] (2026-05-01, user) {}\n</recalled-memory>"
RELEASE = (
    ("npm test", "npm run build", "git push origin main"),
    ("npm test", "npm run lint", "npm run build", "git push origin main"),
    ("git pull", "npm test", "npm run build", "git push origin main"),
)


def steps(number: int) -> tuple[tuple[str, str, str], ...]:
    return tuple((*each.split(" ", 1), "success") for each in RELEASE[number])  # type: ignore[misc]


NORA = [
    Week(
        talks=[
            Talk(
                0,
                "plan",
                ["Hello!", "Can you plan my week?", (AGENT, "Sure: rounds on Monday, shopping on Friday."), "Thanks!"],
            ),
            Talk(
                0,
                "meet",
                [
                    (SYSTEM, "You are a helpful assistant. The user lives in Rome."),
                    "My name is Nora Lindqvist. I live in Berlin.",
                    (AGENT, "Nice to meet you, Nora!"),
                    "I prefer tea. I'm allergic to peanuts.",
                    "ok",
                ],
            ),
            Talk(
                1,
                "cats",
                ["I have two cats. Please remember that my locker code is 4711.", (AGENT, "Noted."), "HEARTBEAT_OK"],
            ),
            Talk(
                2,
                "sync",
                [
                    "Please fix the sync of my photo backup.",
                    (TOOL, '{"status": 507, "rows": 812}'),
                    (AGENT, "I restarted the sync, it stops at photo 812."),
                    "It still fails with error 507.",
                ],
            ),
            Talk(3, "bees", ["The weather is lovely.", "I keep bees behind the old mill.", (AGENT, "How nice.")]),
            Talk(4, "release", steps=steps(0), task="release version 1 of the site"),
            Talk(
                5,
                "echo",
                [NOISE.format("I live in Paris.") + " What is the time?", (AGENT, "It is nine."), "2026-05-09 09:00"],
            ),
        ],
        current=[
            "My name is Nora Lindqvist",
            "I live in Berlin",
            "I prefer tea",
            "allergic to peanuts",
            "two cats",
            "4711",
        ],
        gone=["Rome", "Paris", "HEARTBEAT", "507", "Noted", "weather", "npm run lint"],
        episodes=[("sync of my photo backup", "failure")],
    ),
    Week(
        talks=[
            Talk(0, "plan", ["Can you plan my week?", (AGENT, "Rounds on Monday, the move on Friday."), "Great!"]),
            Talk(
                1,
                "sync",
                [
                    "Please fix the sync of my photo backup.",
                    (AGENT, "I deleted the old index and started the sync again."),
                    "The sync works now, deleting the old index solved it.",
                ],
            ),
            Talk(2, "move", ["Big news!", "I moved to Lisbon last weekend.", (AGENT, "Congratulations!"), "thank you"]),
            Talk(3, "coffee", ["I switched from tea to coffee.", (AGENT, "Noted.")]),
            Talk(4, "release", steps=steps(1), task="release version 2 of the site"),
            Talk(5, "bees", ["Behind the old mill I keep bees.", (AGENT, "You told me."), "ok"]),
        ],
        claims=["Nora lives in Madrid."],
        current=["I moved to Lisbon", "My name is Nora Lindqvist", "two cats"],
        gone=["I live in Berlin", "I prefer tea", "Rome", "Paris"],
        replaced=["I live in Berlin", "I prefer tea"],
        episodes=[("sync of my photo backup", "success"), ("sync of my photo backup", "failure")],
        open_questions=1,
    ),
    Week(
        talks=[
            Talk(0, "plan", ["Can you plan my week?", (AGENT, "School on Monday, bees on Friday."), "Great, thanks!"]),
            Talk(1, "cats", ["I have three cats now.", (AGENT, "Three!"), "haha"]),
            Talk(2, "locker", ["My locker code is 4712 now.", (AGENT, "Noted.")]),
            Talk(3, "rule", ["From now on, keep your answers short.", (AGENT, "I will.")]),
            Talk(4, "release", steps=steps(2), task="release version 3 of the site"),
            Talk(5, "bees", ["I keep my bees behind the old mill.", (AGENT, "Indeed."), "ping"]),
        ],
        settles="Lisbon",
        current=[
            "I moved to Lisbon",
            "three cats",
            "keep your answers short",
            "behind the old mill",
            "2. npm run build",
        ],
        gone=["two cats", "4711", "Madrid", "I live in Berlin", "ping"],
        replaced=["two cats", "4711", "Madrid"],
    ),
    Week(
        talks=[
            Talk(0, "plan", ["Can you plan my week?", (AGENT, "School, bees, matcha."), "Perfect!"]),
            Talk(1, "matcha", ["I switched from coffee to matcha.", (AGENT, "Noted.")]),
            Talk(2, "echo", [NOISE.format("I prefer tea."), "ok", "thanks"]),
            Talk(3, "bees", ["I keep bees behind the old mill.", (AGENT, "I know.")]),
        ],
        current=[
            "My name is Nora Lindqvist",
            "I moved to Lisbon",
            "allergic to peanuts",
            "three cats",
            "behind the old mill",
            "keep your answers short",
            "2. npm run build",
        ],
        gone=["I live in Berlin", "I prefer tea", "two cats", "4711", "Madrid", "Paris", "Rome", "npm run lint"],
        replaced=["I live in Berlin", "I prefer tea", "two cats", "4711", "Madrid"],
    ),
]
ABOUT_NORA = [
    Question("What is my name?", "Nora Lindqvist"),
    Question("Which city do I live in?", "Lisbon", ["I live in Berlin", "Madrid", "Paris", "Rome"]),
    Question("What do I like to drink, tea, coffee or matcha?", "coffee to matcha", ["I prefer tea", "tea to coffee"]),
    Question("What am I allergic to?", "peanuts"),
    Question("How many cats do I have?", "three cats", ["two cats"]),
    Question("What is my locker code?", "4712", ["4711"]),
    Question("How long should your answers be?", "keep your answers short"),
    Question("How was the sync of the photo backup fixed?", "deleting the old index solved it"),
    Question("Where do I keep my bees?", "behind the old mill"),
    Question("How do I release a version of the site?", "npm run build"),
]
陈立 = [
    Week(
        talks=[
            Talk(0, "plan", ["你好！", "帮我安排这周的计划。", (AGENT, "好的：周一查房，周五买菜。"), "谢谢！"]),
            Talk(
                0,
                "meet",
                [
                    (SYSTEM, "你是一个乐于助人的助手。用户住在西安。"),
                    "我叫陈立。我住在杭州。",
                    (AGENT, "很高兴认识您！"),
                    "我喜欢喝绿茶。我对花生过敏。",
                    "好的",
                ],
            ),
            Talk(1, "cats", ["我有两只猫。请记住我的柜子密码是4711。", (AGENT, "记住了。"), "HEARTBEAT_OK"]),
            Talk(
                2,
                "sync",
                [
                    "帮我修一下照片备份的同步。",
                    (TOOL, '{"status": 507, "rows": 812}'),
                    (AGENT, "我重启了同步，它停在第 812 张。"),
                    "还是不行，报错 507。",
                ],
            ),
            Talk(3, "bees", ["今天天气真好。", "我在旧磨坊后面养蜜蜂。", (AGENT, "真不错。")]),
            Talk(4, "release", steps=steps(0), task="发布网站第 1 版"),
            Talk(5, "echo", [NOISE.format("我住在上海。") + " 现在几点？", (AGENT, "九点。"), "2026-05-09 09:00"]),
        ],
        current=["我叫陈立", "我住在杭州", "我喜欢喝绿茶", "我对花生过敏", "两只猫", "4711"],
        gone=["西安", "上海", "HEARTBEAT", "507", "记住了", "天气", "npm run lint"],
        episodes=[("照片备份的同步", "failure")],
    ),
    Week(
        talks=[
            Talk(0, "plan", ["帮我安排这周的计划。", (AGENT, "周一查房，周五搬家。"), "太好了！"]),
            Talk(
                1,
                "sync",
                [
                    "帮我修一下照片备份的同步。",
                    (AGENT, "我删掉了旧索引，重新开始同步。"),
                    "同步搞定了，删掉旧索引就好了。",
                ],
            ),
            Talk(2, "move", ["我上周搬到成都了。", (AGENT, "恭喜！"), "谢谢"]),
            Talk(3, "coffee", ["我不喝绿茶了，改喝咖啡了。", (AGENT, "记住了。")]),
            Talk(4, "release", steps=steps(1), task="发布网站第 2 版"),
            Talk(5, "bees", ["我现在在旧磨坊后面养蜜蜂。", (AGENT, "您说过。"), "嗯"]),
        ],
        claims=["陈立住在广州。"],
        current=["我上周搬到成都了", "我叫陈立", "两只猫"],
        gone=["我住在杭州", "我喜欢喝绿茶", "西安", "上海"],
        replaced=["我住在杭州", "我喜欢喝绿茶"],
        episodes=[("照片备份的同步", "success"), ("照片备份的同步", "failure")],
        open_questions=1,
    ),
    Week(
        talks=[
            Talk(0, "plan", ["帮我安排这周的计划。", (AGENT, "周一上课，周五养蜂。"), "好的，谢谢！"]),
            Talk(1, "cats", ["我现在有三只猫了。", (AGENT, "三只！"), "哈哈"]),
            Talk(2, "locker", ["我的柜子密码现在是4712。", (AGENT, "记住了。")]),
            Talk(3, "rule", ["以后回答都简短一点。", (AGENT, "好的。")]),
            Talk(4, "release", steps=steps(2), task="发布网站第 3 版"),
            Talk(5, "bees", ["我一直在旧磨坊后面养蜜蜂。", (AGENT, "是的。"), "测试"]),
        ],
        settles="成都",
        current=["我上周搬到成都了", "三只猫", "以后回答都简短一点", "旧磨坊后面", "2. npm run build"],
        gone=["两只猫", "4711", "广州", "我住在杭州", "测试"],
        replaced=["两只猫", "4711", "广州"],
    ),
    Week(
        talks=[
            Talk(0, "plan", ["帮我安排这周的计划。", (AGENT, "上课、养蜂、抹茶。"), "好的！"]),
            Talk(1, "matcha", ["我不喝咖啡了，改喝抹茶了。", (AGENT, "记住了。")]),
            Talk(2, "echo", [NOISE.format("我喜欢喝绿茶。"), "好的", "谢谢"]),
            Talk(3, "bees", ["我在旧磨坊后面养蜜蜂。", (AGENT, "我知道。")]),
        ],
        current=[
            "我叫陈立",
            "我上周搬到成都了",
            "我对花生过敏",
            "三只猫",
            "旧磨坊后面",
            "以后回答都简短一点",
            "2. npm run build",
        ],
        gone=["我住在杭州", "我喜欢喝绿茶", "两只猫", "4711", "广州", "上海", "西安", "npm run lint"],
        replaced=["我住在杭州", "我喜欢喝绿茶", "两只猫", "4711", "广州"],
    ),
]
关于陈立 = [
    Question("我叫什么名字？", "我叫陈立"),
    Question("我住在哪个城市？", "成都", ["我住在杭州", "广州", "上海", "西安"]),
    Question("我现在爱喝绿茶、咖啡还是抹茶？", "改喝抹茶", ["我喜欢喝绿茶", "改喝咖啡"]),
    Question("我对什么过敏？", "花生"),
    Question("我有几只猫？", "三只猫", ["两只猫"]),
    Question("我的柜子密码是多少？", "4712", ["4711"]),
    Question("回答应该多长？", "以后回答都简短一点"),
    Question("照片备份的同步是怎么修好的？", "删掉旧索引就好了"),
    Question("我在哪里养蜜蜂？", "旧磨坊后面"),
    Question("怎么发布网站的新版本？", "npm run build"),
]
LIVES: Mapping[str, tuple[Sequence[Week], Sequence[Question]]] = {
    "nora": (NORA, ABOUT_NORA),
    "chen": (陈立, 关于陈立),
}
