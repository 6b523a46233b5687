"""The door of `portrayal.plan`: complete, sorted and described."""

import inspect

from portrayal import plan as door


def test_the_door_is_complete():
    assert door.__all__ == sorted(door.__all__, key=lambda name: (name.upper() != name, name))
    for name in door.__all__:
        thing = getattr(door, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert inspect.getdoc(thing)
            assert thing.__module__.startswith("portrayal.plan.")
