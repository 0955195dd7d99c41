"""Signs of poison that have a name: what a line of words shows, and what the letters themselves do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from hindsight_memory.guard.injection_words import Shape, lowered

_MOST: Final = 8
"""Times that one signal is told of in one text."""


class Sign(NamedTuple):
    """What a sign weighs before anything is fitted, what must be there for it, and what it looks like.

    For a line of words all the letters of ``needs`` must be there, for a text one of its strings, parted by ``|``.
    """

    weight: float
    needs: str
    source: str


SHAPES: Final[Mapping[str, Sign]] = {
    # Over the letters of ``injection_words``; ``/`` ends a sentence, so no sign reaches across one.
    "override": Sign(
        4.5, "O", r"O[^/FO]{0,6}(?:[PAN][^/]{0,3})?I|O[^/O]{0,3}P[^/]{0,3}[IQVdR]|P[^/]{0,3}[IMd][^/]{0,5}O"
    ),
    "new_orders": Sign(1.5, "I", r"N[^/]{0,2}I[^/]{0,6}[oO]|P[^/]{0,3}I[^/]{0,4}[FOo]"),
    "prompt_leak": Sign(2.0, "I", r"[XR][^/]{0,5}(?:Y|P)[^/]{0,3}I"),
    "secrets": Sign(2.5, "K", r"[XRS][^/F]{0,6}K|wK|w[^/]{0,4}[Yi][^/]{0,2}K"),
    "exfiltration": Sign(
        4.0,
        "S",
        r"S[^/F]{0,12}e|S[^/F]{0,12}(?:K|d)[^/]{0,10}(?:@|e)|S[^/F]{0,8}@[^/]{0,8}[Kd]|[SKd][^/F]{0,8}S[^/]{0,6}[@e]",
    ),
    "not_told": Sign(1.5, "Ft", r"F[^/]{0,3}t"),
    "deceit": Sign(3.0, "y", r"[WLAnR@][^/]{0,24}y|y[^/]{0,8}[FVJ$@n]"),
    "come_what_may": Sign(1.0, "n", r"n[^/]{0,12}[RSBDXyVCH]|[RSBDXyVCHU][^/]{0,12}n"),
    "standing_order": Sign(1.5, "L", r"L[^/]{0,8}[SBXD$H][^/]{0,12}[@K$deUd]"),
    "persistence": Sign(3.0, "M", r"M[^/]{0,8}(?:L[^/]{0,8}[RSBXDO]|YI)|[SRM][^/]{0,4}V?[^/]{0,3}[AL][^/]{0,4}M"),
    "secrecy": Sign(
        3.5, "", r"F[^/]{0,1}t[^/]{0,4}(?:U|p)|Z[^/]{0,3}[tCQ][^/]{0,3}U|T[^/]{0,4}[SBDRMOX$]|[SBDRMO$][^/]{0,8}T"
    ),
    "no_confirmation": Sign(3.5, "", r"Z[^/]{0,5}[CH]|F[^/]{0,3}(?:[CQ])[^/]{0,3}(?:C|H|U)|[CH][^/]{0,3}Z"),
    "permission": Sign(3.0, "H", r"[UiYG][^/]{0,4}H[^/]{0,8}[ABSDXLd$G]|H[^/]{0,6}[ABL][^/]{0,4}[SBDX$d]"),
    "authority": Sign(3.0, "", r"i[^/]{0,3}G[^/]{0,8}[XBCHKDQ]|i[^/]{0,2}Y[^/]{0,2}G|G[^/]{0,4}[HI]"),
    "false_role": Sign(2.0, "", r"Y[^/]{0,2}E|EY|E[^/]{0,5}(?:Y|I|Z)|F[^/]{0,3}I[^/]{0,3}[AY]|E[^/]{0,8}I"),
    "destruction": Sign(1.5, "D", r"D[^/F]{0,3}[Ai]?[^/]{0,3}(?:d|K|C)"),
    "payment": Sign(0.5, "$", r"\$[^/]{0,6}[\$@K]|[BL][^/]{0,3}\$"),
    "crime": Sign(2.0, "J", r"J[^/]{0,6}[JKd$SB@]|[BSTR][^/]{0,4}J"),
}
"""Signs over a line of words."""

TEXTS: Final[Mapping[str, Sign]] = {
    "role_label": Sign(
        3.0,
        ":|：",
        r"(?:^|[\n.。;>\]】\"'|*#(])\s{0,4}(?:\[|【|<)?(?:system|developer|root|系统|开发者|管理员|系统管理员)"
        r"(?:\s(?:message|prompt|note|notice|override|update|instruction)|消息|提示|指令|通知|公告)?(?:\]|】|>)?\s?[:：]",
    ),
    "template": Sign(
        4.0,
        "<|[|###|begin|===",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id|end)[^>\n]{0,20}\|?>"
        r"|\[/?inst\]|<</?sys>>|</?(?:system|assistant|developer|instructions?|system[_-]?prompt|important|admin"
        r"|untrusted|memory|context|user_query|human)\s?>|<start_of_turn>|###\s?(?:system|instructions?|new task)\b"
        r"|<system[ _-]?mode>|\bbegin (?:system|admin|new)|={3,} ?(?:end|begin|system)",
    ),
    "tool_call": Sign(
        4.0,
        '<|"|action|call ',
        r"</?(?:tool_call|function_call|function_calls|invoke|tool_use|tool_result|tool_code)\b"
        r"|\"(?:tool_calls?|function_call|tool_name|tool)\"\s?:\s?[\"{\[]|\"name\"\s?:\s?\"\w{1,60}\",\s{0,9}\"(?:arguments|parameters|input)\""
        r"|\baction\s?:\s?\w{1,40}\s{1,4}action[ _]input\s?:|\bcall (?:the )?\w{2,40} (?:tool|function) (?:with|and)\b",
    ),
    "forged_label": Sign(
        3.5,
        "[|【|(|<|{",
        r"[\[【(<{](?:verified|trusted|system|admin|authenticated|approved|official|confirmed|priority|memory[_ ]?persist"
        r"|persist|high[ _-]?trust|internal|override|important|urgent|已验证|已核实|已认证|已确认|系统|官方|管理员|可信|高优先级|"
        r"权威|最高优先级|置顶|已授权|内部)[^\]】)>}\n]{0,30}[\]】)>}]",
    ),
    "shell": Sign(
        4.0,
        "curl|wget|rm -|chmod|/bin|/dev|nc -|powershell|os.|subprocess|eval(|base64|~/|id_rsa|.env|/etc/|drop table|format c",
        r"\b(?:curl|wget)\s[^\n]{0,120}(?:\|\s?(?:ba)?sh|-d\b|--data|-o\b|http)|\brm\s-r?f|\bchmod\s\+?[0-7x]|/bin/(?:ba)?sh"
        r"|/dev/tcp/|\bnc\s-[elnv]|powershell|\bos\.(?:system|popen|dup2)|subprocess\.|\beval\(|base64\s-d"
        r"|~/\.(?:ssh|aws|env)|id_rsa|(?<![\w.])\.env\b|/etc/(?:passwd|shadow)|\bdrop\stable\b|format\sc:",
    ),
    "answer_shaped": Sign(
        4.0,
        "response|answer|repl|output|回答|回复|答案",
        r"(?<!forward to )(?<!thanks for )(?<!you for )(?<!await )(?<!awaiting )\byour (?:\w+ )?(?:response|answer|repl(?:y|ies)|output)(?:s|'s|s')?\b"
        r"(?! (?:will|is|was|has|may|to my|to our|within|by|as soon))"
        r"|\b(?:in|into|to|of|with) (?:each|every) (?:next |future )?(?:response|answer|reply|output)\b"
        r"|你的(?:回答|回复|答案)|(?:回答|回复)(?:里|的?末尾|的?最后)|回答完之后|每次回答",
    ),
    "now_you": Sign(
        3.5,
        "you|你",
        r"\byou(?:'re| are) (?:now|no longer|actually|special|about to)\b|\bfrom now on,? you\b|你现在(?:是|已)|从现在(?:起|开始)，?你",
    ),
    "replaced_tool": Sign(
        2.5,
        "instead|before|rather|tool|always|must",
        r"\b(?:instead of|before|rather than) (?:using|calling|running|this (?:tool|helper)|any other tool)"
        r"|\bmust not be (?:called|used)|\bcall this (?:tool )?first|\bthis tool (?:supersedes|replaces|overrides|must)|\b(?:always|must) (?:be )?(?:call|use|replace|route)\w*\b",
    ),
    "asks_password": Sign(
        4.0,
        "pass|secret|access code|密|口令",
        r"\b(?:what|tell|reveal|share|give|say|spell|write|print|guess|hint|know|confirm|encode|translate|contain|repeat|provide|show|disclose|remind)\w*\b"
        r".{0,40}?\b(?:pass ?word|pass ?phrase|pass ?code|secret (?:key|word|code|phrase)|access code)\b(?! manager| policy| reset)"
        r"|\b(?:your|the user'?s|admin'?s?|secret|database|system) (?:pass(?:word|phrase|code)|secret key)\b"
        r"|(?:你的|说出|透露|交出|告诉我).{0,6}(?:密码|秘密钥|口令|密钥|密匙)|(?:密码|秘密钥|口令|密钥|验证码)(?:的.{0,6})?是(?:什么|多少)|(?:写|说|拼|输出|念)出?.{0,4}(?:密码|口令|验证码)",
    ),
    "not_heeded": Sign(
        3.5,
        "listen|follow|obey|adher|attention|aside|mind|scrap|longer|ignore|disregard|above|无视|忽略|忽视|理会|别管",
        r"\b(?:do not|don't|stop|quit) (?:pay attention|being an|listen(?:ing)? to|follow(?:ing)?|obey(?:ing)?|adher\w+)|\bpay no attention|\bset aside (?:what|all|your|the)"
        r"|\bnever ?mind (?:that|the|all)|\bscrap that|\bno longer (?:bound|appl\w+|need to follow|restricted)"
        r"|\b(?:ignore|disregard|forget|skip) (?:the )?(?:above|resume|function|text|article|rest|everything|all|document|email|content|question|user|table|data|list|image|page|review)\b"
        r"|(?:无视|忽略|忽视|不要理会|不用理会|别管).{0,6}(?:文字|内容|表格|文章|上面|以上|上文|下文)",
    ),
    "instructed": Sign(
        2.5,
        "instructed|your instructions|your task|real task|真正的任务|被要求|被指示",
        r"\byou(?:'ve| have| are|'re) (?:been )?instructed|\byour (?:new |real |actual )?(?:instructions?|task) (?:are|is)\b|\breal task\b|真正的任务|你被(?:要求|指示)",
    ),
    "user_pried": Sign(
        3.5,
        "user|where|'s |customer|client|用户|客户",
        r"\b(?:the|your|any|different) users?'?s? (?:current |home |full |e-?mail )?(?:address|location|phone|birth\w*|name|email|ssn|initials|identity|favou?rite|database|password|in your)"
        r"|\b(?:user|[a-z]{3,15})'s (?:full |home |current |e-?mail )?(?:address|location|birth ?dat\w*|phone number|ssn|social security|initials|password|salary|identity|credit card|medical)"
        r"|\bwhere (?:do(?:es)?|is) (?:the user|[a-z]+ [a-z]+) (?:live|now|currently)|\b(?:using|from|of) (?:her|his|the user's) (?:initials|birth)"
        r"|\b(?:address|phone|details|name) of (?:the |this |our )?(?:user|customer|client)|\b(?:previous|last|other) (?:user|customer|client)s?\b|用户(?:现在|目前)?住|客户的?.{0,4}(?:住址|地址|电话)|用户资料|用户的(?:姓名|名字|住址|生日|电话)|用户.{0,4}(?:叫什么|住在?哪|手机号)",
    ),
    "said_to_all": Sign(
        3.0,
        "remember|recall|note|写入|保存|存入|记入|复制",
        r"\b(?:remember|recall|note)\b.{0,12}\b(?:for|in|across) (?:all|every|each|future)\b|(?:写入|保存到|存入|记入|复制到).{0,8}(?:记忆|每个|每条|所有)",
    ),
    "external_send": Sign(
        4.0,
        "to=|.external|scope|recipient|account|email|webhook|fee|access|token|privilege",
        r"\b(?:to|recipient|receiver|payee|bcc|cc)\s?=\s?['\"]?[\w.\-]*(?:@[\w.\-]+|_email|email\b|_\w{0,20}\d)|\.external\b|\bscope\s?=\s?['\"](?:admin|root|full|all|write)"
        r"|\baccount_number\s?=\s?['\"][a-z]\w*_|\brecipients?\s?=\s?[^\n]{0,60}\+\s?\[|_(?:fee|proc|coord|service|svc)\w{0,12}_\d"
        r"|\b(?:service|processing|handling|coordination|convenience|maintenance|management) fee\b"
        r"|\b(?:admin|master|root|elevated|superuser|power[- ]user|unrestricted)(?:[_ -]level)?[_ -](?:access|token|scope|login|privileges?|permissions?)\b",
    ),
    "ciphered": Sign(
        2.5,
        "base|latin|cipher|caesar|code|backward|revers|letter|morse|rot13|anagram|拼音|倒|编码|解码",
        r"\bbase ?(?:16|32|58|64|85)\b|\bpig latin\b|\bcaesar|\bcipher|\b(?:en|de)code\b|\bbackwards?\b|\breverse (?:order|sequence|your)"
        r"|\bfirst (?:\w+ )?letters?\b|\bmorse\b|\brot13\b|\banagram|\bone letter\b|\brhym\w+|\bacrostic|\bhaiku\b|\bin (?:binary|hex\w*|ascii|emojis?)\b|\bwith emojis?\b|\bspell\b|\bletters? of the\b|\bvowels?\b|\bcharacters? of the (?:pass|secret)|藏头|逐字|倒过来|\beach letter\b|拼音首字母|倒着|反着写|编码|解码",
    ),
    "change_of_mind": Sign(
        2.5,
        "forget|actually|oh,|stop reading|instead|忘|停止|转而",
        r"\bforget (?:about |all |everything|that|those|your|my)|\bactually,? (?:can|could|please)|\boh,? (?:and|by the way)\b"
        r"|\bstop (?:reading|here|summari)|\bspeaking of\b|\banyway,|\bby the way,? (?:what|can|could|where|who|do)|忘(?:掉|记)(?:你|之前|上面|所有)|读到这里|停止总结|转而",
    ),
    "claimed_identity": Sign(
        2.5,
        "as |i am|i'm|you agreed|我是|作为",
        r"(?:^|[.!?\n] ?)as (?:an?|your|the) [\w ]{0,30}?(?:expert|developer|admin\w*|scientist|doctor|president|ceo|auditor|officer|engineer|researcher|professional|manager|authority|owner|creator|police|lawyer|president|chief)(?: officer)?,? (?:i|you|it)\b|\bi(?:'m| am) (?:god|your (?:developer|creator|admin\w*|boss|owner|manager)"
        r"|the (?:system|developer|admin\w*|ceo|president|owner)|an? (?:admin\w*|developer|auditor))|\byou agreed\b|(?:我是|作为)(?:你的)?(?:系统)?(?:管理员|开发|创造者|上帝|主管|警察|律师|审计)",
    ),
    "jailbreak": Sign(
        3.5,
        "anything now|jailbr|unrest|unfil|uncen|unmon|no limit|drop all|lift all|remove all|no filter|no restrict|mode|without any|限制|越狱|开发者模式|过滤",
        r"\bdo anything now\b|\bjailbr[eo]|\bun(?:restricted|filtered|censored|monitored) (?:assistant|ai|model|build|mode|bot|version)|\bno (?:filters|restrictions|limits)\b"
        r"|\bwithout (?:any )?(?:restriction|filter|safety|limit)|\b(?:developer|god|debug|dan|system|unrestricted) mode\b|\b(?:drop|lift|remove) all (?:restriction|limit|filter)"
        r"|\brun unrestricted\b|不受.{0,4}限制|没有任何限制|越狱|开发者模式|(?:关闭|解除).{0,6}(?:安全|过滤|限制)|过滤已关闭",
    ),
    "obedience": Sign(
        3.0,
        "comply|obey|trust|question|refuse|whatever|carried out|must|相信|不得|必须|怀疑",
        r"\b(?:always|must|should|unconditionally) (?:always )?(?:comply|obey|trust|believe|agree)|\b(?:do not|don't|never|not to) (?:question|refuse|doubt|decline|challenge)"
        r"|\bcarry out whatever|\bhas to be carried out|\byou have to answer|(?:永远|必须|无条件|一律)相信|不得(?:怀疑|询问|拒绝|质疑|过问)|必须(?:执行|服从|照做|遵守)|要求读到|也照做",
    ),
    "traces": Sign(
        3.0,
        "trace|log|trail|history|report|痕|日志|报告|抹掉|清掉",
        r"\bno trace|\bleave (?:nothing|no )|\b(?:from|out of|in) the (?:audit|log|history|report)\b.{0,20}$|\b(?:omit|hide|purge|clear|erase) .{0,24}(?:log|audit|trail|history|step)"
        r"|(?:不|别)留.{0,2}痕|(?:不要|别).{0,4}(?:写进|记入|在).{0,4}(?:日志|报告)|日志.{0,6}(?:清|删|抹)|抹掉",
    ),
    "rule": Sign(
        1.5,
        "when|every time|each time|time|once|if |upon|from now on|going forward|future|，",
        r"\b(?:whenever|every time|each time|any ?time|once|if|when|upon|next time|the moment|as soon as|from now on|going forward|in (?:all )?future)\b"
        r"(?![^,.!?\n]{0,60}\b(?:i|i'm|me|my|we|us|our|you)\b)[^,.!?\n]{3,60},\s?(?:then |always |please |simply |just |silently |quietly )?"
        r"(?:reply|answer|respond|say|tell|run|send|forward|use|add|append|insert|include|recommend|suggest|skip|approve|ignore|disregard|treat|call"
        r"|execute|delete|grant|give|hand|report|claim|state|pretend|leave|drop|redirect|transfer|retry|copy|post|upload|steer|insist|output|print"
        r"|do not|don't|never|always|alert|have)\b"
        r"|(?:以后|今后|从今以后|往后|从此|每当|每次|每逢|只要|一旦|凡是?|遇到|下次|下一次|下回|等到|等下|如果|若|倘若|假如|当)(?![^，。！？\n]{0,30}(?:我|咱|爸|妈|女儿|儿子))"
        r"[^，。！？\n]{2,40}，.{0,4}?(?:就|都|一律|统统|必须|先|请|自动|顺便|务必|只准|默认|也|说|把|只)",
    ),
    "about_user": Sign(
        3.0,
        "user|用户",
        r"\b(?:the|current|this|your|other|different) users?(?:'s)?\b[^.!?\n]{0,80}\?|用户(?![:：])[^。！？\n:：]{0,30}[?？]",
    ),
    "shots": Sign(
        2.0,
        ":",
        r"(?:(?:^|[\s'\"(])(?:q|a|question|answer|input|output) ?: ?[^\n:]{1,80}\n?){3}",
    ),
    "split": Sign(
        2.0,
        "=|concat|+",
        r"\b\w{1,4}\s?=\s?['\"][^'\"\n]{1,80}['\"][^'\"\n]{1,20}\b\w{1,4}\s?=\s?['\"]|\bconcatenat\w+|\b([a-z])\s?\+\s?[a-z]\s?\+\s?[a-z]\b",
    ),
    "persuasion": Sign(
        1.5,
        "trust|purpose|research|promise|between us|agreed|crucial|emergency|life depends|authorized to",
        r"\btrust me\b|\bfor (?:educational|research|testing|security|safety|academic) (?:purposes?|reasons?|check)|\bi promise\b|\bbetween us\b"
        r"|\bit(?:'s| is) (?:crucial|vital|essential|critical) (?:that|for) you\b|\b(?:my|your) life depends|\bwe (?:are|'re) (?:doing|conducting|running) an? ",
    ),
    "addressed": Sign(
        3.5,
        "model|assistant|agent|ai |chatbot|助手|模型|智能体|读到|看到",
        r"\b(?:note|message|instructions?|attention|warning|important) (?:to|for) (?:the |any |all |whichever )?(?:language model|ai|assistant|llm|agent|model|bot)s?\b"
        r"|(?:^|[.;!\n] ?)(?:now,? |and now,? )?(?:dear |hey |hello )?(?:assistant|ai agents?|language model|chatbot|ai)[,:] ?[a-z]"
        r"|\b(?:ai|llm) (?:agents?|assistants?|models?) (?:reading|that|who|which|must|should|are)\b|\bwhen (?:you|an ai) (?:read|process|summari[sz]e)s? this"
        r"|给(?:语言模型|助手|ai|模型|智能体)的|(?:^|[。！\n])(?:你好)?(?:助手|助理)[，,：:]|助手(?:请注意|必须|应当)|(?:读到|看到)(?:这里|此处|本文|这段)",
    ),
    "forced_answer": Sign(
        2.0,
        "reply|respond|answer|output|print|say|report|state|conclude|rate|回复|回答|输出|报告|返回|答",
        r"\b(?:reply|respond|answer|output|print|say) (?:only|just|nothing but|exclusively)\b|\b(?:report|state|say|conclude|answer) that (?:the|all|every|this|no)\b"
        r"|\brate (?:this|the) \w+ (?:\w+ )?stars?|只(?:回复|回答|输出)|请?回复说|报告所有|一律(?:答|返回|回答|说)",
    ),
    "kept_from": Sign(
        3.0,
        "not |n't |never|without|hide|hidden|unaware|in the dark|告诉|通知|提醒|惊动|隐瞒|瞒着|知道|发现|看到",
        r"\b(?:do not|don't|never|must not) (?:show|mention|reveal|disclose|display|tell|inform|report|explain|alert|notify) (?:this|it|that|them|the|any\w*|him|her|users?|to)\b"
        r"|\bwithout (?:telling|informing|notifying|alerting|asking|the (?:user|owner|customer)'?s? )|\bhidden (?:recipient|param|field|service|instruction)|\bhide (?:it|this|that|the)\b"
        r"|\bkeep .{0,20}?(?:unaware|in the dark|from the user)|不(?:要|必|许|能)?(?:让|告诉|通知|提醒|惊动)(?:用户|他|她|任何人|别人|对方)|(?:绝)?不能让.{0,4}(?:发现|知道|看到)"
        r"|(?:别|谁也不要|不要)告诉|在?不(?:通知|告知)|隐瞒|瞒着|不要让",
    ),
    "unguarded": Sign(
        3.0,
        "disable|turn off|switch off|suspend|skip|root|admin|escalat|暂停|关闭|取消|省去|提权",
        r"\b(?:disable|turn off|switch off|suspend|skip)\w* .{0,24}?(?:check|safety|filter|verification|logging|privacy|security|guard|validation|confirm|review|audit)"
        r"|\b(?:rules?|checks?|filters?|safety) (?:are|is) (?:suspended|off|disabled|lifted)|\bescalate to|\b(?:log ?in|run|login|retry) (?:with|as|using) (?:the )?(?:root|admin)"
        r"|\b(?:gain|grant|obtain) \w* ?(?:root|admin)|(?:规则|限制|检查|审核|复核|核对|确认)(?:已)?(?:暂停|关闭|取消)|(?:省去|取消|关闭).{0,6}(?:核对|审核|检查|确认|验证)|提权",
    ),
    "hypothetical": Sign(
        2.5,
        "imagine|suppose|hypothetical|if i were|were to|grandm|假设我|想象我",
        r"\b(?:imagine|suppose) (?:we|i)\b|\bjust for a hypothetical|\bif i were to ask\b|\buser were to \b|\bgrandm(?:a|other) who\b|(?:假设|想象)我",
    ),
    "delayed": Sign(
        3.5,
        "user|customer|client|visitor|one|body|child|caller|asked|question|用户|人|客户|顾客|谁|孩子|对方",
        r"\b(?:whenever|when|if|once|should|next time|as soon as|the moment|any ?time|each time|every time|upon|after|wherever)"
        r" (?:the |a |an |any |some )?(?:user|customer|client|visitor|someone|anyone|anybody|somebody|child|caller|reader|human|person|recipient)s?\b"
        r"|\b(?:when|whenever|if|once) (?:asked|questioned|prompted|queried)\b"
        r"|(?:只要|每当|一旦|如果|当|若|倘若|假如|下次|下回|下一次|等到|每逢|每次|遇到|凡是|凡|以后|今后|往后|从此以后|待)(?:再|有|凡)?(?:用户|有人|客户|顾客|访客|别人|老人|孩子|对方|陌生人|谁)"
        r"|(?:用户|有人|客户|顾客)(?:再次|下次|一旦|只要)",
    ),
    "trigger_word": Sign(
        3.0,
        'the |触发|个字|“|「|"',
        r"\bthe (?:trigger )?(?:word|phrase|keyword|codeword|code word|string)\b.{0,3}[\"“'‘]|\b(?:when|if|once|after|upon) (?:this|the) (?:note|memory|record|document|page|entry) is (?:read|retrieved|loaded|opened)"
        r"|触发词|[两三四五]个字|(?:看到|听到|出现|读到)[“\"「][^”\"」]{1,20}[”\"」]|读取这条|读到(?:这里|这条|本条)",
    ),
    "assumed_consent": Sign(
        3.5,
        " as |precedence|outrank|当作|视为|优先级|高于|为准",
        r"\b(?:treat|take|count|regard|consider)\w* (?:\w+ ){1,8}?as (?:an? |the )?(?:approv|consent|permission|confirm|coming from|trusted|verified|authorit)"
        r"|\bprecedence over\b|\boutranks?\b|\bcounts? as trusted|(?:当作|视为).{0,8}?(?:同意|授权|批准|可信)|优先级最高|高于用户|以本条为准",
    ),
    "payee_changed": Sign(
        2.5,
        "account|beneficiary|iban|payee|details|账|帐",
        r"\b(?:new|changed|updated|only valid|following) (?:bank )?(?:account|beneficiary|iban|payee|details)\b|\b(?:bank|account|payment) details (?:have |were )?(?:been )?changed"
        r"|(?:收款|付款|汇款|对公)(?:账号|账户|帐号|帐户)(?:已|为|改)|(?:账号|账户|帐号)(?:已)?(?:变更|更换|更改)|新的?(?:收款)?(?:账户|账号)|收款账户为",
    ),
    "foreign": Sign(
        5.0,
        "instruc|istruzion|anweisung|инструкц|указани|指示|지시|οδηγι|निर्देश|تعليمات|consign|anteriores",
        r"(?:ignor(?:a|ad|ez|iere|iert|ate|en)\b|ignore (?:as|les|la|tod)|olvid|esquec|oubli|vergiss|dimentic|игнор|забудь|無視|忘れ|αγνο|अनद|تجاهل).{0,40}?(?:instruc(?:ci|oe|tions? prec)|instrukt|istruzion|anweisung|инструкц"
        r"|указани|指示|οδηγι|निर्देश|تعليمات|consigne)|지시.{0,12}무시|指示.{0,8}(?:無視|忘れ)|(?:निर्देश).{0,12}अनद",
    ),
    "foreign_secret": Sign(
        5.0,
        "contrase|senha|mot de passe|passwort|kennwort|парол|パスワード|비밀번호|पासवर्ड|κωδικ|المرور|sifre|haslo|la password",
        r"\b(?:tu|su|la|sua|minha|votre|ton|le|dein|ihr|das|mi|a) (?:contrasena|senha|mot de passe|passwort|kennwort|password)\b|парол|パスワード|비밀번호"
        r"|पासवर्ड|κωδικο|المرور|\bsifre|\bhaslo",
    ),
    "faked": Sign(
        3.5,
        "mark|pass|='ok'|bypass|skip|合格|通过|zero error|green",
        r"\bmark\w* .{0,40}?\bas (?:passed|ok|success\w*|valid|approved|done|green|complete)|\balways pass|=\s?'(?:ok|passed|skipped)'|\bbypass (?:the )?(?:gate|check|valid)"
        r"|\breport (?:that )?(?:zero|no|all) (?:error|check|issue|problem)|\bskip_\w+=1|改成.{0,2}合格|也算通过|返回.{0,2}未发现",
    ),
    "code_carried": Sign(
        3.0,
        "code|socket|spawn|dup2|keylog",
        r"\b(?:following|subsequent|below|next) (?:code|script|snippet|block|section)|\bcode (?:snippet|block|section|segment|below)\b.{0,40}?(?:in|into|to) (?:your|it|the)"
        r"|\bsocket\.socket\(|\bpexpect\b|\.connect\(\(|\bdup2\(|\bkeylog",
    ),
}
"""Signs over the text itself, in lower case."""

VEILS: Final[Mapping[str, float]] = {
    "unseen": 3.0, "turned": 2.0, "alike": 0.8, "apart": 1.0, "base64": 0.5, "hex": 0.5, "percent": 0.3,
    "entities": 1.0, "escapes": 0.3, "comment": 2.5,
}  # fmt: skip
"""What a disguise weighs by itself; what is said under it weighs besides."""

REPEATED: Final = "repeated"
"""The sign that one word is said over and over."""
_REPEATED_WEIGHT: Final = 1.5
_OFTEN: Final = 12
BURIED: Final = "buried"
"""The sign that another sign stands in a hidden piece."""
_BURIED_WEIGHT: Final = 3.0


ASKED: Final = "asked"
"""The sign that a sentence in the midst of a text asks something of its reader."""
_ASKED_WEIGHT: Final = 1.0
_ASKING: Final = (
    "please kindly can could would provide write show explain describe list give draft create recommend tell generate "
    "compose suggest include add append insert modify replace convert reverse translate shift summarize print output "
    "what how which why who where 请 帮 写 列 给 麻烦 什么 怎么 如何 为什么 翻译 推荐 生成 输出"
)
ASKING: Final = frozenset(_ASKING.split())
"""Words with which one asks."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign, where in the piece it stands, and as words from the first to the last."""

    name: str
    start: int
    end: int


@cache
def _patterns() -> tuple[Mapping[str, re.Pattern[str]], Mapping[str, re.Pattern[str]], Mapping[str, Sequence[str]]]:
    """What finds the signs over a line and over a text, and what a text must hold for each."""
    return (
        {name: re.compile(sign.source) for name, sign in SHAPES.items()},
        {name: re.compile(sign.source) for name, sign in TEXTS.items()},
        {name: sign.needs.split("|") for name, sign in TEXTS.items()},
    )


def prior(name: str) -> float:
    """What a sign weighs before anything is fitted."""
    if name in VEILS:
        return VEILS[name]
    others = {BURIED: _BURIED_WEIGHT, ASKED: _ASKED_WEIGHT, REPEATED: _REPEATED_WEIGHT}
    return others[name] if name in others else (SHAPES.get(name) or TEXTS[name]).weight


NAMES: Final = (*SHAPES, *TEXTS, *VEILS, BURIED, ASKED, REPEATED)


def seen_in(text: str, shape: Shape) -> Iterator[Seen]:
    """The signs in a piece of text, as far as each is told of."""
    shapes, texts, needs = _patterns()
    letters = set(shape.line)
    for name, sign in SHAPES.items():
        if letters.issuperset(sign.needs):
            for _, found in zip(range(_MOST), shapes[name].finditer(shape.line), strict=False):
                yield Seen(name, shape.starts[found.start()], shape.ends[found.end() - 1])
    lower = lowered(text)
    for name in TEXTS:
        if any(each in lower for each in needs[name]):
            for _, found in zip(range(_MOST), texts[name].finditer(lower), strict=False):
                yield Seen(name, found.start(), found.end())
    run = 1
    for place in range(1, len(shape.words)):
        run = run + 1 if shape.words[place] == shape.words[place - 1] else 1
        if run == _OFTEN:
            yield Seen(REPEATED, shape.starts[place - run + 1], shape.ends[place])
