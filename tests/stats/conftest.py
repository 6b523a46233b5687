from hypothesis import settings

# Arrays make first calls slow, and a test run should not depend on chance.
settings.register_profile("portrayal-stats", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("portrayal-stats")
