"""The door of `portrayal.planning`: complete, sorted and described."""

import inspect

from portrayal import planning as door


def test_the_door_is_complete():
    assert door.__all__ == sorted(door.__all__, key=lambda name: (name.upper() != name, name))
    for name in door.__all__:
        thing = getattr(door, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert inspect.getdoc(thing)
            assert thing.__module__.startswith("portrayal.planning.")
