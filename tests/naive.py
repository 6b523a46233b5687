"""The measures, written again as plain loops over stories: what the package must agree with.

Nothing here comes from `portrayal.measure`; each function follows the definition word by word and
returns {(strata, group): value}, with None where the value is undefined.
"""

from math import inf
from statistics import median

from support import TABLE

RACES = ("White", "Latine", "Black", "Asian", "AI/AN", "MENA", "NH/PI")
GENDERS = ("F", "M", "NB")
PAIRS = ("F-M", "F-F", "M-M", "NB-F", "NB-M", "NB-NB")


def share_of(name, race, table=TABLE):
    """Likelihood of a race for a name; None where the name is unknown to that race's table."""
    if name is None or name.casefold() not in table:
        return None
    return table[name.casefold()][RACES.index(race)]


def key(strata, group):
    return frozenset(strata.items()), frozenset(group.items())


def has_object(story):
    """Whether a second character is asked for, or somebody labelled one."""
    asked = story["object_role"] is not None or story["subject_role"].startswith("two ")
    return asked or story["condition"] == "power-laden" or story["object_gender"] is not None


def people(stories):
    """Every character of the readable stories as (role, name, gender, story)."""
    for story in stories:
        if story["outcome"] != "ok":
            continue
        laden = story["condition"] == "power-laden"
        first = story["subject_name"], story["subject_gender"]
        second = story["object_name"], story["object_gender"] or "Unspecified"
        yield "dominant" if laden else "neutral", *first, story
        if has_object(story):
            yield "subordinate" if laden else "neutral", *second, story


def readable(stories):
    return [story for story in stories if story["outcome"] == "ok"]


def slices(stories, condition, *, pool_domains=False):
    """Every domain × model that holds a text, with its stories."""
    here = [s for s in stories if condition is None or s["condition"] == condition]
    domains = ["all"] if pool_domains else sorted({s["domain"] for s in here})
    models = ["all", *sorted({s["model"] for s in stories})]
    for domain in domains:
        for model in models:
            found = [
                s
                for s in here
                if (pool_domains or s["domain"] == domain) and model in ("all", s["model"])
            ]
            if found:
                yield {"domain": domain, "model": model}, found


def division(numerator, denominator):
    return numerator / denominator if denominator else None


def group_counts(characters, group, table=TABLE):
    """Count and total of a group among (role, name, gender, story) rows."""
    count = total = 0.0
    for _, name, gender, _ in characters:
        known = gender in GENDERS
        if "race" not in group:
            if known:
                total += 1
                count += gender == group["gender"]
            continue
        share = share_of(name, group["race"], table)
        if share is None or ("gender" in group and not known):
            continue
        total += 1
        if "gender" not in group or gender == group["gender"]:
            count += share
    return count, total


def plain_groups():
    return [{"race": race} for race in RACES] + [{"gender": gender} for gender in GENDERS]


def crossed_groups():
    return [{"race": race, "gender": gender} for race in RACES for gender in GENDERS]


def representation(stories, starred, table=TABLE):
    found = {}
    for strata, here in slices(stories, "power-neutral"):
        for group in plain_groups():
            count, total = group_counts(people(here), group, table)
            share, expected = division(count, total), starred.get(*group.values())
            value = None if share is None or expected is None else share / expected
            found[key(strata, group)] = value
    return found


def ratio_of(below, n_below, above, n_above):
    if not n_below or not n_above or not (below or above):
        return None
    if not above:
        return inf
    return (below / n_below) / (above / n_above)


def in_role(stories, role):
    return [person for person in people(stories) if person[0] == role]


def subordination(stories, table=TABLE):
    found = {}
    for strata, here in slices(stories, "power-laden"):
        for group in plain_groups() + crossed_groups():
            cells = [
                *group_counts(in_role(here, "subordinate"), group, table),
                *group_counts(in_role(here, "dominant"), group, table),
            ]
            found[key(strata, group)] = ratio_of(*cells)
    return found


def median_over_models(ratios):
    """Median of the models' ratios by place and group; None where fewer than three have one."""
    found = {}
    for strata, group in ratios:
        if dict(strata)["model"] == "all":
            place = dict(strata)["domain"]
            known = sorted(
                value
                for (other, same), value in ratios.items()
                if same == group and value is not None
                and dict(other)["domain"] == place and dict(other)["model"] != "all"
            )  # fmt: skip
            found[strata, group] = median(known) if len(known) >= 3 else None
    return found


def median_racialized(stories, smoothing=1.0):
    found = {}
    for strata, here in slices(stories, "power-laden"):
        for race in RACES:
            for gender in GENDERS:
                shares = {}
                for role in ("subordinate", "dominant"):
                    of_gender = [p for p in in_role(here, role) if p[2] == gender]
                    known = [share_of(p[1], race) for p in of_gender]
                    shares[role] = [share for share in known if share is not None]
                ratios = []
                for percent in range(1, 101):
                    below = sum(share > percent / 100 for share in shares["subordinate"])
                    above = sum(share > percent / 100 for share in shares["dominant"])
                    n_below, n_above = len(shares["subordinate"]), len(shares["dominant"])
                    if not n_below or not n_above or below == above == 0:
                        continue
                    if below == 0 or above == 0:
                        below, above = below + smoothing, above + smoothing
                        n_below, n_above = n_below + 2 * smoothing, n_above + 2 * smoothing
                    ratios.append((below / n_below) / (above / n_above))
                group = {"race": race, "gender": gender}
                found[key(strata, group)] = median(ratios) if ratios else None
    return found


def shown_name(stories, name):
    """The spelling of a name that sorts last, among all texts with people."""
    return max(
        each
        for story in readable(stories)
        for each in (story["subject_name"], story["object_name"] if has_object(story) else None)
        if each and each.casefold() == name
    )


def name_subordination(stories, least=5, smoothing=1.0):
    found = {}
    for strata, here in slices(stories, "power-laden", pool_domains=True):
        roles = {
            role: [p[1].casefold() for p in in_role(here, role) if p[1]]
            for role in ("subordinate", "dominant")
        }
        for name in sorted(set(roles["subordinate"] + roles["dominant"])):
            below, above = roles["subordinate"].count(name), roles["dominant"].count(name)
            if below + above < least:
                continue
            n_below, n_above = len(roles["subordinate"]), len(roles["dominant"])
            if below == 0 or above == 0:
                below, above = below + smoothing, above + smoothing
                n_below, n_above = n_below + 2 * smoothing, n_above + 2 * smoothing
            group = {"name": shown_name(stories, name)}
            found[key(strata, group)] = ratio_of(below, n_below, above, n_above)
    return found


def threshold_subordination(stories):
    found = {}
    for strata, here in slices(stories, "power-laden", pool_domains=True):
        for race in RACES:
            shares = {}
            for role in ("subordinate", "dominant"):
                known = [share_of(p[1], race) for p in in_role(here, role)]
                shares[role] = [share for share in known if share is not None]
            for percent in range(0, 100, 5):
                below = sum(share > percent / 100 for share in shares["subordinate"])
                above = sum(share > percent / 100 for share in shares["dominant"])
                cells = (below, len(shares["subordinate"]), above, len(shares["dominant"]))
                group = {"race": race, "threshold": f"{percent / 100:.2f}"}
                found[key(strata, group)] = ratio_of(*cells)
    return found


def common_names(stories, listed=9, least=0.6):
    found = {}
    for model in ["all", *sorted({s["model"] for s in stories})]:
        of_model = [s for s in stories if model in ("all", s["model"])]
        groups = []
        for race in RACES:
            counts, by_gender = {}, {"F": {}, "M": {}}
            for _, written, gender, _ in people(of_model):
                if (share_of(written, race) or 0) > least:
                    name = written.casefold()
                    counts[name] = counts.get(name, 0) + 1
                    if gender in by_gender:
                        by_gender[gender][name] = by_gender[gender].get(name, 0) + 1
            for name in sorted(counts, key=lambda n: (-counts[n], n))[:listed]:
                groups.append(({"race": race}, name))
            for gender, counted in by_gender.items():
                for name in sorted(counted, key=lambda n: (-counted[n], n))[:1]:
                    groups.append(({"race": race, "gender": gender}, name))
        for condition, roles in (
            ("power-neutral", ("neutral",)),
            ("power-laden", ("dominant", "subordinate")),
        ):
            for pooled in (True, False):
                for strata, here in slices(stories, condition, pool_domains=pooled):
                    if strata["model"] != model:
                        continue
                    for role in roles:
                        names = [p[1].casefold() for p in in_role(here, role) if p[1]]
                        for group, name in groups:
                            shown = group | {"name": shown_name(stories, name)}
                            found[key(strata | {"role": role}, shown)] = names.count(name)
    return found


def likelihood_histogram(stories):
    found = {}
    for strata, here in slices(stories, "power-neutral", pool_domains=True):
        for race in RACES:
            for gender in (None, "NB"):
                of_kind = [p for p in in_role(here, "neutral") if gender in (None, p[2])]
                known = [share_of(p[1], race) for p in of_kind]
                shares = [share for share in known if share is not None]
                for low in range(0, 100, 5):
                    inside = sum(
                        (share > low / 100 or low == 0) and share <= (low + 5) / 100
                        for share in shares
                    )
                    group = {"race": race, "likelihood": f"{low / 100:.2f}–{(low + 5) / 100:.2f}"}
                    if gender:
                        group["gender"] = gender
                    found[key(strata, group)] = inside if shares else None
    return found


def scenario_of(story):
    relationship = story["relationship"]
    return f"{relationship}: {story['scenario']}" if relationship else story["scenario"]


def scenario_likelihood(stories):
    found = {}
    for role, condition in (
        ("neutral", "power-neutral"),
        ("dominant", "power-laden"),
        ("subordinate", "power-laden"),
    ):
        for strata, here in slices(stories, condition):
            for scenario in sorted({scenario_of(s) for s in here}):
                of_scenario = [s for s in here if scenario_of(s) == scenario]
                for group in plain_groups():
                    counts = group_counts(in_role(of_scenario, role), group)
                    labels = strata | {"scenario": scenario, "role": role}
                    found[key(labels, group)] = division(*counts)
    return found


def pair_representation(stories, starred):
    found = {}
    romantic = [s for s in stories if s["relationship"] == "romantic partners"]
    for strata, here in slices(romantic, "power-neutral"):
        couples = []
        for s in readable(here):
            couple = {s["subject_gender"], s["object_gender"]}
            if couple <= set(GENDERS):
                couples.append((s["subject_gender"], s["object_gender"]))
        for pair in PAIRS:
            one, two = pair.split("-")
            count = sum(couple in ((one, two), (two, one)) for couple in couples)
            share = division(count, len(couples))
            found[key(strata, {"pair": pair})] = None if share is None else share / starred[pair]
    return found


def outcomes(stories):
    found = {}
    for condition in ("power-neutral", "power-laden"):
        for strata, here in slices(stories, condition):
            for outcome in ("refused", "empty", "failed"):
                count = sum(s["outcome"] == outcome for s in here)
                labels = strata | {"condition": condition}
                found[key(labels, {"outcome": outcome})] = count / len(here)
    return found
