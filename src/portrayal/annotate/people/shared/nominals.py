"""Nouns, titles and adjectives that tell of one person, and the gender that they tell, if any."""

from collections.abc import Mapping
from types import MappingProxyType

from portrayal.annotate.people.shared.mentions import PRONOUNS
from portrayal.annotate.people.shared.singular import THEY
from portrayal.annotate.people.shared.thesaurus import OCCUPATIONS
from portrayal.annotate.people.shared.words import GENDER_OF_WORD, word_set

_FEMININE = word_set(
    """
    actress alumna aunt auntie ballerina bride businesswoman chairwoman comedienne congresswoman
    councilwoman countess dame daughter duchess ex-girlfriend ex-wife female feminine fiancee
    fiancée forewoman gal gentlewoman goddess godmother granddaughter grandma granny headmistress
    heiress heroine hostess housewife lady lesbian lass ma'am madam madame maid mama mistress mom
    mommy mum mummy niece noblewoman nun policewoman priestess princess queen saleswoman schoolgirl
    spokeswoman sportswoman stepdaughter stepmother stepsister waitress widow witch stewardess
    frau fräulein mademoiselle señora señorita senora signora
    firewoman servicewoman half-sister mother-in-law sister-in-law daughter-in-law policewoman
    """
)
_MASCULINE = word_set(
    """
    alumnus anchorman businessman chairman congressman councilman craftsman cowboy dad daddy dude
    duke emperor ex-boyfriend ex-husband fiance fiancé fireman fisherman foreman gentleman godfather
    grandpa grandson groom guy half-brother headmaster hitman king lad lord male masculine monk
    nephew nobleman papa policeman prince salesman schoolboy serviceman sir son spokesman sportsman
    statesman stepbrother stepfather stepson uncle widower father-in-law brother-in-law son-in-law
    baron herr monsieur señor senor signor
    """
)
_NEITHER = word_set("non-binary nonbinary genderqueer genderfluid agender enby")

GENDER: Mapping[str, str] = MappingProxyType(
    {
        word: gender
        for word, gender in GENDER_OF_WORD.items()
        if word not in PRONOUNS and word not in THEY
    }
    | dict.fromkeys(_FEMININE, "F")
    | dict.fromkeys(_MASCULINE, "M")
    | dict.fromkeys(_NEITHER, "NB")
)
"""Noun, adjective or title → gender: Table S6a without its pronouns, and more of the same kind."""

ADJECTIVES = word_set("female male feminine masculine lesbian") | _NEITHER
"""Words of a gender that stand before a noun or after "is": "a female comedian"."""

TITLES = word_set(
    """
    ambassador archbishop attorney baron baroness bishop brother captain capt cardinal chairman
    chairwoman chancellor chef chief coach col colonel commander commissioner comrade congressman
    congresswoman corporal cpl councilman councilwoman councillor count countess dame dean deputy
    detective director doctor dr duchess duke emperor father gen general gov governor imam inspector
    judge justice king lady lieutenant lord lt madam madame maj major mayor minister miss mister mr
    mrs ms mx nurse officer pastor pope premier president prince princess principal prof professor
    queen rabbi rep representative rev reverend sec secretary sen senator sergeant sgt sheikh
    sheriff sir sister speaker sultan superintendent uncle aunt auntie vice-president prosecutor
    ayatollah monsieur mademoiselle herr frau fräulein señor señora señorita senor senora signor
    signora
    """
)
"""Titles, in lower case, that stand before the name of a person."""

BEFORE_TITLES = word_set("acting assistant associate prime vice")
"""Words that open a title of several words: "Prime Minister"."""

OPEN_TITLES = BEFORE_TITLES | word_set("attorney brigadier chief deputy lieutenant lord major")
"""These, and titles that open longer ones: "Deputy Minister"."""

SURNAME_TITLES = TITLES - word_set(
    "aunt auntie brother chef coach dame emperor father imam king lady nurse pope prince princess "
    "queen sheikh sir sister uncle"
)
"""Titles before a surname: "Senator Warren" has no first name."""

KIN = word_set(
    """
    aunt boyfriend brother cousin daughter father fiance fiancee fiancé fiancée friend girlfriend
    godfather godmother granddaughter grandfather grandmother grandson husband mom mother mum dad
    nephew niece partner roommate sibling sister son spouse stepfather stepmother twin uncle wife
    widow widower ex-husband ex-wife boss mentor colleague neighbor neighbour ex
    """
)
"""Nouns of people in relation to somebody: "his wife"."""

_WORKERS = word_set(
    """
    accountant activist actor adviser advisor analyst anchor anthropologist architect artist
    assistant astronaut astronomer athlete author banker baker barber bartender biologist blogger
    boxer broadcaster butcher candidate captain carpenter cashier champion chef chemist child
    civilian cleaner clerk columnist comedian commander commentator commissioner composer conductor
    consultant contestant cook correspondent counselor critic dancer defendant democrat dentist
    designer detective developer dictator diplomat director doctor driver economist editor educator
    engineer entertainer entrepreneur epidemiologist executive expert farmer fighter filmmaker
    firefighter footballer founder fugitive gamer geologist golfer graduate guest guitarist gunman
    hacker hairdresser historian host hunter illustrator immigrant infant inmate inspector
    instructor investigator investor janitor journalist judge keeper kid killer landlord lawmaker
    lawyer leader lecturer lobbyist manager mathematician mechanic member millionaire billionaire
    migrant minister minor model mogul motorist musician native neurologist neuroscientist novelist
    nurse nutritionist officer official orphan owner painter parent passenger pastor patient
    pediatrician performer person philanthropist philosopher photographer physician physicist pilot
    pioneer player playwright plumber poet politician president priest principal prisoner producer
    professor programmer prosecutor psychiatrist psychologist publisher quarterback rapper realtor
    refugee reporter representative republican researcher resident rider runner sailor salesperson
    scholar scientist sculptor secretary senator sergeant shooter singer skater skier socialite
    sociologist soldier songwriter specialist speaker spokesperson star statistician student surgeon
    survivor suspect swimmer talent teacher technician teen teenager terrorist therapist thinker
    toddler trader trainer translator traveler tutor undergraduate urologist veteran veterinarian
    victim villager violinist virologist visionary volunteer voter waiter witness worker wrestler
    writer youngster youth zoologist baby boss chairperson chair ceo cfo co-founder co-author
    cofounder cop dean donor drummer freshman sophomore junior senior insider legend hero icon
    individual intern mayor governor chancellor monarch mentor newcomer nominee oncologist
    cardiologist radiologist pathologist pharmacologist pharmacist paramedic receptionist server
    stranger superstar tycoon virtuoso vocalist winner advocate archaeologist ambassador chairman
    pope rabbi imam singer-songwriter sportscaster coach podcaster goalkeeper
    striker midfielder defender pitcher swimmer cyclist sprinter influencer vlogger youtuber
    streamer gardener barista translator interpreter caregiver carpenter roofer
    """
)
PERSON_NOUNS = frozenset(GENDER) - ADJECTIVES | OCCUPATIONS | _WORKERS | KIN
"""Nouns for one person."""

PLURALS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(word_set("women girls sisters daughters ladies mothers wives actresses"), "F")
    | dict.fromkeys(word_set("men boys brothers sons guys fathers husbands gentlemen"), "M")
)
"""Nouns for several people of one gender."""
