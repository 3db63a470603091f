"""Normalizers: steps that change texts before they are split."""

from packager.contract.tokenization.normalizing import charsmaps, edges, forms, maps, replacing
from packager.contract.tokenization.normalizing.steps import Charsmap, Each, Forms, Prepend, Replace, Step, Strip
from packager.contract.tokenization.stages import Points
from packager.graph.writer import Writer


def write(writer: Writer, text: Points, step: Step) -> Points:
    """`text` after one step."""
    match step:
        case Each(map=made):
            return maps.write(writer, text, made)
        case Forms():
            return forms.write(writer, text, step)
        case Replace():
            return replacing.write(writer, text, step)
        case Prepend(content=content):
            return edges.prepended(writer, text, content)
        case Strip():
            return edges.stripped(writer, text, step)
        case Charsmap():
            return charsmaps.write(writer, text, step)
