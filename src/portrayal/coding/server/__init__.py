"""The raters' page: one text at a time in a browser, each click on the disk before it counts.

A *rater* is whoever enters a name; an *adjudicator* decides where raters differ. The page listens
on this machine alone unless asked, behind a token in its address.
"""

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    from portrayal.errors import MissingExtraError

    raise MissingExtraError(
        'the raters\' page is not installed. Install it with: pip install "portrayal[coding]"'
    ) from error

from portrayal.coding.server.app import check_certificate, check_password, make_app, serve
from portrayal.coding.server.gate import Address, take_address

__all__ = ["Address", "check_certificate", "check_password", "make_app", "serve", "take_address"]
