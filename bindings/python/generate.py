"""Writes polychron/_operators.py: a method for each operator of WebNN's IDL.

Usage: generate.py IDL FILE
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

NUMBERS = {"unsigned long", "long"}


class Type(NamedTuple):
    name: str  # of IDL
    many: bool = False  # a sequence
    one_or_many: bool = False


class Parameter(NamedTuple):
    name: str
    type: Type
    default: str | None = None


def snake(name: str) -> str:
    name = name.replace("NaN", "Nan")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("n_d", "nd")


def type_of(text: str) -> Type:
    text = re.sub(r"\[\w+\]\s*", "", text).strip()
    if text.startswith("("):
        return Type(text[1:].split(" or ")[0].strip(), one_or_many=True)
    if found := re.fullmatch(r"sequence<(.*)>", text):
        return Type(found[1].strip(), many=True)
    return Type(text)


def parameter_of(text: str) -> Parameter:
    text = re.sub(r"^(optional|required)\s+", "", " ".join(text.split()))
    text, _, default = text.partition("=")
    type_text, name = text.strip().rsplit(" ", 1)
    return Parameter(name, type_of(type_text), default.strip() or None)


def parameters_of(text: str) -> list[Parameter]:
    return [parameter_of(each) for each in re.split(r",(?![^<(]*[>)])", text)]


class Idl:
    def __init__(self, text: str) -> None:
        text = re.sub(r"//.*", "", text)
        bodies = lambda start: re.findall(start + r"[^{;]*\{(.*?)\};", text, re.S)
        self.enums = {
            name: re.findall(r'"([^"]*)"', body)
            for name, body in re.findall(r"enum (\w+) \{(.*?)\};", text, re.S)
        }
        self.options = {
            name: (parent, [parameter_of(each) for each in body.split(";") if each.strip()])
            for name, parent, body in re.findall(
                r"dictionary (\w+)\s*(?::\s*(\w+))?\s*\{(.*?)\};", text, re.S
            )
        }
        self.operators = [
            (name, result, parameters_of(parameters))
            for body in bodies(r"partial interface MLGraphBuilder ")
            for result, name, parameters in re.findall(
                r"(MLOperand|sequence<MLOperand>)\s+(\w+)\((.*?)\);", body, re.S
            )
        ]

    def annotation(self, type_: Type) -> str:
        if type_.name in NUMBERS:
            one = "int"
        elif type_.name in self.enums:
            one = "Literal[" + ", ".join(f'"{word}"' for word in self.enums[type_.name]) + "]"
        else:
            one = {"MLOperand": "MLOperand", "boolean": "bool", "double": "float", "float": "float",
                   "MLNumber": "float"}[type_.name]
        if type_.one_or_many:
            return f"{one} | Sequence[{one}]"
        return f"Sequence[{one}]" if type_.many else one

    def method(self, name: str, result: str, parameters: list[Parameter]) -> str:
        *given, last = parameters
        members = [] if last.type.name == "MLOperatorOptions" else self.options[last.type.name][1]
        signature = [f"{snake(each.name)}: {self.annotation(each.type)}" for each in given] + ["*"]
        for each in members:
            signature.append(f"{snake(each.name)}: {self.annotation(each.type)} | None = None")
        signature.append('label: str = ""')
        operands = [
            ("*" if each.type.many else "") + snake(each.name)
            for each in [*given, *members]
            if each.type.name == "MLOperand"
        ]
        attributes = [
            f'"{each.name}": {snake(each.name)}'
            for each in [*given, *members]
            if each.type.name != "MLOperand"
        ]
        defaults = [f"{snake(each.name)} {each.default}" for each in members if each.default]
        doc = f"WebNN's {name}(): https://www.w3.org/TR/webnn/#api-mlgraphbuilder-{name.lower()}"
        if defaults:
            doc += "\n\n        Defaults: " + ", ".join(defaults).replace('"', "'") + ".\n        "
        many = result.startswith("sequence")
        return (
            f"    def {snake(name)}(\n        self,\n"
            + "".join(f"        {each},\n" for each in signature)
            + f"    ) -> {'list[MLOperand]' if many else 'MLOperand'}:\n"
            + f'        """{doc}"""\n'
            + f"        return self._apply(\n            \"{name}\", [{', '.join(operands)}],"
            + f" {{{', '.join(attributes)}}}, label\n        ){'' if many else '[0]'}\n"
        )

    def module(self) -> str:
        return (
            '"""The operators of WebNN. Made by generate.py from the IDL: do not edit."""\n\n'
            "from __future__ import annotations\n\n"
            "from collections.abc import Sequence\nfrom typing import TYPE_CHECKING, Any, Literal\n\n"
            "if TYPE_CHECKING:\n    from ._webnn import MLOperand\n\n\n"
            "class Operators:\n"
            '    """A method for each operator: operands and required attributes by position,\n'
            '    the members of its options by name, in snake case."""\n\n'
            "    __slots__ = ()\n\n"
            "    def _apply(self, name: str, operands: list[MLOperand | None],\n"
            "               attributes: dict[str, Any], label: str) -> list[MLOperand]:\n"
            "        raise NotImplementedError\n\n"
            + "\n".join(self.method(*each) for each in self.operators)
        )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(Idl(Path(sys.argv[1]).read_text()).module())
