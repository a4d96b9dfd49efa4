"""Stores of charts that `millrace render` wrote, read chart by chart.

A store holds no open file until it is read, and then its own in each process: what was opened before fork() stays the
parent's. Pickled it is its path. Numbers that belong to every chart are read once.
"""

import contextlib
import csv
import io
import json
import os
import re

import numpy

from millrace._errors import Error, UsageError

#: Files of a WebDataset that are open at once.
_OPEN = 64
#: NumPy's NaT.
_NO_TIME = numpy.iinfo(numpy.int64).min
_TEXTS = ("symbol", "date", "end_date")


@contextlib.contextmanager
def _said_of(path):
    """What the libraries that read stores throw, each its own, as what it means."""
    try:
        yield
    except (Error, MemoryError):
        raise
    except FileNotFoundError as error:
        raise Error("not_found", "there is no such file or folder", str(error.filename or path), "") from error
    except Exception as error:
        # Libraries also throw an OSError where it is the content that is wrong: that has no number.
        if isinstance(error, OSError) and error.errno is not None:
            raise Error("io", f"it cannot be read: {error}", path, "") from error
        raise Error("bad_data", f"it is damaged, or no store of charts: {type(error).__name__}: {error}", path, "") from error


def _library(name, package, path):
    """A module that only some stores need."""
    try:
        return __import__(name)
    except ImportError:
        raise Error("unavailable", f"reading it takes {package}, which is not installed", path, f"pip install {package}") from None


class Store:
    """What all have: `count` charts, each of `shape` and of `dtype` u8, f32 or bit as render's option says, `horizons` of
    their labels, and `about`, render's options.

    read(rows, out) fills an array `[rows, *shape]`; labels() is float32 `[count, horizons]`; index() has arrays `[count]` by
    their names.
    """

    def __init__(self, path):
        self.path = path
        self._owner, self._held, self._inherited, self._labels = None, None, [], None
        self.about = self._attributes()
        self.dtype = self.about["dtype"]
        if self.dtype not in ("u8", "f32", "bit"):
            raise Error("bad_data", f"it says that its charts are {self.dtype!r:.80}, which is none of u8, f32, bit", self.path, "")
        self.width, height = (int(side) for side in self.about["size"].split("x"))
        self.shape = (height, (self.width + 7) // 8 if self.dtype == "bit" else self.width, *((3,) if self.about["channels"] == "rgb" else ()))
        self.horizons = tuple(int(horizon) for horizon in self.about.get("labels", "").split(",") if horizon)
        if any(horizon < 1 for horizon in self.horizons):
            raise Error("bad_data", f"it says that labels are of {self.horizons} rows ahead", self.path, "")
        self.count = self._look()
        self._close()

    def __reduce__(self):
        return open_store, (self.path,)

    def __repr__(self):
        return f"<{self.count} charts in {self.path}>"

    @property
    def files(self):
        """What is open, in this process."""
        if self._owner != os.getpid():
            if self._held is not None:
                self._inherited.append(self._held)  # the parent's: not closed here
            self._held, self._owner = self._open(), os.getpid()
        return self._held

    def _close(self):
        """Looked at, not read yet: a process that forks next hands nothing on."""
        if hasattr(self._held, "close"):
            self._held.close()
        self._owner = self._held = None

    def read(self, rows, out):
        with _said_of(self.path):
            self._read(rows, out)

    def index(self):
        with _said_of(self.path):
            return _alike({name: self._whole(column) for name, column in self._read_index().items()})

    def _whole(self, column, wide=None):
        """All of an array that is one of each chart: looked at before it is read, which takes memory."""
        if tuple(column.shape) != ((self.count,) if wide is None else (self.count, wide)):
            raise Error("bad_data", f"it has {self.count} charts, and {'labels are' if wide is not None else 'its index is'} {column.dtype} {list(column.shape)}",
                        self.path, "")
        return column[:]

    def labels(self, rows=None):
        """All, or those of some charts."""
        if self._labels is None:
            with _said_of(self.path):
                read = numpy.asarray(self._whole(self._read_labels(), len(self.horizons)))
            if read.shape != (self.count, len(self.horizons)) or read.dtype.kind != "f":
                raise Error("bad_data", f"it has {self.count} charts, and labels are {read.dtype} {list(read.shape)}", self.path, "")
            self._labels = read
        return self._labels if rows is None else self._labels[rows]

    @property
    def value_type(self):
        return numpy.dtype("float32" if self.dtype == "f32" else "uint8")

    def _count_of(self, images):
        """Of an array of all charts, which is what the options say: by them memory is taken."""
        if tuple(images.shape[1:]) != self.shape or images.dtype != self.value_type:
            raise Error("bad_data", f"its charts are {images.dtype} {list(images.shape[1:])}, and by its options {self.value_type} {list(self.shape)}",
                        self.path, "")
        return images.shape[0]

    # What a kind of store is:

    def _attributes(self):
        """render's options."""
        return _about(self.path)

    def _open(self):
        return None

    def _look(self):
        """How many charts there are. Fails if they are others than the options say."""
        raise NotImplementedError

    def _read_labels(self):
        return numpy.load(os.path.join(self.path, "labels.npy"))

    def _read_index(self):
        with open(os.path.join(self.path, "index.csv"), newline="", encoding="utf-8", errors="replace") as file:
            return _columns(list(csv.DictReader(file)))

    def _read(self, rows, out):
        raise NotImplementedError


def _columns(rows):
    """The index as arrays, of a dict a chart; a table has columns of what is not known, which are empty."""
    out = {}
    for name in ("file", "row", *_TEXTS, "end_time"):
        values = ["" if row.get(name) is None else row[name] for row in rows]
        if any(value != "" for value in values):
            out[name] = numpy.array(values if name in _TEXTS else [_NO_TIME if value == "" else int(value) for value in values])
    return out


def _alike(index):
    """The types that every store's index has."""
    for name, column in index.items():
        index[name] = numpy.array(column.tolist(), dtype="str") if name in _TEXTS else column.astype("int64")
    if "end_time" in index:
        index["end_time"] = index["end_time"].view("datetime64[ns]")
    return index


class Hdf5(Store):
    def _attributes(self):
        with self._open() as file:
            return {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in file.attrs.items()}

    def _open(self):
        return _library("h5py", "h5py", self.path).File(self.path, "r")

    def _look(self):
        file = self.files
        if "images" not in file:
            raise Error("bad_data", "it has no dataset 'images'", self.path, "")
        count = self._count_of(file["images"])
        if "sequences" in file and len(file["sequences"]) != count:
            raise Error("bad_data", f"of {len(file['sequences'])} charts {count} are there: a shard is missing", self.path,
                        "the same render again draws it")
        return count

    def _read_labels(self):
        return self.files["labels"]

    def _read_index(self):
        table = self._whole(self.files["index"])
        out = {name: table[name] for name in table.dtype.names}
        for name in _TEXTS:
            if name in out:
                out[name] = numpy.char.decode(out[name], "utf-8", "replace")
        return out

    def _read(self, rows, out):
        images = self.files["images"]
        for place, row in enumerate(rows):
            images.read_direct(out, numpy.s_[row], numpy.s_[place])


class Zarr(Store):
    def _attributes(self):
        return dict(self._open().attrs)

    def _open(self):
        return _library("zarr", "zarr", self.path).open_group(self.path, mode="r")

    def _look(self):
        images = self.files["images"]
        count = self._count_of(images)
        # What is not there would be black.
        each = (images.shards or images.chunks)[0]
        for number in range(-(-count // each)):
            if not os.path.exists(os.path.join(self.path, "images", "c", str(number), *["0"] * (len(images.shape) - 1))):
                raise Error("bad_data", f"of its charts those from {number * each} on are not there", self.path, "the same render again draws them")
        return count

    def _read_labels(self):
        return self.files["labels"]

    def _read_index(self):
        return dict(self.files["index"].arrays())

    def _read(self, rows, out):
        out[...] = self.files["images"].oindex[numpy.asarray(rows)]


class Array(Store):
    """NPY and DAT: one file, mapped."""

    def _open(self):
        if self.about["store"] == "npy":
            return numpy.load(os.path.join(self.path, "images.npy"), mmap_mode="r")
        return numpy.memmap(os.path.join(self.path, "images.dat"), self.value_type, "r").reshape(-1, *self.shape)

    def _look(self):
        return self._count_of(self.files)

    def _read(self, rows, out):
        numpy.take(self.files, rows, axis=0, out=out)


class Pictures(Store):
    """PNG and JPEG, a file a chart. A bit is black or white here."""

    def _attributes(self):
        return {**super()._attributes(), "dtype": "u8"}

    def _look(self):
        self._found = {}  # of a WebDataset: places by the tar's number
        self.shard = int(self.about["shard"])
        self.ending, self.format = ("jpg", "JPEG") if self.about["store"] == "jpeg" else ("png", "PNG")
        count = self._counted()
        if count:
            self._opened(0).close()
        return count

    def _counted(self):
        return len(numpy.load(os.path.join(self.path, "sequences.npy"), mmap_mode="r"))

    def _picture(self, row):
        return os.path.join(self.path, f"{row // self.shard:05}", f"{row:08}.{self.ending}")

    def _opened(self, row):
        # No other format: of some the decoders start programs.
        picture = _library("PIL.Image", "pillow", self.path).Image.open(self._picture(row), formats=(self.format,))
        if picture.size != self.shape[1::-1]:
            picture.close()
            raise Error("bad_data", f"chart {row} is of {picture.size[0]} x {picture.size[1]} pixels, not {self.shape[1]} x {self.shape[0]}", self.path, "")
        return picture

    def _read(self, rows, out):
        for place, row in enumerate(rows):
            with self._opened(row) as picture:
                out[place] = picture.convert("RGB" if len(self.shape) == 3 else "L")


class WebDataset(Pictures):
    """Tar files; where a sample lies in one is read from its headers when a sample of it is first asked for."""

    def _open(self):
        return {}  # files by their numbers

    def _counted(self):
        names = sorted(name for name in os.listdir(self.path) if name.endswith(".tar"))
        if names != [f"{number:05}.tar" for number in range(len(names))]:
            raise Error("bad_data", f"of its {len(names)} tar files one is missing", self.path, "")
        return (len(names) - 1) * self.shard + len(self._places(len(names) - 1)) if names else 0

    def _close(self):
        for file in self.files.values():
            file.close()
        super()._close()

    def _file(self, number):
        """Open as long as somebody holds it: what is dropped here another thread may be reading."""
        files = self.files
        file = files.get(number)
        if file is None:
            file = files[number] = open(self._name(number), "rb", buffering=0)
            for oldest in list(files)[: max(len(files) - _OPEN, 0)]:
                files.pop(oldest, None)
        return file

    def _name(self, number):
        return os.path.join(self.path, f"{number:05}.tar")

    def _places(self, number):
        """int64 `[samples, 4]`: where the picture begins, its bytes, where its numbers begin, their bytes."""
        places = self._found
        if number not in places:
            found, picture, at = [], None, 0
            file = self._file(number)
            length = os.fstat(file.fileno()).st_size
            while True:
                header = os.pread(file.fileno(), 512, at)
                if len(header) < 512 or header[257:262] != b"ustar":
                    break
                digits = header[124:136].strip(b"\0 ")
                size = int(digits, 8) if re.fullmatch(b"[0-7]+", digits) else length
                name = header[:100].rstrip(b"\0")
                if at + 512 + size > length or (name.endswith(b".json") and picture is None):
                    raise Error("bad_data", "it is cut short or no tar of samples", self._name(number), "")
                if name.endswith(b".png"):
                    picture = at + 512, size
                elif name.endswith(b".json"):
                    found.append((*picture, at + 512, size))
                    picture = None
                at += 512 + -(-size // 512) * 512
            if header != bytes(512):
                raise Error("bad_data", "it is cut short or no tar of samples", self._name(number), "")
            places[number] = numpy.array(found, dtype=numpy.int64).reshape(-1, 4)
        return places[number]

    def _member(self, row, column):
        number, place = divmod(int(row), self.shard)
        at, size = self._places(number)[place, column : column + 2].tolist()
        file = self._file(number)
        data = os.pread(file.fileno(), size, at)
        if len(data) != size:
            raise Error("bad_data", "it is cut short", self._name(number), "")
        return data

    def _picture(self, row):
        return io.BytesIO(self._member(row, 0))

    def _told(self, row):
        return json.loads(self._member(row, 2))

    def labels(self, rows=None):
        # Beside the picture: of a few no tar is read through.
        if rows is None:
            return super().labels()
        with _said_of(self.path):
            return self._labels[rows] if self._labels is not None else self._labels_of(rows)

    def _labels_of(self, rows):
        told = (self._told(row)["labels"] for row in rows)
        values = [[one[str(horizon)] for horizon in self.horizons] for one in told]
        return numpy.array(values, dtype=numpy.float64).reshape(len(values), len(self.horizons)).astype(numpy.float32)

    def _read_labels(self):
        return self._labels_of(range(self.count))

    def _read_index(self):
        return _columns([self._told(row) for row in range(self.count)])


_KINDS = {"npy": Array, "dat": Array, "png": Pictures, "jpeg": Pictures, "webdataset": WebDataset}


def _about(folder):
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        return json.load(file)


def open_store(path):
    """The store of charts at `path`, of whatever kind it is."""
    path = os.path.abspath(os.fsdecode(path))
    with _said_of(path):
        if os.path.isdir(path):
            if os.path.exists(os.path.join(path, "zarr.json")):
                return Zarr(path)
            if os.path.isfile(os.path.join(path, "run.json")):
                return _KINDS[_about(path)["store"]](path)
        elif os.path.isfile(path) or not os.path.exists(path):
            with open(path, "rb") as file:
                if file.read(8) == b"\x89HDF\r\n\x1a\n":
                    return Hdf5(path)
    raise UsageError("usage", "it is no store of charts", path, "millrace render writes them")
