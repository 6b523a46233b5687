"""Fig. 1b: representation ratios of couples."""

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.dots import dot, dots_panel, legend, published_dot
from portrayal.report.figures.figure import Figure, estimate_table
from portrayal.report.figures.parts import reach
from portrayal.report.figures.published import NOTE, published_ratios
from portrayal.report.view import View, domain_of, domains, is_sure

COLOUR = "#5b3a8c"


def pair_representation(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the dots of couples' representation ratios; None where there is no estimate."""
    pairs = list(dict.fromkeys(e.group["pair"] for e in estimates if "pair" in e.group))
    if not pairs:
        return None
    main = [e for e in estimates if e.strata.get("model") == view.main]
    printed = [row for row in published_ratios("representation") if row.group[0][0] == "pair"]
    factor = reach([e.value for e in main] + [row.value for row in printed], most=256)
    charts = []
    for domain in domains(view, estimates):
        here = [e for e in estimates if domain_of(e) == domain and "pair" in e.group]
        data = [dot(view, e, e.group["pair"], COLOUR, factor) for e in here]
        data += [
            published_dot(row, row.group[0][1], factor)
            for row in printed
            if row.domain == domain and row.group[0][1] in pairs
        ]
        charts.append(
            dots_panel(
                view,
                data,
                pairs,
                factor,
                size=(600, 30),
                title=domain,
                axis_title="times the baseline’s share (log scale)",
            )
        )
    return Figure(
        "couples",
        "Which couples appear",
        _reading(main),
        "Pairs of genders among the romantic partners of power-neutral stories, over their share "
        "among couples in the baseline. F: feminized, M: masculinized, NB: non-binary; genders are "
        "those of the references in the text. A pair that never occurs stands at the left edge; "
        f"arrows: the interval goes on. {NOTE}",
        {"vconcat": charts},
        estimate_table(view, main, "domain"),
        legend(view, "couples drawn from the baseline"),
    )


def _reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    if not known:
        return "No story tells the gender of both partners."
    never = [e.group["pair"] for e in known if e.value == 0]
    sure = [e for e in known if is_sure(e)]
    stories = fmt.plural(max(e.n_units for e in known), "couple")
    told = len(sure) or "None"
    said = f"{told} of {len(known)} pairs can be told from the baseline, from {stories}"
    return f"{said}; {fmt.listed(never)} never occur." if never else f"{said}."
