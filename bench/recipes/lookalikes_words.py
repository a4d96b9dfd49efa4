"""Names, goods, words and numbers for lookalikes.py, all made up; and colours.

Enters: a `random.Random`. Leaves: strings and colours. Nothing here is taken from any text.
"""

FIRST = (
    "Alina Bruno Carla Doran Elke Fabio Greta Hanno Ilka Jonas Katja Lasse Mirela Nils Orla Pavel Quirin Rosa "
    "Silas Tilda Udo Vera Wanda Yannis Zora Amos Bela Cleo Dario Edda"
).split()
LAST = (
    "Abendrot Birkholm Castellan Dornfeld Eskelund Fanelli Grauwald Hollenstein Immerfall Jarosch Kestrel "
    "Lindqvar Morvane Nachtigal Ostermoor Pellerin Quintrell Rothacker Silberg Tannhof Ullendorp Vantorre "
    "Weidlich Zandvoort Ashdell Brackwater Corvell Dunmarsh"
).split()
STREETS = (
    "Mill Lane;Harbour Road;Old Quay;Linden Row;Station Street;Upper Field;Brickyard;Weir Path;Chapel Hill"
).split(";")
TOWNS = "Norwick Altheim Porto-Sel Varnow Lyndale Estermark Quellburg Hallmere Sundby Orvelle".split()
FIRMS = (
    "Tarn & Holt;Nordlicht Tools;Bluefern Supplies;Kestrel Works;Ambra Print;Millstone Goods;Ostra Logistics;"
    "Paperwren;Quayside Foods;Larch Systems;Vellum House;Copperline"
).split(";")
GOODS = (
    "Hex bolts M6;Paint roller;Oak shelf 80 cm;Lamp holder;Copper pipe 15;Filter bags;Desk mat;Cable drum 25 m;"
    "Steel hook;Garden hose;Paper A4 white;Ink set black;Door handle;Wood glue 500 g;Safety gloves;Drill bit set;"
    "Tile grout;Hinge 90;Wall plugs;Rope 8 mm;Battery pack;Spray nozzle;Work lamp;Tape 50 mm"
).split(";")
FOOD = (
    "Rye bread;Butter 250;Oat milk;Apples loose;Tomatoes;Olive oil;Pasta;Coffee 500 g;Yoghurt;Honey;Eggs x10;"
    "Cheese;Tea;Rice 1 kg;Carrots;Soap;Water 6x;Bananas;Salt;Juice;Onions;Flour;Lemons;Mustard"
).split(";")
COMMON = (
    "the of and to in that it was for on with as at by from this which one had but not what all were when we "
    "there can an your their said if will each about how up out them then many some so these would other into has "
    "more two like time look only new work part take place after live back little round man year came show every "
    "good give under name very through just form great think say help low line before turn cause same mean right "
    "old too any tell does set three want air well also play small end put home read hand port large spell add "
    "even land here must big high such follow act why ask men change went light kind off need house picture try "
    "again animal point mother world near build self earth father head stand own page country found answer school "
    "grow study still learn plant cover food sun four between state keep eye never last let thought city tree "
    "cross farm hard start might story saw far sea draw left late run while press close night real life few north "
    "open together next white children begin walk example ease paper group always music those both mark often "
    "letter until mile river car feet care second book carry took science eat room friend began idea fish "
    "mountain stop once base hear horse cut sure watch colour wood main enough plain girl usual young ready above "
    "ever red list though feel talk bird soon body dog family"
).split()


def words(rng):
    """Endless words, with capitals and stops where sentences begin and end."""
    fresh = True
    left = rng.randint(6, 16)
    while True:
        word = rng.choice(COMMON)
        left -= 1
        shown = word.capitalize() if fresh else word
        fresh = left <= 0
        if fresh:
            left = rng.randint(6, 16)
            yield shown + "."
        else:
            yield shown + ("," if rng.random() < 0.07 else "")


def phrase(rng, low, high=None):
    """A few words, the first with a capital."""
    return " ".join(rng.choice(COMMON) for _ in range(rng.randint(low, high or low))).capitalize()


def person(rng):
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def address(rng):
    return f"{rng.choice(STREETS)} {rng.randint(1, 98)}", f"{rng.randint(10000, 99999)} {rng.choice(TOWNS)}"


def date(rng, since=2012):
    return f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.{rng.randint(since, since + 12)}"


def digits(rng, count):
    return "".join(rng.choice("0123456789") for _ in range(count))


def colour(rng, low, high):
    return tuple(rng.randint(low, high) for _ in range(3))


def shaded(tone, factor):
    return tuple(max(0, min(255, round(c * factor))) for c in tone)
