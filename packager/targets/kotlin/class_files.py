"""Takes out of class files what no compiler, no virtual machine and no stack trace needs: most of a class is names.

Names of files and numbers of lines stay. A debugger that stops in the package shows no local variables.
"""

import struct
from collections.abc import Set

UTF8, CLASS, STRING, NAME_AND_TYPE, METHOD_TYPE = 1, 7, 8, 12, 16
SIZES = {3: 5, 4: 5, 5: 9, 6: 9, CLASS: 3, STRING: 3, 9: 5, 10: 5, 11: 5, NAME_AND_TYPE: 5, 15: 4, METHOD_TYPE: 3}
SIZES |= {17: 5, 18: 5, 19: 3, 20: 3}
"""kind of a constant -> its bytes (JVMS 4.4)"""
WIDE = (5, 6)
"""kinds of constants that count twice"""
PUBLIC, PROTECTED, SYNTHETIC = 0x0001, 0x0004, 0x1000
FOR_DEBUGGERS = {"LocalVariableTable", "LocalVariableTypeTable", "SourceDebugExtension"}
FOR_CALLERS = {"Signature", "RuntimeInvisibleAnnotations", "RuntimeInvisibleParameterAnnotations"}
"""attributes that compilers read of what other code may use"""
MAGIC = b"\xca\xfe\xba\xbe"
ONE_TEXT = {"Signature", "SourceFile"}
ANNOTATIONS = {"RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"}
PARAMETER_ANNOTATIONS = {"RuntimeVisibleParameterAnnotations", "RuntimeInvisibleParameterAnnotations"}
WITHOUT_TEXTS = {
    *("BootstrapMethods", "ConstantValue", "Deprecated", "EnclosingMethod", "Exceptions", "LineNumberTable"),
    *("NestHost", "NestMembers", "StackMapTable", "Synthetic"),
}


def trimmed(content: bytes, *, is_internal: bool) -> bytes:
    """A class file that does the same, and declares the same for other code; other content as it is.

    Only the package uses an internal class. Raises KeyError for an attribute that Kotlin's compiler does not write.
    """
    return _Class(content, is_internal=is_internal).trimmed() if content.startswith(MAGIC) else content


class _Class:
    """Reads a class file from its begin to its end, and notes which texts of its constants are named by what stays."""

    def __init__(self, content: bytes, *, is_internal: bool) -> None:
        self.content = content
        self.is_internal = is_internal
        self.at = 8
        self.texts: dict[int, str] = {}
        self.places: dict[int, tuple[int, int]] = {}
        self.named: set[int] = set()

    def trimmed(self) -> bytes:
        self._read_constants()
        begin = self.at
        self._take(6)
        self._take(2 * self._short())
        head = self.content[begin : self.at]
        members = self._members() + self._members()
        last = self._attributes(FOR_CALLERS if self.is_internal else set())
        return b"".join([self._constants(begin), head, members, last])

    def _read_constants(self) -> None:
        count, number = self._short(), 1
        while number < count:
            kind, begin = self.content[self.at], self.at
            if kind == UTF8:
                (size,) = struct.unpack_from(">H", self.content, begin + 1)
                self.texts[number] = self.content[begin + 3 : begin + 3 + size].decode("utf-8", "replace")
                self.places[number] = (begin, begin + 3 + size)
            elif kind in (CLASS, STRING, METHOD_TYPE):
                self.named.update(struct.unpack_from(">H", self.content, begin + 1))
            elif kind == NAME_AND_TYPE:
                self.named.update(struct.unpack_from(">HH", self.content, begin + 1))
            self.at = self.places[number][1] if kind == UTF8 else begin + SIZES[kind]
            number += 2 if kind in WIDE else 1

    def _constants(self, end: int) -> bytes:
        """The file up to the constants' `end`; a text without a name is empty: others keep their numbers."""
        parts, last = [], 0
        for number, (begin, after) in self.places.items():
            if number not in self.named:
                parts += [self.content[last:begin], bytes((UTF8, 0, 0))]
                last = after
        return b"".join([*parts, self.content[last:end]])

    def _members(self) -> bytes:
        """Fields or methods."""
        count = self._short()
        parts = [struct.pack(">H", count)]
        for _ in range(count):
            access, name, descriptor = struct.unpack(">HHH", head := self._take(6))
            self.named |= {name, descriptor}
            is_called = access & (PUBLIC | PROTECTED) and not access & SYNTHETIC and not self.is_internal
            parts += [head, self._attributes(set() if is_called else FOR_CALLERS)]
        return b"".join(parts)

    def _attributes(self, left_out: Set[str]) -> bytes:
        """Attributes but for those that are left out, and those for debuggers."""
        kept = []
        for _ in range(self._short()):
            name, size = struct.unpack(">HI", self._take(6))
            kind, end = self.texts[name], self.at + size
            if kind not in FOR_DEBUGGERS | left_out:
                self.named.add(name)
                content = self._code() if kind == "Code" else self._noted(kind, end)
                kept.append(struct.pack(">HI", name, len(content)) + content)
            self.at = end
        return b"".join([struct.pack(">H", len(kept)), *kept])

    def _code(self) -> bytes:
        begin = self.at
        self._take(4)
        self._take(struct.unpack(">I", self._take(4))[0])
        self._take(8 * self._short())
        code = self.content[begin : self.at]
        return code + self._attributes(set())

    def _noted(self, kind: str, end: int) -> bytes:
        """An attribute that stays as it is, whose texts are noted."""
        begin = self.at
        if kind in ONE_TEXT:
            self.named.add(self._short())
        elif kind in ANNOTATIONS:
            self._annotations()
        elif kind in PARAMETER_ANNOTATIONS:
            for _ in range(self._take(1)[0]):
                self._annotations()
        elif kind == "AnnotationDefault":
            self._value()
        elif kind == "InnerClasses":
            for _ in range(self._short()):
                self.named.add(struct.unpack(">HHHH", self._take(8))[2])
        elif kind not in WITHOUT_TEXTS:
            raise KeyError(kind)
        return self.content[begin:end]

    def _annotations(self) -> None:
        for _ in range(self._short()):
            self._annotation()

    def _annotation(self) -> None:
        self.named.add(self._short())
        for _ in range(self._short()):
            self.named.add(self._short())
            self._value()

    def _value(self) -> None:
        """A value in an annotation."""
        kind = chr(self._take(1)[0])
        if kind == "[":
            for _ in range(self._short()):
                self._value()
        elif kind == "@":
            self._annotation()
        elif kind == "e":
            self.named.update(struct.unpack(">HH", self._take(4)))
        else:
            named = self._short()
            self.named |= {named} if kind in "sc" else set()

    def _short(self) -> int:
        number: int = struct.unpack(">H", self._take(2))[0]
        return number

    def _take(self, size: int) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]
