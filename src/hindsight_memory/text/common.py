"""English words that open sentences with a capital letter and are no names for it."""

from __future__ import annotations

from typing import Final

from hindsight_memory.text.patterns import Lazy


def table(text: str) -> frozenset[str]:
    """A table of words, written as one text."""
    return frozenset(text.split())


_ENDING: Final = Lazy(
    r"(?:ing|ly|tions?|sions?|ness|ments?|ed|ity|ful|less|ous|ives?|able|ible|ances?|ences?|isms?|ists?|ize|ised?|ical|gonna)$"
)
_NAMES: Final = table(
    """
ahmed alfred ali beijing beverly billy carly chongqing clive constance emily florence fred holly italy jared
kelly kimberly lily ling ming mohamed mohammed molly nanjing olive polly sally trinity winifred zed
"""
)
"""Names that end as words do."""

_WORDS: Final = table(
    """
a able about above absolute achieve across act actionable activate adapt add additional adorable after afternoon
again age agents agile ago agree ahead aim aint air alas all allergies almost alone along already alright also
always amid among an analysis and animals annual another answer antagonist any anything anytime anyway anywhere
apart app appreciate approach are areas around arrive art articulate ask at ate aunt automate available avoid
awesome aww awww baby back backup bad bag ball band bank bar basic be beach because bed been beer began begin
believe below besides best bet between beyond big bike bio biometric bird birthday blue board boat body book
bookings boss both bought box boy brand brave breakfast breath brief bring broke brother brought bug build
bummer bus busy but by bye cache calendar calls camera camp can candle cannot capture car cards care career cash
cat catastrophic catch categories chair challenges change chase chat chatbot check cheers cheese chef cherish
chicken child children chosen church city class clay clean client clothes club coach coconut code coffee cold
collect college color come commit common commute company compare competitive compile complete components
computer concert concrete confidence config confirm conflict congrats connect consider consistent constant
contact content context continue conversations cook cookies cool copy core could count country couple course
cousin crazy create creative critical cross crypto cup curious current custom customer cute dad dairy dance dark
data database date daughter day dear decisions deep define deliver deploy describe design desk despite details
develop did digital dinner direct disengage dive do docs doctor does dog done door double down downgrade
download draft dream dress drink drive driver drop drove dynamic each earlier early earth east easy eat economic
efficiency efficient eggs either else email emergency enable end endpoint energy engine english enjoy enough
ensure error essential establish even evening events ever every everyday everyone exam excellent execute
executive exercise expect expenses experience explain explore eyes fabulous face facts failure fair faith fall
family famous fans far farm fashion fast father favorite feature feedback feel feet felt female few fewer file
film final find fine fingers fire firm first fish five flashcard flew flexible flight floor flower focus focuses
follow food football for forest form former fortunate found foundational four framework free freedom fresh
friend friendship from front fruit fuel full fun funny furthermore future game garden gather gave general
generate generators gentle get girl give given glad glass glitch glitches go goal god gonna good gosh got gotta
gradual grandma grandpa grass great green grew gross group growth guess guidance guitar guy ha habit had haha
hair half hall hand hang happy hard hate have he head health heard heart hell hello help her here hey hi high
hint history hmm hmmm hobby hold home honest hope horses host hotel hour house how however hug huge human hurry
husband ice ideas identify if ill image imagine immediate impact important impossible impressive in includes
income increase index info infrastructure initial initiate input inside install instance instead integrate
interest internal international interview into introduce investigate investor is issue it items itinerary job
journey joy just keep key keywords kid kind kitchen knew knowledge kudos language laptop large last late latency
later laughter laws lay learn leave left legs lens less lesson let letter library life lift light like
limitations line link list little live load local locate log login logo lol long look lots loud love low lucky
lunch machine macro made magic mail main maintain major make male man manager many mark marriage materials math
maximize maximum may maybe me meal meanwhile measure media medicine meetings memories memory men mental mentors
message met method micro middle milk mind mine minimal minimum minor mistake mobile model module mom moments
money monitor month mood moon more moreover morning mortgage most mother motivations mountain mouse move movie
much mum museum music must my myself nah name narrative nature near need neither network never new next nice
night no nobody non none nope nor normal north not note nothing novel now number nurse nutritional objective
obstacles ocean of off office official often oh oil ok okay older on once one online oof ooh oops open
operational opinion optimize or orange order other ought our outcome outdoor outline output outside overall
overtime owner package page pain paint paper parent park part party passive password past patch path patient pay
peace pen people perfect perform perhaps person personal pets phase phew phone photo physical piano pic pick
picture pipeline pizza place plan plant play player please plenty plus podcasts point pool poor port positive
post potential pottery power practical practice pray pre prefer prep present pretend pretty previous price pride
primary print prior prioritize private problem process product professional profound progress project prompt
proof propose protocol proud provide public pull puppy purpose push put quantifiable query questions queue quick
quiet quite race radio rain rapid rate rather raw read ready real reason receive recent recipe recommend record
red refusal regular relationship release religion remember reminds remote rent repeat replace repo report
request requires research reservations resources respect respectful response rest restaurant result retry review
reward rice rich ride right risks river road rock role room root rose round rule run sad said salad sales salt
same saw say scan scene schedule schema school science scope screen script sculpt sea season second secret see
seems seen select self sell send sense sent series serious server service set setbacks setup seven several sex
shall share sharp she shell ship shirt shoes shop short shorter shot should show shower side sign significance
significant silver similar simple since single sister sit six size skills skin sky sleek sleep slow small smart
smile snow so social soft software sold solid some someday someone something sometimes somewhat somewhere son
song soon sorry soul sound soup south space speak specific spend spent sport spot spring stabilize staff stage
stakeholder stakes stars start state static status stay step still stop storage store stories storm story
straight strange strategic strategy street stress string strong student study stuff style subject subjective
subliminal subtle success such sudden sugar suggest summer sun sunflowers sunset super support sure surf
surprise sweet swim system table tackle take talk tangible target tasks taste tea teacher team tears teen tell
ten tenant tends tennis test text than thank that the theater their thematic themes themselves then theory
therapy there these they thing think third thirty this those thoughts thousand thread three through throughout
thus tickets till time timeout tip title to today together token told tomorrow tonight tons too took tool top
topic total touch tough tournaments toward town toys track traffic trail train transport travel tree trigger
trip truck true trust truth try turn turtles twelve twenty two type uncle unconditional under understand
understood unit unless unlike until up update upgrade upon upper us use user usual utilities validate value van
various vegan veggies very video view village violin visit voice volunteer wait wake walk wall wanna want war
warm was watch water way we weather webcam website week weekend weight weird welcome well went were west what
whatever when whenever where whether which while white who whoa whole whom whose why wife wild will wind window
wine winter wish wishes with within without woman women wonder woo wood wooden woohoo words work worker workflow
workout world worries worse worst worth would wow write wrong wrote yay yea yeah year yep yes yesterday yet yoga
you young your yourself yum yup zero zone
"""
)


def is_common(word: str) -> bool:
    """Whether a word in small letters is an ordinary one: known, a plural of one, or made like one."""
    if word in _NAMES:
        return False
    bare = word.split("'", 1)[0]
    return bare in _WORDS or bare.removesuffix("s") in _WORDS or bool(len(bare) > 4 and _ENDING.pattern.search(bare))
