"""Where code takes the order of a set, which differs with the hash seed of the process.

What is a set is inferred from the syntax: literals, comprehensions, `set(...)`, operators and
methods of sets and of dictionaries' keys, annotations of parameters and variables, and fields,
functions and constants of the package that are sets wherever their name is used. Not seen: a set
that an untyped function returns or takes, or that is taken as an Iterable; one in an attribute of
an untyped class; one of several values that are unpacked; a set handed to a template; what another
library iterates over; floats whose sum differs in the last bits.
"""

import ast
from collections.abc import Iterable, Iterator

SETS = ("set", "frozenset", "Set", "AbstractSet", "MutableSet")
SET_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy")
PASS_ON = (
    "enumerate",
    "zip",
    "map",
    "filter",
    "chain",
    "from_iterable",
    "iter",
    "reversed",
    "list",
    "tuple",
)
"""Calls that hand on the order of what they get."""
TAKE_ORDER = (
    *PASS_ON,
    "join",
    "fromkeys",
    "extend",
    "array",
    "asarray",
    "fromiter",
    "Counter",
    "deque",
    "islice",
    "cycle",
    "choice",
    "sample",
    "shuffle",
    "permutation",
    "str",
    "repr",
    "print",
    "dumps",
)
ORDER_FREE = (
    "set",
    "frozenset",
    "any",
    "all",
    "len",
    "sum",
    "fsum",
    "sorted",
    "min",
    "max",
    "isdisjoint",
    "update",
    "issubset",
    "issuperset",
    "union",
    "intersection",
    "difference",
    "difference_update",
    "intersection_update",
)
KEYED = ("sorted", "min", "max")
"""Order-free without a key; with one that leaves ties, these stay in the order of the set."""
RANDOM = ("rng", "random")
Functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
Kinds = dict[str, str]
"""Name → "set", "map" for a dictionary whose values are sets, or "" for anything else."""


def name_of(node: ast.expr) -> str:
    """The last part of a dotted name; "" for what is no name."""
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def annotated_kind(annotation: ast.expr | None) -> str:
    """The kind that an annotation states."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.BinOp):
        return annotated_kind(annotation.left) or annotated_kind(annotation.right)
    if isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        values = inner.elts[-1] if isinstance(inner, ast.Tuple) else inner
        if name_of(annotation.value) in SETS:
            return "set"
        maps = name_of(annotation.value) in ("dict", "defaultdict", "Mapping", "MutableMapping")
        return "map" if maps and annotated_kind(values) == "set" else ""
    return "set" if annotation is not None and name_of(annotation) in SETS else ""


class Known:
    """Functions, fields and constants of modules that are sets wherever their name is used."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        kinds: dict[str, set[str]] = {}
        self.kinds: Kinds = {}
        for tree in trees:
            for name, kind in self._declared(tree):
                kinds.setdefault(name, set()).add(kind)
        self.kinds = {name: min(several) for name, several in kinds.items() if len(several) == 1}

    def _declared(self, tree: ast.Module) -> Iterator[tuple[str, str]]:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns:
                yield node.name, annotated_kind(node.returns)
            elif isinstance(node, ast.ClassDef):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                        yield field.target.id, annotated_kind(field.annotation)
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and name_of(statement.targets[0]).isupper():
                yield name_of(statement.targets[0]), kind_of(statement.value, {}, self)


def kind_of(node: ast.expr, names: Kinds, known: Known) -> str:
    """The kind of an expression's value."""
    match node:
        case ast.Set() | ast.SetComp():
            return "set"
        case ast.Name(id=name):
            return (
                names[name]
                if name in names
                else known.kinds.get(name, "")
                if name.isupper()
                else ""
            )
        case ast.Attribute(attr=name):
            return known.kinds.get(name, "")
        case ast.NamedExpr(value=value):
            return kind_of(value, names, known)
        case ast.IfExp(body=one, orelse=other):
            return kind_of(one, names, known) or kind_of(other, names, known)
        case ast.BoolOp(values=values):
            return next(filter(None, (kind_of(value, names, known) for value in values)), "")
        case ast.BinOp(
            left=left, op=ast.BitOr() | ast.BitAnd() | ast.BitXor() | ast.Sub() as op, right=right
        ):
            sides = [left] if isinstance(op, ast.Sub) else [left, right]
            views = any(
                isinstance(s, ast.Call) and name_of(s.func) in ("keys", "items") for s in sides
            )
            return "set" if views or any(kind_of(s, names, known) == "set" for s in sides) else ""
        case (
            ast.Subscript(value=value)
            | ast.Call(func=ast.Attribute(value=value, attr="get" | "setdefault"))
        ):
            return "set" if kind_of(value, names, known) == "map" else ""
        case ast.DictComp(value=value):
            return "map" if kind_of(value, names, known) == "set" else ""
        case ast.Call(func=ast.Name(id="set" | "frozenset")):
            return "set"
        case ast.Call(func=ast.Name(id="defaultdict"), args=[ast.Name(id="set"), *_]):
            return "map"
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in SET_METHODS:
            return kind_of(value, names, known) or ("set" if name_of(value) in SETS else "")
        case ast.Call(func=function):
            return known.kinds.get(name_of(function), "")
    return ""


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without what stands in functions inside it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, Functions):
            yield from own_nodes(node)


def assigned(node: ast.AST, names: Kinds, known: Known) -> Iterator[tuple[str, str]]:
    """The names that one node assigns, with their kinds."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                for one, its_value in pairs:
                    if isinstance(one, ast.Name):
                        yield one.id, kind_of(its_value, names, known)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            yield name, annotated_kind(annotation)
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, kind_of(value, names, known)
        case (
            ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated)
        ):
            of_values = ""
            if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute):
                owner = kind_of(iterated.func.value, names, known)
                of_values = iterated.func.attr if owner == "map" else ""
            values = (
                target.elts[-1]
                if of_values == "items" and isinstance(target, ast.Tuple)
                else target
            )
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    yield (
                        name.id,
                        "set" if of_values in ("items", "values") and name is values else "",
                    )


def bound(scope: ast.AST, outer: Kinds, known: Known) -> Kinds:
    """The names of a scope: a set where any of their assignments is one."""
    names = dict(outer)
    if isinstance(scope, Functions):
        arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
        names |= {argument.arg: annotated_kind(argument.annotation) for argument in arguments}
    for _ in range(2):  # a name may be assigned from one whose assignment stands below
        kinds: Kinds = {}
        for node in own_nodes(scope):
            # The names of a comprehension are its own
            assignments = (
                () if isinstance(node, ast.comprehension) else assigned(node, names, known)
            )
            for name, kind in assignments:
                kinds[name] = max(kind, kinds.get(name, ""))
        names |= kinds
    return names


def leaves_ties(key: ast.expr) -> bool:
    """Whether two elements can have one sort key; a function of its own is trusted to tell them."""
    if isinstance(key, ast.Lambda):
        parts = key.body.elts if isinstance(key.body, ast.Tuple) else [key.body]
        return name_of(parts[-1]) not in [argument.arg for argument in key.args.args]
    return name_of(key) in ("len", "get", "count", "casefold", "lower")


class Orders(ast.NodeVisitor):
    """Collects, as (line, what), where a scope takes the order of a set."""

    def __init__(self, scope: ast.AST, outer: Kinds, known: Known) -> None:
        self.names, self.known = bound(scope, outer, known), known
        self.hits: list[tuple[int, str]] = []
        self.free = set[ast.expr]()  # expressions whose order their consumer does not take
        for child in ast.iter_child_nodes(scope):
            self.visit(child)

    def unordered(self, node: ast.expr) -> bool:
        """Whether iterating over this takes the order of a set."""
        if isinstance(node, ast.Starred):
            return self.unordered(node.value)
        if isinstance(node, ast.Call) and name_of(node.func) in PASS_ON:
            return any(map(self.unordered, node.args))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.takes_order(node)
        return kind_of(node, self.names, self.known) == "set"

    def takes_order(self, node: Comprehension) -> bool:
        """Whether a comprehension iterates over a set."""
        names, taken = self.names, False
        for generator in node.generators:
            taken = taken or self.unordered(generator.iter)
            self.names = self.names | dict(assigned(generator, self.names, self.known))
        self.names = names
        return taken

    def hit(self, node: ast.stmt | ast.expr, what: str) -> None:
        self.hits.append((node.lineno, what))

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, Functions):
            self.hits += Orders(node, self.names, self.known).hits
            return
        match node:
            case ast.For(iter=iterated):
                if self.unordered(iterated):
                    self.hit(node, "a loop over a set")
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp():
                self._comprehension(node)
                return
            case ast.Call():
                self._call(node)
            case ast.Starred(value=value) if node not in self.free and self.unordered(value):
                self.hit(node, "a set unpacked")
            case ast.FormattedValue(value=value) if self.unordered(value):
                self.hit(value, "a set in a text")
            case ast.Assign(targets=[ast.Tuple(elts=[_, _, *_])], value=value) if self.unordered(
                value
            ):
                self.hit(node, "a set unpacked")
            case ast.Set(elts=elements):
                self.free.update(elements)
        self.generic_visit(node)

    def _comprehension(self, node: Comprehension) -> None:
        parts = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
        words = {word for part in parts for word in name_of(part).split("_")}
        if self.takes_order(node):
            if not words.isdisjoint(RANDOM):
                self.hit(node, "random draws in the order of a set")
            elif not isinstance(node, ast.SetComp) and node not in self.free:
                self.hit(node, "a comprehension over a set")
        names = self.names
        for generator in node.generators:
            self.names = self.names | dict(assigned(generator, self.names, self.known))
        self.generic_visit(node)
        self.names = names

    def _call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        keyed = name in KEYED and any(
            leaves_ties(word.value) for word in node.keywords if word.arg == "key"
        )
        passes_on = name in PASS_ON and name not in ("enumerate", "zip")  # these pair what they get
        given = node.args[:1] if name == "fromkeys" else node.args
        if (name in ORDER_FREE and not keyed) or (node in self.free and passes_on):
            self.free.update(node.args)
        elif (keyed or name in TAKE_ORDER) and node not in self.free:
            if any(map(self.unordered, given)):
                self.hit(node, f"{name}() of a set" + (": ties in its order" if keyed else ""))
        elif name == "pop" and not node.args and self.unordered(getattr(node.func, "value", node)):
            self.hit(node, "any one of a set")


def order_taken(tree: ast.Module, known: Known) -> list[tuple[int, str]]:
    """Where a module takes the order of a set: (line, what)."""
    return sorted(Orders(tree, {}, known).hits)
