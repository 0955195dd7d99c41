"""What an embedding space's cosine means: how near texts that have nothing to do with each other lie in it."""

from __future__ import annotations

from typing import Final

import numpy as np

from hindsight_memory.models.base import Embedder

_QUESTIONS: Final = (
    "When did the new bakery open?",
    "Which port does the staging server use?",
    "What is the name of her younger brother?",
    "How long does the train to Vienna take?",
    "Why did the nightly backup fail?",
    "Who won the chess match on Sunday?",
    "她最喜欢哪种咖啡？",
    "上周三的会议几点开始？",
    "谁负责修理办公室的空调？",
    "这个项目用的是什么数据库？",
)
_STATEMENTS: Final = (
    "The lake was frozen all winter, so the children skated to school.",
    "Our landlord raised the rent by four percent in March.",
    "A violin should never be left beside a radiator.",
    "The recipe asks for two eggs and a spoon of yoghurt.",
    "Volcanic soil makes the wine of this island taste of smoke.",
    "My tax return was sent back because a signature was missing.",
    "外婆在院子里种了三棵石榴树。",
    "这双跑鞋的鞋底太薄，跑完膝盖疼。",
    "他把旧自行车送给了邻居的女儿。",
    "图书馆周一闭馆，书只能明天还。",
)


async def background(embedder: Embedder) -> dict[str, float]:
    """Mean and deviation of the cosine of questions to statements that answer none of them.

    Raises ``ModelFailed`` when the embedder does not answer.
    """
    questions = await embedder.queries(_QUESTIONS)
    statements = await embedder.passages(_STATEMENTS)
    cosines = questions @ statements.T
    return {"mean": round(float(np.mean(cosines)), 4), "deviation": round(float(np.std(cosines)), 4)}
