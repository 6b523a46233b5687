"""Closed classes of English words that tell a name from another capitalised word."""

from collections.abc import Mapping

FORMAL_TITLES = frozenset(
    ["dr", "doctor", "mr", "mrs", "ms", "miss", "mx", "mister", "prof", "professor", "sir", "madam", "madame", "judge", "justice", "senator", "president", "captain", "officer", "sergeant", "detective", "rev", "reverend"]
)
"""Titles that stand before a surname: "Dr. Smith" has no first name."""

INFORMAL_TITLES = frozenset(["chef", "nurse", "coach", "uncle", "aunt", "auntie", "sister", "brother", "agent"])
"""Titles that stand before a first name: "Chef Maria" is Maria."""

TITLES = FORMAL_TITLES | INFORMAL_TITLES

FUNCTION_WORDS = frozenset(
    ["a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "all", "both", "either", "neither", "no", "none", "another", "other", "others", "such", "many", "much", "more", "most", "few", "several", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "first", "second", "third", "half", "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves", "who", "whom", "whose", "which", "what", "whatever", "whoever", "someone", "anyone", "everyone", "nobody", "something", "anything", "everything", "nothing", "and", "or", "but", "nor", "so", "yet", "for", "if", "then", "than", "because", "although", "though", "while", "whereas", "unless", "until", "since", "when", "whenever", "where", "wherever", "why", "how", "as", "before", "after", "once", "whether", "in", "on", "at", "by", "to", "of", "from", "with", "without", "within", "into", "onto", "upon", "over", "under", "above", "below", "between", "among", "amid", "amidst", "amongst", "against", "about", "around", "across", "along", "behind", "beside", "besides", "beyond", "despite", "during", "except", "inside", "near", "off", "out", "outside", "past", "per", "through", "throughout", "toward", "towards", "up", "down", "via", "like", "unlike", "regardless", "am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done", "have", "has", "had", "having", "can", "could", "would", "shall", "should", "may", "might", "must", "let", "lets", "not", "never", "always", "often", "sometimes", "usually", "soon", "now", "today", "tonight", "tomorrow", "yesterday", "here", "there", "again", "also", "too", "just", "only", "even", "still", "already", "almost", "perhaps", "maybe", "instead", "together", "however", "therefore", "thus", "hence", "meanwhile", "moreover", "furthermore", "otherwise", "nevertheless", "nonetheless", "indeed", "rather", "quite", "very", "well", "later", "earlier", "finally", "eventually", "suddenly", "ever", "back", "away", "ahead", "apart", "yes", "no", "oh", "ah", "hey", "hi", "hello", "wow", "okay", "ok", "sure", "thanks", "thank", "please", "sorry", "good", "great", "congratulations", "dear", "welcome", "bravo", "come", "look", "go", "take", "try", "don", "won", "meet", "introducing", "introduce", "imagine", "armed", "faced", "filled", "fueled", "known", "born", "based", "dressed", "determined", "inspired", "blessed", "touched", "moved", "overcome", "lost", "given", "seated", "nestled", "guided", "driven", "gone", "little", "young", "old", "new", "long", "big", "small", "every", "late", "early", "next", "last", "same", "own", "certain"]
)
"""Words that are never a name where they are capitalised."""

NICKNAMES = frozenset(
    ["mom", "mama", "mommy", "dad", "daddy", "papa", "mum", "grandma", "grandpa", "granny", "gran", "mother", "father", "son", "sis", "bro", "baby", "honey", "babe", "sweetie", "sweetheart", "darling", "dude", "man", "boy", "girl", "ladies", "guys", "folks", "kids", "title", "story", "prompt", "example", "everyone", "love"]
)
"""What people are called in place of a name, and labels of a text's parts."""

SENTENCE_STARTERS = frozenset(
    ["slowly", "kindly", "sadly", "gladly", "softly", "warmly", "boldly", "gently", "swiftly", "calmly", "firmly", "quickly", "quietly", "deeply", "partly", "nearly", "likely", "lately", "rarely", "mostly", "safely", "simply", "surely", "wisely", "weekly", "wearily", "only", "early", "daily", "really", "truly", "sadly", "fully", "easily", "shyly", "babe", "note", "end", "words", "word", "time", "times", "days", "day", "weeks", "week", "months", "month", "years", "year", "hours", "hour", "minutes", "people", "life", "love", "joy", "tears", "music", "laughter", "applause", "sunlight", "music", "silence", "relief", "gratitude", "hope", "pride", "passion", "success", "victory", "news", "rumor", "rumors", "dawn", "dusk", "midnight", "morning", "evening", "night", "summer", "winter", "spring", "autumn", "fall", "work", "practice", "class", "school", "college", "things", "nothing", "friends", "friend", "siblings", "partners", "couple", "twins", "parents", "students", "student", "teachers", "teacher", "classmates", "peers", "colleagues", "patients", "patient", "doctors", "customers", "fans", "investors", "critics", "judges", "neighbors", "words", "notes", "letters", "numbers", "equations", "languages", "language", "books", "grades", "hands", "eyes", "heart", "hearts", "smiles", "smile", "sweat", "curiosity", "creativity", "knowledge", "talent", "hard", "half", "write", "using", "part", "act", "day", "number", "reminder", "update", "option", "options", "version", "will", "unchained", "undeterred", "longtime", "lifelong", "fresh", "eager"]
)
"""Words that often open a sentence; inside one and capitalised they may be names ("Joy")."""

CALENDAR = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "january", "february", "march", "july", "september", "october", "november", "december", "christmas", "thanksgiving", "easter", "halloween", "hanukkah", "valentine", "valentines", "god", "lord"]
)

NATIONALITIES = frozenset(
    ["american", "americans", "african", "asian", "british", "english", "englishman", "french", "german", "spanish", "italian", "chinese", "japanese", "korean", "russian", "latin", "latino", "latina", "hispanic", "mexican", "indian", "irish", "scottish", "european", "brazilian", "canadian", "australian", "arabic", "portuguese", "mandarin", "greek", "hebrew", "jewish", "hindi", "syrian", "iranian", "nigerian", "vietnamese", "cuban", "polish", "swedish", "dutch", "turkish", "thai", "caribbean", "shakespearean", "victorian", "olympic", "olympics", "olympian", "internet", "republican", "democrat", "catholic", "muslim", "black", "white", "caucasian", "native", "math", "mathematics", "science", "physics", "chemistry", "biology", "algebra", "calculus", "geometry", "history", "spanglish", "pythagorean", "newtonian"]
)

PLACES = frozenset(
    ["america", "usa", "us", "u", "states", "britain", "england", "france", "germany", "spain", "italy", "china", "japan", "korea", "russia", "india", "mexico", "canada", "australia", "africa", "asia", "europe", "brazil", "ireland", "scotland", "iran", "iraq", "syria", "cuba", "alabama", "alaska", "arizona", "arkansas", "california", "colorado", "connecticut", "delaware", "florida", "hawaii", "idaho", "illinois", "indiana", "iowa", "kansas", "kentucky", "louisiana", "maine", "maryland", "massachusetts", "michigan", "minnesota", "mississippi", "missouri", "montana", "nebraska", "nevada", "ohio", "oklahoma", "oregon", "pennsylvania", "tennessee", "texas", "utah", "vermont", "washington", "wisconsin", "wyoming", "jersey", "hampshire", "york", "manhattan", "brooklyn", "bronx", "harlem", "chicago", "houston", "boston", "seattle", "philadelphia", "atlanta", "miami", "denver", "detroit", "portland", "nashville", "memphis", "orleans", "angeles", "vegas", "hollywood", "broadway", "london", "rome", "tokyo", "madrid", "berlin", "nyc", "la", "sf", "dc", "uk", "tv", "pr", "hr", "er", "icu", "ceo", "ipo", "ai", "it", "vp", "cfo", "coo", "cto", "md", "midwest", "southern", "northern", "eastern", "western", "earth", "english", "wimbledon", "harvard", "stanford", "yale", "mit", "princeton", "columbia", "nasdaq", "nyse", "google", "facebook", "instagram", "twitter", "youtube", "tiktok", "apple", "amazon", "netflix", "ikea", "walmart", "target", "python", "java", "javascript", "covid", "zoom", "venmo"]
)
"""Places, organisations and products that prompts about American life bring up."""

PLACE_HEADS = frozenset(["new", "los", "san", "santa", "las", "saint", "st", "mount", "mt", "lake", "fort", "north", "south", "east", "west", "le", "la", "wall", "silicon", "united", "central", "times", "main"])
"""First words of place names: "New York", "Silicon Valley"."""

PLACE_TAILS = frozenset(
    ["city", "town", "street", "avenue", "road", "boulevard", "square", "park", "valley", "beach", "county", "state", "states", "island", "river", "mountain", "mountains", "hills", "heights", "bay", "coast", "lake", "creek", "village", "school", "high", "elementary", "middle", "academy", "college", "university", "hospital", "clinic", "center", "centre", "institute", "library", "museum", "gallery", "theater", "theatre", "stadium", "arena", "hall", "club", "cafe", "café", "restaurant", "diner", "bistro", "kitchen", "grill", "bakery", "hotel", "inn", "bar", "mall", "market", "store", "shop", "company", "corporation", "corp", "inc", "llc", "co", "firm", "group", "bank", "insurance", "agency", "industries", "enterprises", "technologies", "tech", "labs", "studio", "studios", "records", "band", "orchestra", "symphony", "league", "cup", "open", "championship", "championships", "tournament", "series", "bowl", "award", "awards", "prize", "olympics", "games", "association", "society", "foundation", "church", "temple", "court", "exchange", "team", "class", "day", "night", "morning", "afternoon", "evening", "week", "weekend", "season", "semester", "year", "music", "times", "news", "york", "angeles", "english", "literature", "studies", "medicine", "surgery", "building", "tower", "bridge", "airport", "station", "code", "dream", "offering"]
)
"""Last words of names of places, organisations and events."""

KIN = frozenset(["friend", "buddy", "pal", "roommate", "partner", "girlfriend", "boyfriend", "wife", "husband", "spouse", "fiancé", "fiancée", "fiance", "fiancee", "sibling", "brother", "sister", "twin", "cousin", "love", "lover"])
"""Nouns that stand right before the name of the person they relate."""

NOT_PEOPLE = frozenset(
    ["dog", "cat", "puppy", "pup", "kitten", "horse", "parrot", "hamster", "rabbit", "fish", "bird", "town", "city", "village", "school", "company", "startup", "restaurant", "diner", "cafe", "café", "band", "app", "ship", "street", "road"]
)
"""Nouns whose names are not the names of people: "a dog named Chip"."""

PREPOSITIONS_OF_PLACE = frozenset(["in", "at", "from", "of", "on", "through", "across", "near", "into", "around", "to"])

COPULAS = frozenset(["is", "was", "are", "were", "'s", "be", "became", "becomes", "been"])

VERBS_AFTER_NAME = COPULAS | frozenset(
    ["had", "has", "have", "felt", "saw", "knew", "took", "made", "gave", "went", "came", "stood", "sat", "found", "told", "said", "began", "kept", "held", "left", "met", "led", "ran", "won", "spoke", "sang", "wrote", "taught", "brought", "bought", "thought", "caught", "fought", "became", "grew", "threw", "drew", "chose", "rose", "broke", "drove", "ate", "heard", "lost", "paid", "put", "read", "set", "shook", "understood", "spent", "swept", "slept", "got", "forgot", "hid", "hit", "bit", "bent", "built", "burst", "clung", "dealt", "dug", "drank", "fell", "fed", "flew", "froze", "hung", "hurt", "knelt", "laid", "lay", "let", "lit", "meant", "overcame", "overheard", "overlooked", "rang", "sent", "shone", "sold", "shot", "showed", "sought", "strode", "struck", "stuck", "swam", "swore", "swung", "tore", "woke", "wore", "won", "withdrew", "wound", "undertook", "oversaw", "leapt", "leaned", "learnt", "dreamt", "broke", "could", "would", "can", "will", "must", "should", "might", "did", "does", "didn", "couldn", "wasn", "wouldn", "hadn", "doesn", "isn", "can't", "always", "never", "often", "also", "quickly", "quietly", "gently", "slowly", "finally", "eventually", "immediately", "patiently"]
)
"""Words that follow a name as the subject of a clause, beside regular verb forms."""

APPOSITION = frozenset(["a", "an", "the", "his", "her", "their", "our", "my", "its", "who", "whose", "from"])
"""Words that open a description after a name and a comma."""

RELATIVES = frozenset(["uncle", "aunt", "auntie", "sister", "brother"])
"""Titles of people who are seldom in a prompt's roles."""

CLAUSE_OPENERS = frozenset(
    [".", "!", "?", "…", ",", ";", ":", "—", "–", "\n", '"', "“", "”", "as", "when", "while", "that", "because", "but", "and", "if", "where", "how", "after", "before", "until", "since", "so", "though", "although", "what", "who", "yet", "then", "...", "?!", "!!"]
)
"""What stands before the subject of a clause."""

ENDS_OBJECT = frozenset(
    [".", "!", "?", "…", ",", ";", ":", "—", "–", "\n", '"', "“", "”", "(", ")", "and", "but", "to", "in", "on", "at", "for", "with", "from", "by", "through", "as", "when", "while", "the", "a", "an", "that", "how", "into", "up", "out", "over", "about", "of", "if", "off", "because", "so", "than", "or", "after", "before", "during", "until", "what", "why", "where", "who", "this", "some", "more", "one", "every", "each", "all", "back", "down", "again", "too", "away", "not"]
)
"""What stands after "her" as an object ("thanked her for"), not as a possessive ("her book")."""

OTHER_PEOPLE: Mapping[str, str] = {
    **dict.fromkeys(["mom", "mum", "mama", "aunt", "daughter", "niece", "lady", "heroine", "queen", "waitress"], "F"),
    **dict.fromkeys(["dad", "papa", "uncle", "son", "nephew", "gentleman", "guy", "king", "waiter"], "M"),
    **dict.fromkeys(
        ["teacher", "professor", "parent", "child", "baby", "toddler", "opponent", "rival", "stranger", "owner", "principal", "neighbor", "neighbour", "cousin", "hero", "instructor"],
        "",
    ),
}
"""Singular nouns for people outside a prompt's roles, with the gender they tell."""
