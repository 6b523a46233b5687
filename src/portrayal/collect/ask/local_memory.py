"""Memory of local models: what running out looks like, and giving it back."""


def out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory ran out, on a GPU or on the machine."""
    words = str(error).casefold()
    known = "out of memory" in words or "can't allocate memory" in words
    return known or isinstance(error, MemoryError)


def free_memory() -> None:
    """Give back what no object holds any more."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
