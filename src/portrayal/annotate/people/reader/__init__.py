"""The learned reader: a small network that sees a story with its names hidden.

Rules find the candidates and what the words tell of them; the network says who of them is the
subject, who the object, and of which gender; both are joined by weights learned on prompts left
out. It needs the extra `portrayal[reader]` and never sees a name, so no gender can come from one.
"""

from portrayal.annotate.people.reader.network import Network, NetworkOutput, load_network
from portrayal.annotate.people.reader.rows import read_stories, reader_settings

__all__ = ["Network", "NetworkOutput", "load_network", "read_stories", "reader_settings"]
