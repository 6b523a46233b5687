"""Errors a user can act on: what was expected, what came, what to do next."""


class PortrayalError(Exception):
    """Base of every error that Portrayal raises on purpose."""


class DataError(PortrayalError):
    """A file, table or text is not what was expected."""


class OptionError(PortrayalError, ValueError):
    """An argument or option has a value that cannot be used."""


class MissingExtraError(PortrayalError, ImportError):
    """An optional part is needed that is not installed; the message names the extra."""


class RunError(PortrayalError):
    """A run directory cannot be used as it is: locked, foreign, or incomplete."""


class UnknownNameError(PortrayalError, LookupError):
    """A study, measure, annotator or name table of that name is not registered."""


class PluginError(PortrayalError):
    """A package that registers a component cannot be imported."""
