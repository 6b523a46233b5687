"""Capitalised words that are seldom the name of a person."""

from portrayal.annotate.people.wordset import word_set

NICKNAMES = word_set(
    """
    babe baby boy bro dad daddy darling dude everyone example father folks girl gran grandma grandpa
    granny guys honey kids ladies love mama man mom mommy mother mum papa prompt sis son story
    sweetheart sweetie title
    """
)
"""What people are called in place of a name, and labels of a text's parts."""

SENTENCE_STARTERS = word_set(
    """
    act afterward afterwards
    applause autumn boldly books calmly class classmates colleagues college couple creativity
    critics curiosity customers daily dawn day days deeply doctors dusk eager early easily end
    equations evening eyes fall fans firmly fresh friend friends fully gently gladly grades
    gratitude half hands hard heart hearts hope hour hours investors joy judges kindly knowledge
    language languages lately laughter letters life lifelong likely longtime love midnight minutes
    month months morning mostly music nearly neighbors news night note notes nothing number numbers
    only option options parents part partly partners passion patient patients peers people practice
    pride quickly quietly rarely really relief reminder rumor rumors sadly safely school shyly
    siblings silence simply slowly smile smiles softly spring student students success summer
    sunlight surely sweat swiftly talent teacher teachers tears things time times truly twins
    unchained undeterred update using version victory warmly wearily week weekly weeks will winter
    wisely word words work write year years
    """
)
"""Words that often open a sentence; inside one and capitalised they may be names ("Joy")."""

CALENDAR = word_set(
    """
    christmas december easter february friday fridays god halloween hanukkah january july lord march
    monday mondays november october saturday saturdays september sunday sundays thanksgiving
    thursday thursdays tuesday tuesdays valentine valentines wednesday wednesdays
    """
)
"""Days, months and feasts that are seldom names."""

MONTHS = word_set("april august june may")
"""Months that are names too."""

NATIONALITIES = word_set(
    """
    african algebra american americans arabic asian australian biology black brazilian british
    calculus canadian caribbean catholic caucasian chemistry chinese cuban democrat dutch english
    englishman european french geometry german greek hebrew hindi hispanic history indian internet
    iranian irish italian japanese jewish korean latin latina latino mandarin math mathematics
    mexican muslim native newtonian nigerian olympian olympic olympics physics polish portuguese
    pythagorean republican russian science scottish shakespearean spanglish spanish swedish syrian
    thai turkish victorian vietnamese white
    """
)
"""Peoples, languages and school subjects."""

PLACES = word_set(
    """
    africa ai alabama alaska amazon america angeles apple arizona arkansas asia atlanta australia
    berlin boston brazil britain broadway bronx brooklyn california canada ceo cfo chicago china
    colorado columbia connecticut coo covid cto cuba dc delaware denver detroit earth eastern
    england english er europe facebook florida france germany google hampshire harlem harvard hawaii
    hollywood houston hr icu idaho ikea illinois india indiana instagram iowa ipo iran iraq ireland
    it italy japan java javascript jersey kansas kentucky korea la london louisiana madrid maine
    manhattan maryland massachusetts md memphis mexico miami michigan midwest minnesota mississippi
    missouri mit montana nasdaq nashville nebraska netflix nevada northern nyc nyse ohio oklahoma
    oregon orleans pennsylvania philadelphia portland pr princeton python rome russia scotland
    seattle sf southern spain stanford states syria target tennessee texas tiktok tokyo tv twitter u
    uk us usa utah vegas venmo vermont vp walmart washington western wimbledon wisconsin wyoming
    yale york youtube zoom
    """
)
"""Places, organisations, abbreviations and products common in stories of American life."""

PLACE_HEADS = word_set(
    """
    central east fort la lake las le los main mount mt new north saint san santa silicon south st
    times united wall west
    """
)
"""First words of place names: "New York", "Silicon Valley"."""

PLACE_TAILS = word_set(
    """
    academy afternoon agency airport angeles arena association avenue award awards bakery band bank
    bar bay beach bistro boulevard bowl bridge building cafe café center centre championship
    championships church city class clinic club co coast code college company corp corporation
    county court creek cup day diner dream elementary english enterprises evening exchange firm
    foundation gallery games grill group hall heights high hills hospital hotel inc industries inn
    institute insurance island kitchen labs lake league library literature llc mall market medicine
    middle morning mountain mountains museum music news night offering olympics open orchestra park
    prize records restaurant river road school season semester series shop society square stadium
    state states station store street studies studio studios surgery symphony team tech technologies
    temple theater theatre times tournament tower town university valley village week weekend year
    york
    """
)
"""Last words of names of places, organisations and events."""

NOT_PEOPLE = word_set(
    """
    app band bird cafe café cat city company diner dog fish hamster horse kitten parrot pup puppy
    rabbit restaurant road school ship startup street town village
    """
)
"""Nouns whose names are not the names of people: "a dog named Chip"."""
