"""Signs of poison in the letters of a text: expressions over it in lower case, and what each weighs before any data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Sign(NamedTuple):
    """What a sign weighs before anything is fitted, what must be there for it, and what it looks like.

    For a line of words all the letters of ``needs`` must be there, for a text one of its strings, parted by ``|``.
    """

    weight: float
    needs: str
    source: str


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
        "curl|wget|rm -|chmod|/bin|/dev|nc -|powershell|os.|subprocess|eval(|base64|~/|id_rsa|.env|/etc/|drop table|format c|sudo|://",
        r"\b(?:curl|wget)\s[^\n]{0,120}(?:\|\s?(?:ba)?sh|-d\b|--data|-o\b|http)|\brm\s-r?f|\bchmod\s\+?[0-7x]|/bin/(?:ba)?sh"
        r"|/dev/tcp/|\bnc\s-[elnv]|powershell|\bos\.(?:system|popen|dup2)|subprocess\.|\beval\(|base64\s-d"
        r"|~/\.[a-z]|\bsudo [a-z]|\bwith sudo\b|https?://\d{1,3}(?:\.\d{1,3}){3}|https?://[^\s]{1,80}\.(?:sh|exe|ps1)\b|id_rsa|(?<![\w.])\.env\b|/etc/(?:passwd|shadow)|\bdrop\stable\b|format\sc:",
    ),
    "answer_shaped": Sign(
        4.0,
        "response|answer|repl|output|回答|回复|答案",
        r"(?<!forward to )(?<!thanks for )(?<!you for )(?<!await )(?<!awaiting )\byour (?:\w+ )?(?:response|answer|repl(?:y|ies)|output)(?:s|'s|s')?\b"
        r"(?! (?:will|is|was|has|may|to my|to our|within|by|as soon))"
        r"|\b(?:in|into|to|of|with) (?:each|every) (?:next |future )?(?:response|answer|reply|output)\b"
        r"|(?<!谢谢)(?<!感谢)你的(?:回答|回复|答案|输出)|(?:在|把|从)(?:回答|回复|答复|答案|总结|输出)(?:中|里|内容|的)|(?:回答|回复)(?:里|的?末尾|的?最后)|回答完之后|每次回答",
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
        "pass|secret|access code|密|口令|暗号|访问码|the code|the key",
        r"\b(?:what|tell|reveal|share|give|say|spell|write|print|guess|hint|know|confirm|encode|translate|contain|repeat|provide|show|disclose|remind)\w*\b"
        r".{0,40}?\b(?:pass ?word|pass ?phrase|pass ?code|secret (?:key|word|code|phrase)|access code)\b(?! manager| policy| reset)"
        r"|\b(?:your|the user'?s|admin'?s?|secret|database|system) (?:pass(?:word|phrase|code)|secret key)\b"
        r"|\bwhat(?: is|'s) the (?:secret |hidden |access )?(?:key|code|passphrase|word)\b|\b(?:pass ?phrase|password|access code|secret word) (?:is|that i was given is|:)\s*$"
        r"|(?:口令|暗号|密码|访问码|密钥)(?:是什么|是多少|有几|的前|的第|开头)|(?:你的|说出|透露|交出|告诉我).{0,6}(?:密码|秘密钥|口令|密钥|密匙)|(?:密码|秘密钥|口令|密钥|验证码)(?:的.{0,6})?是(?:什么|多少)|(?:写|说|拼|输出|念)出?.{0,4}(?:密码|口令|验证码)",
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
        "user|where do|where is|'s full|'s home|'s current|'s e|'s addr|'s loc|'s birth|'s phone|'s ssn|'s social|'s init|'s pass|'s sal|'s ident|'s credit|'s medic|her init|his init|her birth|his birth|customer|client|用户|客户",
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
        r"\bforget (?:about (?:that|all|the|this|every)|all |everything|that,|those|your (?:task|rules|instr))|\bactually,? (?:can|could|please)|\boh,? (?:and|by the way),? (?:what|can|could|where|who|which|how|tell|do|did)\b"
        r"|\bstop (?:reading|here|summari)|\bspeaking of\b|\banyway,|\bby the way,? (?:what|can|could|where|who|do)|忘(?:掉|记)(?:你|之前|上面|所有)|读到这里|停止总结|转而",
    ),
    "claimed_identity": Sign(
        2.5,
        "as a|as your|as the|i am |i'm |you agreed|我是|作为",
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
        "q:|a:|q :|a :|question:|question :|answer:|input:|input :|output:|output :",
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
        "not |n't |never|without|hide|hidden|unaware|in the dark|nobody|no one|no-one|告诉|通知|提醒|惊动|隐瞒|瞒着|知道|发现|看到|察觉|声张",
        r"\b(?:do not|don't|never|must not) (?:show|mention|reveal|disclose|display|tell|inform|report|explain|alert|notify) (?:this|it|that|them|the|any\w*|him|her|users?|to)\b"
        r"|\bwithout (?:telling|informing|notifying|alerting|asking|the (?:user|owner|customer)'?s? )|\bhidden (?:recipient|param|field|service|instruction)|\bhide (?:it|this|that|the)\b"
        r"|\bkeep .{0,20}?(?:unaware|in the dark|from the user)|不(?:要|必|许|能)?(?:让|告诉|通知|提醒|惊动)(?:用户|他|她|任何人|别人|对方)|(?:绝)?不能让.{0,4}(?:发现|知道|看到)"
        r"|\b(?:do not|don't|never) (?:say|explain|tell) (?:why|how|who|where|anyone|anybody)|\b(?:alert|tell|inform|notify) (?:nobody|no one)|\b(?:nobody|no one) (?:else )?(?:is to|must|should|may|needs to) (?:know|learn|notice|hear)"
        r"|\b(?:do not|don't) let .{1,30} (?:notice|know|find out|see)|(?:别|谁也不要|不要)告诉|在?不(?:通知|告知)|隐瞒|瞒着|不要让|(?:别|勿|不)让.{1,8}(?:察觉|知道|发现|看到)|谁(?:也|都)不(?:许|准|能|要)|不要说明(?:原因|理由)|不(?:得|要|许)声张",
    ),
    "unguarded": Sign(
        3.0,
        "disable|turn off|switch off|turned off|switched off|suspend|skip|root|admin|escalat|withdrawn|lifted|void|revoked|removed|cancel|暂停|关闭|取消|省去|提权|撤销|解除|作废",
        r"\b(?:disable|turn off|switch off|suspend|skip)\w* .{0,24}?(?:check|safety|filter|verification|logging|privacy|security|guard|validation|confirm|review|audit)"
        r"|\b(?:rules?|checks?|filters?|safety) (?:are|is) (?:suspended|off|disabled|lifted)|\b(?:polic(?:y|ies)|rules?|guidelines?|restrictions?|limits?|bans?|guardrails?|moderation|protections?|block) [^.!?\n]{0,40}\b(?:withdrawn|lifted|revoked|suspended|turned off|switched off|void|cancelled|disabled)\b"
        r"|\blift the (?:block|ban|limit|restriction)|(?:规定|限制|护栏|禁令|规则|准则|校验|核验|审查)[^。，]{0,8}(?:撤销|解除|关闭|取消|作废)|(?:解除|关闭|撤销|取消)[^。，]{0,8}(?:限制|护栏|禁令|规则|准则|校验|核验|审查)|\bescalate to|\b(?:log ?in|run|login|retry) (?:with|as|using) (?:the )?(?:root|admin)"
        r"|\b(?:gain|grant|obtain) \w* ?(?:root|admin)|(?:规则|限制|检查|审核|复核|核对|确认)(?:已)?(?:暂停|关闭|取消)|(?:省去|取消|关闭).{0,6}(?:核对|审核|检查|确认|验证)|提权",
    ),
    "hypothetical": Sign(
        2.5,
        "imagine|suppose|hypothetical|if i were|were to|grandm|假设我|想象我",
        r"\b(?:imagine|suppose) (?:we|i)\b|\bjust for a hypothetical|\bif i were to ask\b|\buser were to \b|\bgrandm(?:a|other) who\b|(?:假设|想象)我",
    ),
    "delayed": Sign(
        3.5,
        "user|customer|client|visitor|someone|anyone|anybody|somebody|child|caller|reader|human|person|recipient|asked|questioned|prompted|queried|用户|有人|客户|顾客|访客|别人|老人|孩子|对方|陌生人|谁",
        r"\b(?:whenever|when|if|once|should|next time|as soon as|the moment|any ?time|each time|every time|upon|after|wherever)"
        r" (?:the |a |an |any |some )?(?:user|customer|client|visitor|someone|anyone|anybody|somebody|child|caller|reader|human|person|recipient)s?\b"
        r"|\b(?:when|whenever|if|once) (?:asked|questioned|prompted|queried)\b"
        r"|(?:只要|每当|一旦|如果|当|若|倘若|假如|下次|下回|下一次|等到|每逢|每次|遇到|凡是|凡|以后|今后|往后|从此以后|待)(?:再|有|凡)?(?:用户|有人|客户|顾客|访客|别人|老人|孩子|对方|陌生人|谁)"
        r"|(?:用户|有人|客户|顾客)(?:再次|下次|一旦|只要)",
    ),
    "trigger_word": Sign(
        3.0,
        "the word|the phrase|the keyword|the codeword|the code word|the string|the trigger|is read|is retrieved|is loaded|is opened|触发|个字|看到|听到|出现|读到|读取",
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
        "mark|pass|='ok'|success|verified|bypass|skip|type: ignore|777|force-push|certificate|合格|通过|zero error|green|标记为|写成|已校验",
        r"\bmark\w* .{0,40}?\bas (?:passed|ok|success\w*|valid|approved|done|green|complete)|\balways pass|=\s?'(?:ok|passed|skipped)'|\bbypass (?:the )?(?:gate|check|valid)"
        r"|\breport (?:that )?(?:zero|no|all) (?:error|check|issue|problem)|\bskip_\w+=1|\bstatus\s?=\s?['\"]success|\b(?:write|report|set|tell)\w* [^.\n]{0,24}['\"]?(?:verified|success|passed|all is fixed)\b|# type: ignore\b|\bchmod (?:-r )?777|\bforce-push|\b(?:disable|turn off|remove|skip) [^.\n]{0,24}(?:certificate|verification|protection|constraint)"
        r"|标记为(?:通过|成功|已测试|已解决)|写(?:成|“|为)(?:成功|已校验)|(?:改|填)为通过|改成.{0,2}合格|也算通过|返回.{0,2}未发现",
    ),
    "code_carried": Sign(
        3.0,
        "code|socket|spawn|dup2|keylog",
        r"\b(?:following|subsequent|below|next) (?:code|script|snippet|block|section)|\bcode (?:snippet|block|section|segment|below)\b.{0,40}?(?:in|into|to) (?:your|it|the)"
        r"|\bsocket\.socket\(|\bpexpect\b|\.connect\(\(|\bdup2\(|\bkeylog",
    ),
    "pivot": Sign(
        2.0,
        "speaking|speak of|discuss|second thought|scratch|drop that|one more thing|before you|while you|quick question|new task|instead of|as an aside|also, |说到|对了|顺便|另外|先别|先放下|不用总结|别翻译|新任务|在继续之前|接下来请",
        r"\bspeaking of|\bnow that we speak of|\bon second thought|\b(?:scratch|drop) th(?:at|e)\b|\bone more thing\b|\bbefore you (?:go on|continue|proceed|answer)|\bwhile you(?:'re| are) at it"
        r"|\bquick question\b|\bnew task\b|\binstead of (?:summari|translat|review|answer|rating|process)\w*|\bas an aside\b|\bstop (?:being|summari\w+|translat\w+|review\w+)\b|\balso,? (?:can|could|would|please) "
        r"|说到[^，。]{1,12}，[^，。]{2,20}[?？]|(?:^|[，。！？])(?:对了|顺便问一下|另外)，?[^，。]{2,20}[?？]|(?:^|[。！？\n])先(?:别管|放下)|不用总结|别(?:再)?翻译了|新任务|在继续之前",
    ),
    "handed_text": Sign(
        1.5,
        "this |these |following|given|below|based on|这|下面|根据",
        r"\b(?:given|from|of|in|on|to|summari[sz]e|translate|using|by) (?:this|these|the following|the) (?:\w+ ){0,3}?(?:paper|article|e-?mail|web ?page|page|resume|table|text|code|review|message|document|letter|mail|notes?|transcript)s?(?: \w+){0,4}\s?[:?]\s?['\"<{‘“(]"
        r"|(?:这|下面|以下|根据)(?:篇|封|段|个|张|份)?[^，。：:]{0,8}(?:文章|邮件|论文|网页|表格|内容|代码|简历|评论)[^。]{0,8}[:：]\s?[“\"'‘<（(]|把下面[^。]{0,10}[:：]\s?[“\"]",
    ),
    "flag": Sign(
        3.5,
        "safety|guard|filter|verif|moderation|approv|auth|checks|confirm|role|access|privilege|permission|clearance|unrestricted|unfiltered|jailbr|uncensored|bypass_|skip_|no_|级别|模式",
        r"\b(?:safety|guard\w*|filter\w*|verif\w*|moderation|approval|auth\w*|checks?|confirm\w*)[_ -]?\w{0,12}\s?[=:]\s?(?:off|false|none|disabled|skip\w*|0)\b"
        r"|\b(?:role|access[_ ]?level|privileges?|permissions?|clearance)\s?[=:]\s?(?:root|admin\w*|super\w*|all|full|unrestricted)\b|\bauto_?approve\w*\s?[=:]\s?(?:true|1|yes|on)|\b(?:do_not|skip|no|bypass)_(?:verify|check|confirm|auth)\w*"
        r"|^\W*(?:unrestricted|unfiltered|jailbroken|uncensored)(?: (?:mode|access))?(?: (?:enabled|on|activated))?\W*$|权限级别[:：](?:最高|管理)|(?:无过滤|无限制|越狱)模式",
    ),
    "exempted": Sign(
        2.5,
        "exempt|needs no|need no|standing approval|no need|is needed|considered|deemed|pre-approv|preapprov|waive|no longer need|no longer requir|no further|without asking|may be |already |consent|agreed|视同|豁免|免审|预先批准|已免除|不再需要|不需要核|不用核|不必核|已同意|批过|已解除|不必|无需|不用|默认同意|自动|一律",
        r"\bexempt(?:ed)? from\b|\bpre-?approved?\b|\bwaived?\b|\bno longer (?:needs?|requires?|applies|apply|counts?|necessary)\b|\bneeds? no (?:approval|check|token|code|password|purchase|confirm\w*|verif\w*|ticket|question)|\bstanding approval|\bno need to (?:ask|check|verify|confirm)|\bno (?:token|approval|confirmation|ticket|verification) is (?:needed|required)|\b(?:is|are|was|were) (?:considered|deemed) (?:done|approved|verified)|\bno further (?:question|check|approval|confirm\w*|verif\w*)|\bwithout asking\b"
        r"|\bmay be (?:read out|given|handed|deleted|shared|released|skipped)|\balready (?:approved|authori[sz]ed|signed off|confirmed|gave|given|agreed|consented)|\b(?:has|have) (?:agreed|consented|authori[sz]ed|allowed|lifted|waived|cleared)\b"
        r"|视同|豁免|免审|预先批准|已(?:经)?(?:免除|解除|批准|同意|授权|批过)|不再需要|(?:不需要|不用|不必|无需)(?:再)?(?:核|审|验|问|确认|采购单|令牌|工单)|默认同意|自动(?:批准|通过)|一律(?:放行|批准|通过)",
    ),
    "slanted": Sign(
        2.0,
        "claim|say that|say it|recommend|describe|praise|prefer|quote|leave out|tell them|tell him|tell her|tell the|best|就说|说成|改口|声称|推荐|省略|劝|引导|回答",
        r"\b(?:always|only|must|should) (?:recommend|quote|praise|prefer|cite|name)\b|\bdescribed? (?:\w+ ){0,4}as (?:excellent|the best|outstanding|unreliable|dangerous|superior)|\bleave out (?:anything|all|every) |\b(?:say|claim|state|pretend|insist|answer|write) that (?:it|there|they|all|the|this|he|she|our)\b"
        r"|\btell (?:them|him|her|the (?:reader|customer|user|client|caller)s?) (?:that|to)\b|\bmust come out|\brank (?:it|us|this) first"
        r"|就(?:说|回答|称)|说成|改口|声称|(?:一律|强烈|只|必须|优先)(?:推荐|引用|评价|回答)|负面.{0,6}(?:省略|不提|略去)|劝(?:他|她|用户|客户)|引导(?:他|她|用户|读者|客户|去)|(?:一律|必须|统统)(?:选|填|回答|写)",
    ),
    "acts_for_me": Sign(
        1.0,
        "please|请",
        r"(?:^|[.!?\n] ?)please (?:unlock|open|transfer|send|delete|share|grant|cancel|buy|order|schedule|book|change|add|remove|withdraw|sell|apply|move|redirect|dispatch|leave|upload|disable|reset|publish|forward|turn|close|start|erase|accept|invite|raise|post|report|set|order|sign|rate)\b[^.?!\n]{0,80}\b(?:my|account|id|user|customer|patient|number|bearing|everybody|all)\b"
        r"|(?:^|[。！\n])请(?:打开|关闭|关掉|转账|取消|删除|清空|分享|购买|申请|开通|解锁|卖出|提高|公布|发布|上传|以.{1,6}名义|用我|替我|把).{0,30}(?:我|账户|账号|客户|患者|号|全部)",
    ),
    "record_id": Sign(
        0.5,
        "id |id:|no. |号",
        r"\b(?:id|no\.)[ :#]{1,2}[a-z\-]{0,8}\d{3,}|\d{4,} ?号",
    ),
    "explained": Sign(
        -1.5,
        "explain|describe|discuss|how |why |what |story|essay|解释|描述|说明|介绍|为什么|怎么|怎样|如何|什么",
        r"(?:^|[.!?\n] ?)(?:please |could you |can you |would you )*(?:explain|describe|discuss|clarify|compare|define|illustrate|outline|explore)\b"
        r"|(?:^|[.!?\n] ?)(?:how (?:do|does|did|should|can|is|are|was|were|to)|why|what (?:is|are|does|happens|should))\b|\bwrite an? (?:\w+ ){0,3}(?:story|essay|tale|fable|scene|dialogue)\b"
        r"|请(?:你|您)?(?:帮我)?(?:用.{1,12})?(?:解释|描述|说明|介绍|谈谈|概括|比较)|(?:^|[。！\n])(?:为什么|怎么|怎样|如何)|是什么意思",
    ),
    "reported": Sign(
        -2.0,
        "scanner|quotes|says |fraud|detect|attacker|example|sample|expected|attempt|stud|test|prompt injection|research|report|for review|攻击者|例子|示例|检测|识别|测试|用例|写着|引用|发现|照做",
        r"\b(?:detects?|flags?|finds?|recogni[sz]es?|blocks?) .{0,40}(?:attempts?|injections?|attacks?|prompts?|instructions?|secrets?)|\battackers? (?:often|may|can|might|try|write|use)|\b(?:sample|expected|example|test) (?:response|output|input|case|payload|text|string)s?\b"
        r"|\b(?:attempts?|injections?) (?:for review|is reported|are reported)|\bthis (?:paper|test|study|lecture|chapter) (?:studies|checks|shows|explains|surveys)|\bthe (?:scanner|filter|test|page|mail|article|blog) (?:found|says|said|quotes|shows|reads|writes)\b|\bit was (?:a )?fraud|\bmust not (?:follow|obey)|\braised an alert|\bprompt injection\b|(?:页面|文章|邮件|扫描器)[^。]{0,12}(?:写着|引用|发现)|不得照做|攻击者(?:常|会|可能)|(?:例子|示例|用例).{0,10}(?:讲解|演示|检查)|检测.{0,10}(?:注入|攻击)",
    ),
    "self_ranked": Sign(
        3.0,
        "this |the present|优先|本条|本来源|本文件|本文档|为准",
        r"\bthis (?:source|entry|memory|document|note|one|record|file|message|page)\b[^.!?\n]{0,40}(?:priority|wins|prevails|[:=]? 1\.0|rank|trusted|over all|must not be (?:removed|deleted|changed)|above all)|\bthe present one wins|\bprefer what this|\bhighest (?:rank|priority)\b"
        r"|本(?:来源|条|条目|文件|文档|消息)[^。]{0,12}(?:优先|为准|1\.0|高于|不得删|最高)|以(?:本条|本文)为准|听本(?:文件|文)|级别最高",
    ),
    "side_effect": Sign(
        3.0,
        "http|remote|external|outside|third|environment|~/|.env|ssh|cookie|home directory|attacker|外部|第三方",
        r"\b(?:stores?|uploads?|posts?|sends?|forwards?|copies|mirrors?|exports?|appends?|passes|reads?|mails?|loads?|returns?)\b[^.;!?\n]{0,60}(?:https?://|\bremote\b|\bexternal\b|\boutside\b|third[- ]party|environment variables|~/|\.env\b|\bssh\b|\bcookies?\b|home directory|\battacker)"
        r"|(?:上传|发送|转发|同步|抄送|传|寄)[^。，]{0,16}(?:外部|第三方|https?://|ftp://|[\w.]+@)",
    ),
    "moved_money": Sign(
        2.5,
        "account|wallet|iban|acct|payee|账户|账号|钱包|收款|托管",
        r"\b(?:move|transfer|wire|pay|route|redirect|send|add|forward)\w*\b[^.!?\n]{0,50}\b(?:to|into) (?:the )?(?:\w+ ){0,2}(?:account|wallet|iban|acct\w*|escrow)\b|\b(?:extra|hidden|second|additional) payee\b"
        r"|(?:转|打|汇|付款?|划|退)(?:到|入|给|至)[^。，]{0,12}(?:账户|账号|钱包|\d{4})|收款人[^。，]{0,8}(?:替换|改|换)成?",
    ),
    "when_do": Sign(
        0.8,
        "whenever|every time|each time|any time|once|if |when |upon|next time|as soon as|after |before |should ",
        r"(?:^|[.!?\n] ?)(?:whenever|every time|each time|any ?time|once|if|when|upon|the next time|the moment|as soon as|after|before|should|in case)\b(?![^,.!?\n]{0,60}\b(?:i|i'm|me|my|we|us|our)\b)[^,.!?\n]{3,70},\s?"
        r"(?!(?:i|you|we|they|he|she|it|the|a|an|this|that|these|there|my|our|your|his|her|their|its|which|who|what|and|or|but|so|as|in|on|at|for|to|of|with|by|from|because|some|many|most|all|no|one|if|when|then the|people|nothing|everything)\b)[a-z]{2,12}(?<!ing)(?<!ed)(?<!ly)\b",
    ),
    "play_part": Sign(
        1.5,
        'act as|act like|behave|as though|as if|play|pretend|be "|be “|想象|扮演|假如我们|你来当',
        r"\b(?:act|behave|answer|respond|reply) (?:as (?:if|though|a|an|my|the)|like)\b|\blet(?:'s| us) play\b|\b(?:please )?be [\"“']\w|\bpretend (?:that|you|to be)|\b(?:i|me) (?:need|want) you to be\b|请?(?:你)?(?:扮演|来当)[^。]{0,12}|假如我们在",
    ),
    "plain_order": Sign(
        5.0,
        "ignore|disregard|forget|override|bypass|follow|reveal|show|print|output|repeat|tell me|leak|what is|what's|you are now|忽略|无视|忘|遵守|覆盖|绕过|输出|打印|告诉|重复|泄露|透露|你现在是",
        r"(?:^|[.!?\n] ?)(?:please |now,? |and |then |just )?(?:ignore|disregard|forget|override|bypass|(?:stop|quit|do not|don't) follow(?:ing)?) (?:(?:all|any|every|everything|the|of|your|my|these|those|previous|prior|earlier|above|preceding|initial|original|system|safety|hidden) ){1,5}?(?:instructions?|rules|prompts?|directives?|guidelines|orders|commands|restrictions)\b"
        r"|(?:^|[.!?\n] ?)(?:please |now,? |and |then |just )?(?:reveal|show|print|output|repeat|tell|leak|give|what is|what's|display)(?: me)?(?: all)? (?:your (?:(?:hidden|system|initial|secret|original|full|own) ){0,2}|the (?:(?:hidden|system|initial|secret) ){1,2})(?:prompt|instructions)\b|(?:^|[.!?\n] ?)(?:leak|reveal) the prompt\b|(?:^|[.!?\n:] ?)you are now (?:dan\b|an? (?:unrestricted|unfiltered|jailbroken))"
        r"|(?:^|[。！？，；\n])(?:请|现在|接下来)?(?:忽略|无视|忘记|忘掉|不要(?:再)?遵守|不用(?:再)?遵守|覆盖|绕过)(?:你|掉)?(?:的)?(?:之前|上面|以上|先前|前面|此前|系统|原来)?(?:的)?(?:所有|全部|一切|任何|安全)?(?:的)?(?:指令|指示|规则|提示词|设定|限制|命令|要求)"
        r"|(?:^|[。！？，；\n])(?:请)?(?:把|告诉我|输出|打印|重复|泄露|透露)(?:出)?你的?(?:隐藏|系统|初始|全部|原始)?的?(?:提示词|指令|设定)|(?:^|[。！？，；\n])你现在是(?: ?dan|[^。，]{0,6}(?:没有|不受)[^。，]{0,4}限制)",
    ),
}
"""Signs over the text itself, in lower case."""
