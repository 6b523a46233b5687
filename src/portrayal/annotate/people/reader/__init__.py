"""The reader: rules, and a small network that sees a text with its names hidden.

Rules find the candidates and what the words tell of them. Of a story of whose characters they are
unsure the network says who is the subject, who the object, and of which gender; both are joined by
weights learned on prompts left out. Of other texts it says whom "she" and "he" mean. It never sees
a name, so no gender can come from one.
"""

from portrayal.annotate.people.reader.network import Network, NetworkOutput, load_network
from portrayal.annotate.people.reader.reading import read_people

__all__ = ["Network", "NetworkOutput", "load_network", "read_people"]
