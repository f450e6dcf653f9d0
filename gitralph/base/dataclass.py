"""``@dataclass`` as the standard library means it, without what importing and decorating cost there.

``dataclasses`` imports ``inspect``, ``ast`` and ``tokenize`` and compiles every method of every class while
the module loads: of the 72 ms that a commit spent on imports, 30 were decorators of classes of which it made
no object (Python 3.11). Here a class is only looked at; its ``__eq__`` and ``__hash__`` are compiled by their
first call, its ``__init__`` when many objects of it were made, and stay in the class from then on, as fast as
the library's.

Known here are ``frozen`` and ``slots``, ``field`` with ``default``, ``default_factory`` and ``init``,
``__post_init__`` and inheritance; a type checker sees the library's own. Fast lane.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
else:
    _ABSENT = object()
    # Compiling a constructor takes as long as this many objects made by the general one: 170 microseconds, 2
    # to 4 each (Python 3.11). Of 28 classes of which `status` makes objects, 25 stay below, 5 of its 42 ms.
    _MANY = 50

    class FrozenInstanceError(AttributeError):
        """Somebody tried to change an object of a frozen class."""

    class _Field:
        """One field: name, annotated type, default or how to make one, whether ``__init__`` takes it."""

        __slots__ = ("default", "factory", "init", "name", "type")

        def __init__(self, default, factory, init):
            self.name = ""
            self.type = None
            self.default = default
            self.factory = factory
            self.init = init

    def field(*, default=_ABSENT, default_factory=_ABSENT, init=True):
        """A field with a default that is made for each object, or one that ``__init__`` does not take."""
        return _Field(default, default_factory, init)

    def dataclass(cls=None, /, *, frozen=False, slots=False):
        """Give a class its constructor, comparison and representation from its annotations."""
        if cls is None:
            return lambda found: dataclass(found, frozen=frozen, slots=slots)
        every = {}
        # A subclass's field takes the place of its base's, as in the library.
        for base in reversed(cls.__mro__[1:]):
            every |= base.__dict__.get("__dataclass_fields__", {})
        for name, kind in _annotated(cls).items():
            found = cls.__dict__.get(name, _ABSENT)
            if not isinstance(found, _Field):
                found = _Field(found, _ABSENT, True)
            elif found.default is _ABSENT:
                delattr(cls, name)
            else:
                setattr(cls, name, found.default)
            found.name, found.type = name, kind
            every[name] = found
        if slots:
            cls = _with_slots(
                cls, tuple(name for name in every if not hasattr(cls, name) or name in cls.__dict__)
            )
        cls.__dataclass_fields__ = every
        cls._dataclass_frozen = frozen
        cls.__match_args__ = tuple(one.name for one in every.values() if one.init)
        own = cls.__dict__
        if "__init__" not in own:
            cls.__init__ = _general_init(cls)
        later = {"__eq__": _eq}
        if "__hash__" not in own or ("__eq__" in own and own["__hash__"] is None):
            if frozen:
                later["__hash__"] = _hash
            elif "__eq__" not in own:
                cls.__hash__ = None
        for name, source in later.items():
            if name not in own or name == "__hash__":
                setattr(cls, name, _compiled_by_first_call(cls, name, source))
        if "__repr__" not in own:
            cls.__repr__ = _repr
        if frozen:
            cls.__setattr__ = _refuse
            cls.__delattr__ = _refuse
        return cls

    def _annotated(cls):
        """What the class's own body annotates, in order."""
        try:
            return cls.__annotations__
        except NameError:  # Python 3.14 evaluates late, and meets names that only a type checker imports
            import annotationlib

            return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)

    def _with_slots(cls, names):
        """The class again, as ``__slots__`` has to be there when it is made."""
        inherited = {slot for base in cls.__mro__[1:] for slot in getattr(base, "__slots__", ())}
        body = {
            key: value
            for key, value in cls.__dict__.items()
            if key not in (*names, "__dict__", "__weakref__")
        }
        body["__slots__"] = tuple(name for name in names if name not in inherited)
        # A class cannot get slots afterwards: the library makes it a second time, too.
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        return made

    def _compile(cls, name, source):
        known = {"_absent": _ABSENT, "_set": object.__setattr__, "_fields": cls.__dataclass_fields__}
        exec(source(cls), known)  # noqa: S102  names of fields, which are identifiers of our own
        made = known[name]
        made.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, made)
        return made

    def _compiled_by_first_call(cls, name, source):
        def first(self, /, *args, **kwargs):
            return _compile(cls, name, source)(self, *args, **kwargs)

        return first

    def _general_init(cls):
        made = 0

        def general(self, /, *args, **kwargs):
            nonlocal made
            made += 1
            # What does not fit is told by the compiled one, in Python's words.
            if made > _MANY or not _fill(self, cls, args, kwargs):
                _compile(cls, "__init__", _init)(self, *args, **kwargs)
            elif hasattr(cls, "__post_init__"):
                self.__post_init__()

        return general

    def _fill(self, cls, args, kwargs):
        """Set every field; False where the arguments do not fit them."""
        given = dict(zip(cls.__match_args__, args))  # noqa: B905  a keyword costs a third of this
        count = len(args) + len(kwargs)
        given.update(kwargs)
        put = object.__setattr__ if cls._dataclass_frozen else setattr
        for name, one in cls.__dataclass_fields__.items():
            if name in given and one.init:
                put(self, name, given[name])
                count -= 1
            elif one.factory is not _ABSENT:
                put(self, name, one.factory())
            elif one.init:
                if one.default is _ABSENT:
                    return False
                put(self, name, one.default)
        return not count  # else a word too many, unknown, or given twice

    def _init(cls):
        takes, does = [], []
        for name, one in cls.__dataclass_fields__.items():
            value = name
            if one.factory is not _ABSENT:
                value = f"_fields[{name!r}].factory()"
                if one.init:
                    takes.append(f"{name}=_absent")
                    value = f"{value} if {name} is _absent else {name}"
            elif one.init:
                takes.append(name if one.default is _ABSENT else f"{name}=_fields[{name!r}].default")
            else:
                continue  # __post_init__ sets it
            does.append(
                f" _set(self, {name!r}, {value})" if cls._dataclass_frozen else f" self.{name} = {value}"
            )
        if hasattr(cls, "__post_init__"):
            does.append(" self.__post_init__()")
        return f"def __init__({', '.join(['self', *takes])}):\n" + ("\n".join(does) or " pass")

    def _values(cls, of):
        return "(" + "".join(f"{of}.{name}, " for name in cls.__dataclass_fields__) + ")"

    def _eq(cls):
        return (
            "def __eq__(self, other):\n"
            " if other.__class__ is not self.__class__: return NotImplemented\n"
            f" return {_values(cls, 'self')} == {_values(cls, 'other')}"
        )

    def _hash(cls):
        return f"def __hash__(self):\n return hash({_values(cls, 'self')})"

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"{type(self).__qualname__}({shown})"

    def _refuse(self, name, *_value):
        raise FrozenInstanceError(f"cannot change field {name!r}")

    def fields(of):
        """The fields of a class or an object; each has a ``name``."""
        return tuple(of.__dataclass_fields__.values())

    def replace(one, /, **changes):
        """A copy with other values in some fields."""
        kept = {name: getattr(one, name) for name, told in one.__dataclass_fields__.items() if told.init}
        return one.__class__(**(kept | changes))

    def asdict(one):
        """The fields as a dictionary, and so on for what they hold."""
        return {name: _plain(getattr(one, name)) for name in one.__dataclass_fields__}

    def _plain(value):
        if hasattr(type(value), "__dataclass_fields__"):
            return asdict(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(_plain, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(_plain, value))
        if isinstance(value, dict):
            return {_plain(key): _plain(inner) for key, inner in value.items()}
        return value


__all__ = ["FrozenInstanceError", "asdict", "dataclass", "field", "fields", "replace"]
