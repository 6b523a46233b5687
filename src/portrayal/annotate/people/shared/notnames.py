"""Capitalised words that are seldom the name of a person."""

from portrayal.annotate.people.shared.words import word_set

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


PEOPLES = NATIONALITIES | word_set(
    """
    afghan afghans arab arabs argentine armenian austrian belgian bolivian bosnian brexit briton
    britons bulgarian cambodian catholics chilean christian christians colombian congolese croatian
    czech danish democratic democrats dutch egyptian ethiopian european europeans filipino finnish
    georgian germans ghanaian gop haitian hindu hindus hungarian icelandic indians indonesian
    iranians iraqi iraqis israeli israelis italians jamaican jew jews jordanian kenyan kurdish kurds
    lebanese liberal libyan lithuanian malaysian mexicans moroccan muslims nazi nazis nepalese
    norwegian palestinian palestinians pakistani pakistanis peruvian poles protestant protestants
    republicans romanian russians rwandan saudi saudis scandinavian serbian shia sikh slovak somali
    soviet sunni swiss syrians taiwanese tibetan tory tories turk turkish turks ukrainian ukrainians
    venezuelan welsh yemeni conservative conservatives labour communist communists buddhist islamist
    islamic judaism christianity islam hinduism buddhism latinos hispanics asians africans blacks
    whites southerner westerner yorker yorkers texan texans californian californians londoner
    londoners marxist socialist socialists libertarian evangelical evangelicals mormon mormons covid
    ebola zika
    """
)
"""Peoples, faiths, parties and other adjectives of groups."""

LAND = PLACES | word_set(
    """
    afghanistan albania alberta aleppo algeria amsterdam angola ankara antarctica argentina armenia
    athens auckland austria azerbaijan baghdad bahamas bahrain bali baltimore bangkok bangladesh
    barcelona beijing beirut belarus belfast belgium belgrade benghazi bogota bolivia bosnia
    botswana brasilia brisbane brussels bucharest budapest bulgaria burma burundi cairo calgary
    cambodia cameroon canberra caracas chechnya chile cincinnati cleveland colombia congo copenhagen
    crimea croatia cyprus dallas damascus darfur dakota denmark doha dubai dublin ecuador edinburgh
    egypt ethiopia ferguson fiji finland flint frankfurt gaza geneva ghana gibraltar glasgow greece
    greenland guam guantanamo guatemala guyana haiti hamburg hanoi havana helsinki homs honduras
    honolulu hungary iceland idlib indiana indianapolis indonesia islamabad istanbul jakarta
    jerusalem johannesburg kabul kandahar kashmir kazakhstan kiev kyiv kosovo kuwait kyrgyzstan laos
    latvia lebanon leeds leicester lesotho libya lisbon lithuania liverpool luxembourg macedonia
    malawi malaysia mali malta manchester manila marseille mecca melbourne milwaukee minneapolis
    moldova monaco mongolia montenegro montreal morocco moscow mosul mozambique mumbai munich
    myanmar nairobi namibia nepal netherlands newark nicaragua niger nigeria norway oakland okinawa
    omaha oman orlando oslo ottawa pakistan palestine panama paraguay paris peru philadelphia
    philippines phoenix pittsburgh poland portugal prague puerto pyongyang qatar quebec queens
    queensland raqqa riyadh romania rwanda sacramento samoa sarajevo scandinavia senegal serbia
    seoul shanghai sicily siberia singapore slovakia slovenia somalia sparta srebrenica sudan sweden
    switzerland sydney taipei taiwan tajikistan tampa tanzania tehran thailand tibet tijuana toronto
    tripoli tunisia turkey turkmenistan uganda ukraine uruguay uzbekistan vancouver vatican
    venezuela vienna vietnam virginia wales warsaw winnipeg yemen yorkshire zagreb zambia zimbabwe
    zurich atlantic pacific arctic mediterranean balkans caribbean mars venus jupiter saturn pluto
    moon caucasus midlands manitoba ontario scotland tucson albuquerque sacramento stockholm tel
    aviv fe diego francisco jose antonio vegas orleans charlottesville austin charlotte bethesda
    brooklyn queens bronx
    """
) - word_set("austin charlotte jose antonio diego francisco brooklyn paris phoenix virginia jordan")
"""Places; those that are also common first names are left to the context."""

HEADS_OF_PLACES = word_set(
    """
    new north south east west northern southern eastern western central upper lower mount mt fort
    lake cape port san santa los las el st saint great republic gulf isle silicon wall capitol
    downing pennsylvania times madison ho des real atletico aston sutherland
    """
)
"""Words that open the name of a place, when another word follows."""

ORGANISATIONS = word_set(
    """
    adidas adobe aig airbnb airbus aldi alibaba amazon amnesty amtrak aol apple associated att axios
    barclays bbc bayer bet bloomberg blackberry bmw boeing breitbart budweiser burberry burger
    buzzfeed cadillac carnegie chevrolet chevron chipotle chrysler chelsea cia cisco citi citibank
    citigroup cnn coca-cola comcast conde congress costco covidien credit deutsche dell deloitte
    delta disney dreamworks duke dunkin ebay equifax espn etsy everton exxon exxonmobil facebook
    fedex ferrari fiat fifa fitbit ford forbes fox foxconn gallup gap gawker gazprom gizmodo goldman
    google greenpeace grindr gucci guardian guinness hamas harvard hbo heineken hezbollah hilton
    honda hsbc huawei huffpost huffington hulu hyundai ibm ikea instagram intel isis jeep jetblue
    jpmorgan kaiser kellogg kfc kickstarter kmart kremlin kroger lego lexus lehman linkedin lockheed
    lufthansa lyft macys marriott mattel mazda mcdonald's mcdonalds mckinsey medicaid medicare
    mercedes merrill microsoft moody's monsanto motorola mozilla myspace nasa nasdaq nato nbc nestle
    netflix nike nintendo nissan nokia northrop novartis npr nypd obamacare oculus opec oracle oxfam
    oxford panasonic parliament patriots paypal pentagon pepsi pepsico pew pfizer pinterest pixar
    playstation politico porsche princeton procter qualcomm raytheon reddit reuters roche roku
    rolls-royce ryanair safeway samsung sanofi sears senate siemens skype snapchat snap sony
    soundcloud spacex spotify sprint stanford starbucks subaru subway supreme suzuki taliban target
    tencent tesla t-mobile toyota treasury tumblr twitter uber unesco unicef unilever usps vaio
    verizon viacom visa vodafone vogue volkswagen volvo vox walgreens walmart waymo wechat wells
    westinghouse whatsapp wikileaks wikipedia wimbledon windows wordpress xbox xerox xinhua yahoo
    yale yelp youtube zara zillow zynga al-qaeda qaeda al-shabaab house cabinet commons eurozone
    brexit interpol europol mossad knesset bundestag duma politburo yankees mets lakers celtics
    warriors cowboys giants packers steelers eagles dodgers cubs astros nationals bulls knicks
    cavaliers heat spurs raiders broncos seahawks panthers falcons bears lions vikings saints chiefs
    rams chargers dolphins bills jets arsenal tottenham nba nfl mlb nhl ncaa olympics oscars oscar
    grammy grammys emmy emmys tony tonys pulitzer nobel bible quran koran torah iphone ipad ipod
    android galaxy kindle echo alexa siri cortana mac macbook instagrammer minecraft fortnite
    pokemon covid-19 bitcoin ethereum
    """
) - word_set("tony duke chelsea ford wells guardian alexa hilton oscar kaiser snap")
"""Organisations, firms, teams, media and products of one word."""

NOT_LAST = word_set(
    """
    academy act administration affairs agency agreement air airlines airport airways alliance
    amendment apartments army arena assembly associates association authority avenue award awards
    bakery ballet band bank bar base basin bay beach bill biosciences board books boulevard brewery
    bridge broadcasting brothers building bureau cabinet cafe campus capital capitol care cathedral
    center centre century chamber championship championships channel charity choir chronicle church
    cinema circuit circus city clinic club coalition coast code college command commission
    commissioner committee commons communications community company computing conference
    conservatory consortium constitution convention corporation corp council country county court
    creek crisis cup daily dairy deal defense department desert development diner district division
    drive economics economy education election electric embassy emmys empire energy engineering
    enforcement entertainment enterprises exchange express falls federation fellowship festival film
    films financial fire firm fleet force forces forest forum foundation fund gallery games garden
    gardens gazette globe government group guard guild hall harbor harbour heights herald high
    highway hill hills history hospital hotel house inc independent industries industry initiative
    institute institution insurance intelligence international investigation investments island
    islands jail journal justice kingdom laboratories laboratory labs lake law league legion library
    limited line llc lodge ltd magazine mail mall management manor market markets marathon media
    medal medicine memorial ministry mirror mission morning motor motors mountain mountains movement
    museum music nation national nations navy network news newspaper notes observer ocean office
    olympics opera orchestra orders organisation organization pacific palace park partners
    partnership party patrol peninsula pharmaceuticals pictures plan plant plaza point police policy
    polytechnic post press prison prize productions program project province public publishing radio
    railway ranch range records reef registry relations report reports republic research reserve
    resort restaurant review revolution ridge river road route rights sachs school schools science
    sciences sea secretariat securities security senate series service services shield shop society
    sound south square stadium standard star stanley state states station store stores street strip
    studies studio studios suisse summit sun supermarket surgery survey syndicate system systems
    team tech technologies technology telegraph temple territory test theater theatre times tonight
    tour tower towers town trade transit transport treatment treaty tribune trust tunnel union
    united universities university valley ventures veterans village volunteers war watch waters way
    weather week weekly wing woods works world yard zone zoo hour show today episode bureau edition
    chapter degree certificate scholarship diploma award fair day night eve month summit conference
    session observatory telescope album vocalist register pageant rockies pilots jays agent
    exemptions villa gov sen governor roundup citizens cross crescent lives matter kong lanka arabia
    africa carolina dakota hampshire jersey mexico orleans york zealand virginia island korea
    angeles vegas francisco diego antonio jose aviv rico salvador leone coast emirates states
    kingdom tobago barbuda
    airlines airways ale beer breweries burger cheese consulting electronics foods ham holdings
    logistics pizza quay robotics rovers sauce software solutions tavern terrace textiles vineyard
    vineyards wanderers wharf winery
    """
) - word_set(
    "bill hill hall bridge lodge manor day star jose diego antonio francisco stanley guild "
    "woods waters lake ranch banks park rivers page price law pacific virginia salvador "
    "brothers house church temple marsh wing fields cross west jersey way fair"
)
"""Words that end, or stand in, the name of an organisation, place, event or law."""

NOT_FIRST = word_set(
    """
    department ministry university bank church house office institute bureau court school college
    city county center centre council committee board national international global american federal
    royal supreme white united world great grand big general public central social human homeland
    foreign civil national economic environmental medical health black red blue green golden silver
    super first second third fourth fifth special air capitol democratic republican european african
    asian associated daily sunday monday free open high human inside breaking bachelor master doctor
    associate certificate advanced artificial google apple microsoft amazon facebook twitter goldman
    morgan wells general deutsche credit bank planned planet star game breaking walking saturday
    harvard stanford oxford yale princeton cambridge columbia hong sri saudi burkina sierra ivory
    costa el tel abu puerto trinidad rio buenos sao kuala phnom addis cape tierra monte santa big
    hurricane tropical storm operation project camp mr exchange privacy privacy terms cookie
    subscribe related advertisement read
    """
) - word_set("morgan wells star mr sierra")
"""Words that open the name of an organisation, place or event of several words."""

STARTERS = word_set(
    """
    according additionally afterwards alas although anyway apparently arguably born certainly
    clearly consequently critics currently dear earlier elsewhere eventually everybody everything
    experts finally fortunately fresh further generally getting going half happily hello hopefully
    hundreds importantly initially interestingly investigators ironically leaders lawmakers let's
    like looking luckily maybe meanwhile millions moreover much nearly nonetheless obviously
    officials ok organizers originally others overall part perhaps photo photograph photos police
    presently presumably previously protesters prosecutors quarter recently reporters researchers
    residents sadly scientists similarly sincerely sometimes sources speaking students subsequently
    surely surprisingly survivors teachers thousands throughout today tonight ultimately undoubtedly
    unfortunately unlike using video videos voters watch when white whites women witnesses workers
    yesterday yet today's respectfully warmly regards yours best kind congratulations thanks thank
    image images source caption credit share follow update updated advertisement editor editor's
    correction note read more click subscribe sign related growing driven known inspired fueled
    raised armed based hailing beyond outside currently throughout despite
    """
)
"""Words that open sentences or captions, capitalised there and no name."""

NOT_NAMES = PEOPLES | CALENDAR | STARTERS
"""Words that end a run of capitalised words: no part of the name of a person."""
