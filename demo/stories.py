"""Writes small stories for children from the grammar in plots.txt.

The same seed gives the same stories. As a program it prints some:

    python stories.py --seed 7 --count 3
"""
import argparse
import pathlib
import random
import re

GRAMMAR = pathlib.Path(__file__).with_name("plots.txt")

GIRLS = """Lily Mia Anna Emma Sara Lucy Rosie Molly Clara Nora Ella Ruby Alice
Daisy Ivy Zoe Maya Lena Sophie Hanna Tilly Grace Amy Julia Nina Ada Eva Lola
Betty Polly Jane Kate Elsa Rita Mary Sue Anya Leila Mina Yuki""".split()
BOYS = """Tom Ben Max Sam Tim Leo Jack Finn Oscar Noah Theo Paul Peter Jonas
Oliver Felix Adam Henry Jacob Milo Luke Daniel Simon Hugo Emil Anton Otto Robin
Bob Joe Will Fred George Omar Ravi Kenji Ali Pablo Ivan Nick""".split()
ANIMALS = """Pip Hazel Bramble Dot Nibble Pepper Poppy Biscuit Clover Fern
Button Coco Mossy Olive Pebble Maple Acorn Honey Ginger Willow Berry Basil
Tippy Bruno Nutty Patch Rusty Sunny Toby Wally Ziggy Fluffy Momo Benny Luna
Rolo Teddy Muffin Dusty Misty""".split()
PAWS = """rabbit fox mouse bear hedgehog squirrel kitten puppy mole badger
raccoon otter beaver hamster cat dog bunny lion tiger wolf panda""".split()
OTHERS = "turtle frog pig lamb elephant penguin pony goat duck".split()
ADJECTIVES = """little little little little small young kind clever brave
cheerful curious gentle friendly shy happy quiet lively""".split()


def flat(text):
    return text.replace("\n", "")


CHILD_HOMES = flat("""in a small village by the sea|in a town by the river
|in a little house near the forest|on a farm|in a white house on a hill
|in a small town|in a village between two hills|in a tall house in the city
|in a little house with a red roof|at the edge of a big forest""")
ANIMAL_HOMES = flat("""in a cozy home under an old oak|at the edge of the forest
|near a blue pond|in a green valley|in the middle of the forest
|beside a little stream|in a meadow full of flowers|in a small village
|in a little house near the forest|at the foot of a hill""")
CHILD_TRAITS = flat("""loved to [read books|play outside|ask questions|draw]
|had [curly hair|a big smile|bright eyes|a kind heart]
|was [always cheerful|six years old|seven years old|very curious]
|liked [stories|animals|the color {tint}]""")
ANIMAL_TRAITS = flat("""loved to [play outside|ask questions|eat]
|loved to look at the clouds|had [soft ears|a big smile|bright eyes]
|had a kind heart|was [always cheerful|very curious|not very big]
|liked [stories|flowers|the smell of rain]""")
ELDERS = flat("""Mom;she;Mom|Dad;he;Dad|Grandma;she;Grandma|Grandpa;he;Grandpa
|{his} mother;she;Mama|{his} father;he;Papa|{his} grandmother;she;Grandma
|{his} grandfather;he;Grandpa""")
PEOPLE = flat("""an old man;the old man;he|an old woman;the old woman;she
|a farmer;the farmer;he|a tall woman;the tall woman;she
|a fisherman;the fisherman;he|a young woman;the young woman;she
|an old sailor;the old sailor;he|a teacher;the teacher;she""")
BEASTS = flat("""an old owl;the old owl;she|a big moose;the big moose;he
|a gray goose;the gray goose;she|an old crow;the old crow;he
|a tall stork;the tall stork;he|an old hen;the old hen;she""")

DAYS = flat("""one day|one day|one morning|one sunny day|one warm day
|one sunny morning|one afternoon|one fine day|one day|one Sunday""")
WHEN = {
    "night": "one night|one evening|one clear night|late one evening",
    "rain": "one rainy day|one day|one gray day|one afternoon|one wet day",
    "wind": "one windy day|one windy morning|one day|one autumn day",
    "winter": "one winter day|one cold morning|one winter morning"
              "|one cold day",
}
ONCE = flat("""once upon a time|once upon a time|once upon a time|once
|long ago|a long time ago""")

# What opens a story that tells of one day; {pred} is what the hero did.
EVENT_OPENINGS = """{once}, there was {hnew}. {trait} {day}, {h} {pred}
{once}, there was {hnew} who lived {home}. {day}, {h} {pred}
{once}, {hnew} lived {home}. {trait} {day}, {h} {pred}
there was once {hnew}. {trait} {day}, {h} {pred}
{home} lived {hnew}. {trait} {day}, {h} {pred}
{home}, there lived {hnew}. {trait} {day}, {h} {pred}
{day}, {hnew} {pred}
{day}, {hnew} {pred}
{day}, {h} {pred}
{h} was {hkindnew}. {He} lived {home}. {day}, {he} {pred}
{h} was {hkindnew}. {day}, {he} {pred}
{h} lived {home}. {trait} {day}, {h} {pred}
{h} {pred}
there was {hnew}. {trait} {day}, {h} {pred}""".split("\n")
OWNER_OPENINGS = """{h} had {has}. {proud} {day}, {he} {pred}
{h} had {has}. {day}, {he} {pred}
{once}, there was {hnew}. {He} had {has}. {proud} {day}, {he} {pred}
{hnew} had {has}. {proud} {day}, {h} {pred}
{h} was {hkindnew} who had {has}. {day}, {he} {pred}""".split("\n")
FRIENDS_OPENINGS = """{h} and {f} were [good|best] friends. {day}, {h} {pred}
{once}, there were two friends named {h} and {f}. {day}, {h} {pred}
{h} and {f} lived {home}. {day}, {h} {pred}
{once}, {h} and {f} lived {home}. They were friends. {day}, {h} {pred}
{h} and {f} liked to play together. {day}, {h} {pred}""".split("\n")
STATE_OPENINGS = """{once}, there was {hnew} who {pred}
{once}, {hnew} lived {home}. {He} {pred}
{once}, there was {hnew}. {trait} {He} {pred}
there once was {hnew} who {pred}
{home}, there lived {hnew}. {He} {pred}
{home} lived {hnew} who {pred}
{h} was {hkindnew}. {He} {pred}
{h} {pred}
{h} was {hkindnew} who {pred}
{h} lived {home}. {He} {pred}""".split("\n")
HOME_OPENINGS = """{once}, there was {hnew} who {pred}
{once}, there was {hnew}. {trait} {He} {pred}
{h} was {hkindnew}. {He} {pred}
{h} was {hkindnew} who {pred}
{h} {pred}""".split("\n")
PROUD = flat("""{He} took it everywhere.|{He} loved it very much.
|it was a gift from {e}.|it was {his} favorite thing.|""")
ENDINGS = ["The end.", "And that was a very good day.",
           "And so the story ends."]

PRONOUNS = {"he": ("he", "him", "his", "himself"),
            "she": ("she", "her", "her", "herself")}
PREFIX = {"h": "", "f": "f", "e": "e", "g": "g"}


class Plot:
    """One plot of the grammar: who can play it, its draws and its lines."""

    def __init__(self, name):
        self.name, self.who, self.flags = name, "any", ()
        self.draws, self.lines = [], []
        self.when, self.pred, self.has = "", "", ""

    def read(self, line):
        head, _, rest = line.partition(" ")
        if head == "who":
            self.who, *self.flags = rest.split()
        elif head == "$":
            names, _, values = rest.partition(" = ")
            self.draws.append((names.split(";"), values))
        elif head == "has":
            self.has = rest
        elif head.startswith("@"):
            self.when, self.pred = head[1:], rest
        else:
            self.lines.append(line)


def read_grammar(path=GRAMMAR):
    """The plots, and the rules by name."""
    plots, rules, rule = [], {}, None
    for line in path.read_text().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            plots.append(Plot(line[3:]))
        elif line.startswith("%% "):
            rule = line[3:]
        elif rule:
            rules[rule] = line
        else:
            plots[-1].read(line)
    return plots, rules


def choices(text):
    """Splits at each | that stands outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, ch in enumerate(text):
        depth += (ch == "[") - (ch == "]")
        if ch == "|" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]]]


def made_up_name(rng):
    """A name from no list, so that the model learns to copy any name."""
    name = ""
    for _ in range(rng.choice((2, 2, 2, 3))):
        name += rng.choice("b d f g k l m n p r s t v w z sh th br tr".split())
        name += rng.choice("a e i o u ee oo".split())
    return (name + rng.choice(["", "", "n", "l", "x", "k", "m"])).capitalize()


class Story:
    """One story while it is being told; slots hold what stays the same."""

    def __init__(self, plot, rules, rng):
        self.plot, self.rules, self.rng = plot, rules, rng
        self.slots = {}
        self.cast()
        for names, values in plot.draws:
            value = self.expand(rng.choice(choices(values)))
            self.slots.update(zip(names, value.split(";")))

    def pick(self, text):
        return self.rng.choice(choices(text))

    # The cast.

    def cast(self):
        rng, s = self.rng, self.slots
        sort = self.sort_of_hero()
        child = sort == "child"
        gender = rng.choice(("he", "she"))
        self.person("h", sort, gender)
        self.bring_in_hero(child)
        self.friend(child, gender)
        self.elder_and_stranger(child)
        s["tint"] = self.expand("<color>")
        s["home"] = self.pick(CHILD_HOMES if child else ANIMAL_HOMES)
        s["trait"] = self.pick(CHILD_TRAITS if child else ANIMAL_TRAITS)

    def sort_of_hero(self):
        sorts = {"any": ("child", "paws", "other"), "child": ("child",),
                 "paws": ("paws",), "limbs": ("child", "paws")}
        sorts = sorts[self.plot.who]
        weights = {"child": 50, "paws": 38, "other": 12}
        return self.rng.choices(sorts, [weights[k] for k in sorts])[0]

    def person(self, who, sort, gender):
        """Draws kind and name of the hero or the friend."""
        rng, s = self.rng, self.slots
        if sort == "child":
            kind = "girl" if gender == "she" else "boy"
            name = rng.choice(GIRLS if gender == "she" else BOYS)
        else:
            kind = rng.choice(PAWS if sort == "paws" else OTHERS)
            while kind == s.get("hkind"):
                kind = rng.choice(PAWS)
            name = rng.choice(ANIMALS)
        if rng.random() < 0.12 or name == s.get("h"):
            name = made_up_name(rng)
        self.pronouns(who, gender)
        s[who] = s[who + "call"] = name
        s[who + "kind"] = kind
        hand = "hand" if sort == "child" else "paw"
        s[PREFIX[who] + "hand"] = hand
        s[PREFIX[who] + "hands"] = hand + "s"

    def pronouns(self, who, gender):
        forms = ("he", "him", "his", "himself")
        for form, word in zip(forms, PRONOUNS[gender]):
            self.slots[PREFIX[who] + form] = word

    def bring_in_hero(self, child):
        """Some animals have no name: "the little fox" is called just so."""
        rng, s = self.rng, self.slots
        adjective, kind = rng.choice(ADJECTIVES), s["hkind"]
        s["hkindnew"] = s["hnew"] = f"a {adjective} {kind}"
        named = child or "named" in self.plot.flags
        if named or rng.random() < 0.88:
            s["hnew"] += f" {rng.choice(('named', 'called'))} {s['h']}"
        else:
            s["h"] = f"the little {kind}"
            if adjective != "little":
                s["h"] = f"the {kind}"
            s["hcall"] = f"little {kind}"

    def friend(self, child, gender):
        """Most often of the other gender: the pronouns then tell who is."""
        rng, s = self.rng, self.slots
        if child and self.plot.who != "child" and rng.random() < 0.2:
            child = False
        if rng.random() < 0.85:
            gender = "she" if gender == "he" else "he"
        self.person("f", "child" if child else "paws", gender)
        if child:
            intro = "{his} friend {f}|{his} friend {f}|a {fkind} named {f}"
        else:
            intro = ("a {fkind} named {f}|a little {fkind} named {f}"
                     "|{his} friend {f} the {fkind}|a {fkind} called {f}")
        s["fnew"] = self.expand(self.pick(intro))

    def elder_and_stranger(self, child):
        s = self.slots
        s["e"], ehe, s["ecall"] = self.expand(self.pick(ELDERS)).split(";")
        s["gnew"], s["g"], ghe = self.pick(
            PEOPLE if child else BEASTS).split(";")
        self.pronouns("e", ehe)
        self.pronouns("g", ghe)

    # Telling.

    def slot(self, match):
        """{name} is the slot's value; {Name} is that with a capital."""
        name = match.group(1)
        if name in self.slots:
            return self.slots[name]
        value = self.slots[name[0].lower() + name[1:]]
        return value[0].upper() + value[1:]

    def rule(self, match):
        return self.pick(self.rules[match.group(1)])

    def expand(self, text):
        """Replaces rules, then brackets from inside out, then slots."""
        while "<" in text:
            text = re.sub(r"<(\w+)>", self.rule, text)
        while "[" in text:
            text = re.sub(r"\[([^\[\]]*)\]",
                          lambda m: self.rng.choice(m.group(1).split("|")),
                          text)
        while "{" in text:
            text = re.sub(r"{(\w+)}", self.slot, text)
        return text

    def opening_forms(self):
        plot, rng = self.plot, self.rng
        if plot.when == "home":
            return HOME_OPENINGS
        if plot.when == "state":
            return STATE_OPENINGS
        if plot.has and rng.random() < 0.5:
            return OWNER_OPENINGS
        if "friends" in plot.flags and rng.random() < 0.2:
            self.slots["fnew"] = self.slots["f"]
            return FRIENDS_OPENINGS
        return EVENT_OPENINGS

    def opening(self):
        plot, s, rng = self.plot, self.slots, self.rng
        forms = self.opening_forms()
        form = rng.choice(forms)
        while form.startswith("{h} was") and s["h"].startswith("the "):
            form = rng.choice(forms)
        s["once"] = self.pick(ONCE)
        s["day"] = self.pick(WHEN.get(plot.when, DAYS))
        s["has"] = "a " + plot.has
        s["proud"] = "" if "pair" in plot.has else self.pick(PROUD)
        s["trait"] = rng.choice(("", "{He} " + s["trait"] + "."))
        s["pred"] = plot.pred
        text = self.expand(self.expand(form))
        return text if text[-1] in '.?!"' else text + "."

    def tell(self):
        paragraphs = [[self.opening()]]
        for line in self.plot.lines:
            if line == "--":
                paragraphs.append([])
            elif not line.startswith("?") or self.rng.random() < 0.5:
                paragraphs[-1].append(self.expand(line.lstrip("?")))
        if self.rng.random() < 0.15:
            paragraphs[-1].append(self.rng.choice(ENDINGS))
        return "\n".join(polish(" ".join(p)) for p in paragraphs)


def polish(text):
    """Articles, capitals and blanks of one paragraph."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    text = text[0].upper() + text[1:]
    # After a full stop, and after one inside of closing quotes.
    text = re.sub(r'([.!?] |\." )([a-z])',
                  lambda m: m.group(1) + m.group(2).upper(), text)
    return re.sub(r'(?:^|(?<=\s))"[a-z]', open_quotation, text)


def open_quotation(match):
    """A quotation opens with a capital, save where it goes on after a tag,
    as in: "Yes," said Tom, "but not now."
    """
    goes_on = re.search(r',"[^".!?]*, $', match.string[:match.start()])
    return match.group() if goes_on else match.group().upper()


def stories(seed):
    """An endless row of stories, none told twice."""
    plots, rules = read_grammar()
    rng = random.Random(seed)
    seen, deck = set(), []
    while True:
        if not deck:
            deck = rng.sample(plots, len(plots))
        text = Story(deck.pop(), rules, rng).tell()
        if text not in seen:
            seen.add(text)
            yield text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    args = parser.parse_args()
    for text, _ in zip(stories(args.seed), range(args.count)):
        print(text, end="\n\n")


if __name__ == "__main__":
    main()
