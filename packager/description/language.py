"""Facts about a language that decide whether a change of a package's API breaks apps."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language as mobpack's packages use it."""

    name: str
    has_sizes: bool = False
    """methods have a parameter for each open size, and give an output of open size with its shape"""
    may_omit_labels: bool = False
    """a call may leave names of parameters out: a new parameter in front of others takes their place"""
    has_shapes_in_types: bool = False
    names_own_providers: bool = False
    """a package has names for its own providers only; in other languages it names all"""
    has_own_self_tests: bool = False
    """a class without expected outputs has no self-test"""
    adds_nothing_for: tuple[str, ...] = ()
    """features of a package that leave its API as it is"""
    observes: tuple[str, ...] = ()
    """features with which a class of an app that implements `ModelObserver` must have one more method"""
    has_pipelines: bool = False
    """packages have a class for each pipeline"""
