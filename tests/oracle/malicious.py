"""Writes tests/data/malicious/: malicious model files, which core/io/tests/malicious.rs loads.

Each has a sentence on what it tries and a part of the message that rejects it; both go to index.txt beside the files. The first
ones do run their command where Python unpickles them: `python tests/oracle/malicious.py check` unpickles what can run
something, with the command `true`, and prints what Python did. Needs nothing but Python.
"""

import io
import pathlib
import pickle
import struct
import sys
import zipfile

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "malicious"
COMMAND = "true"
CASES = []


def case(name, tries, reason, content):
    CASES.append((name, tries, reason, content))


# ---- Pieces of pickles ----


def text(value):
    value = value.encode()
    return b"X" + struct.pack("<I", len(value)) + value


def integer(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def named(module, name):
    return f"c{module}\n{name}\n".encode()


def integers(values):
    return b"(" + b"".join(map(integer, values)) + b"t"


def storage(key="0", numel=16, storage_class=("torch", "FloatStorage"), device=None):
    return b"(" + text("storage") + named(*storage_class) + text(key) + (device or text("cpu")) + integer(numel) + b"tQ"


def tensor(from_storage=None, offset=0, sizes=(16,), strides=(1,)):
    arguments = (from_storage or storage()) + integer(offset) + integers(sizes) + integers(strides) + b"\x89}"
    return named("torch._utils", "_rebuild_tensor_v2") + b"(" + arguments + b"tR"


def state(*tensors):
    items = b"".join(text(f"w{index}") + each for index, each in enumerate(tensors))
    return b"\x80\x02}(" + items + b"u."


def archive(data_pkl, records=(("data/0", bytes(64)),), method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as target:
        for name, content in [("data.pkl", data_pkl), *records]:
            # A fixed date, so that a second run writes the same bytes.
            target.writestr(zipfile.ZipInfo(f"archive/{name}"), content, method)
    return file.getvalue()


class Calls:
    """An object whose pickle calls a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def calls(protocol, function, *arguments):
    return archive(pickle.dumps(Calls(function, *arguments), protocol))


# ---- Code ----

import os  # noqa: E402
import subprocess  # noqa: E402

case("os_system", "Runs a shell command through os.system, by the opcodes GLOBAL and REDUCE.",
     "names 'posix.system'", calls(2, os.system, COMMAND))
case("os_system_protocol4", "The same by STACK_GLOBAL of protocol 4.", "names 'posix.system'", calls(4, os.system, COMMAND))
case("os_system_protocol0", "The same in the text opcodes of protocol 0.", "names 'os.system'",
     archive(b"cos\nsystem\n(S'" + COMMAND.encode() + b"'\ntR."))
case("builtins_eval", "Evaluates an expression that imports os.", "names '__builtin__.eval'",
     calls(2, eval, "__import__('os').system('true')"))
case("subprocess", "Starts a process.", "names 'subprocess.Popen'", calls(4, subprocess.Popen, [COMMAND]))
case("getattr_chain", "Takes os.system by getattr and import_module, so that it stands in no GLOBAL.", "names 'builtins.getattr'",
     archive(b"\x80\x02cbuiltins\ngetattr\n(cimportlib\nimport_module\n" + text("os") + b"\x85R" + text("system") + b"tR" + text(COMMAND) + b"\x85R."))
case("dotted_name", "Climbs from an allowed class to its globals by a name with dots (protocol 4).",
     "names 'collections.OrderedDict.__init__.__globals__'",
     archive(b"\x80\x04\x8c\x0bcollections\x8c" + bytes([32]) + b"OrderedDict.__init__.__globals__\x93."))
case("unicode_name", "Names a module by letters that look like those of an allowed one.", "which is not supported in a file of tensors",
     archive("\x80\x04".encode("latin1") + b"\x8c\x0c" + "c\u043ellections".encode() + b"\x8c\x0bOrderedDict\x93)R."))
case("terminal_escape", "Puts an escape sequence for terminals into the name that the error repeats.", r"\u{1b}[2J",
     archive(b"\x80\x02c\x1b[2J\x1b]0;owned\x07\nsystem\n."))
case("inst", "Makes an object by INST, which names and calls at once.", "opcode 0x69", archive(b"\x80\x02(" + text(COMMAND) + b"ios\nsystem\n."))
case("obj", "Makes an object by OBJ.", "names 'os.system'", archive(b"\x80\x02(cos\nsystem\n" + text(COMMAND) + b"o."))
case("newobj_ex", "Makes an object with keyword arguments by NEWOBJ_EX.", "opcode 0x92",
     archive(b"\x80\x04" + named("collections", "OrderedDict") + b")}\x92."))
case("extension", "Calls a function by its number in the registry of copyreg.", "opcode 0x82", archive(b"\x80\x02\x82\x01)R."))
case("nested_pickle", "Has torch unpickle bytes without any limits.", "names 'torch.storage._load_from_bytes'",
     archive(b"\x80\x02ctorch.storage\n_load_from_bytes\n" + text("cos\nsystem\n.") + b"\x85R."))
case("setstate", "Sets the state of an object of a class of torch by BUILD, which calls its __setstate__.",
     "names 'torch.nn.modules.module.Module'", archive(b"\x80\x02ctorch.nn.modules.module\nModule\n)\x81}" + text("training") + b"\x88sb."))
case("state_of_a_tensor", "Sets the state of a tensor by BUILD.", "state of something that is not a dict", archive(state(tensor() + b"}b")))
case("called_text", "Calls a text.", "the pickle calls Text", archive(b"\x80\x02" + text("os.system") + text(COMMAND) + b"\x85R."))
case("storage_class", "Names a function where a persistent id has the class of its storage.", "names 'os.system'",
     archive(state(tensor(storage(storage_class=("os", "system"))))))

# ---- Memory and time ----

case("billion_laughs", "A list of ten lists of ten lists, thirty deep, by the memo.", "more values than it has bytes",
     archive(b"\x80\x02]q\0(NNNNNNNNNNe" + b"".join(b"]q" + bytes([level]) + b"(" + (b"h" + bytes([level - 1])) * 10 + b"e" for level in range(1, 30)) + b"."))
case("doubled_tuples", "A pair of the same pair, two hundred deep: 2^200 leaves.", "nested deeper than 64",
     archive(b"\x80\x02)q\0" + b"h\0h\0\x86q\0" * 200 + b"."))
case("list_in_itself", "A list that holds itself twice.", "more values than it has bytes", archive(b"\x80\x02]q\0(h\0h\0e."))
case("dict_in_itself", "A dict that holds itself.", "more values than it has bytes", archive(b"\x80\x02}q\0" + text("self") + b"h\0s."))
case("deep", "Twenty thousand lists in each other, for a reader that recurses.", "nested deeper than 64",
     archive(b"\x80\x02" + b"]" * 20000 + b"a" * 19999 + b"."))
case("marks", "Twenty thousand marks and nothing else.", "empty stack", archive(b"\x80\x02" + b"(" * 20000 + b"."))
case("long4", "An integer of 2^31 - 1 bytes.", "opcode 0x8b", archive(b"\x80\x02\x8b\xff\xff\xff\x7f."))
case("binunicode8", "A text of 2^63 bytes.", "9223372036854775808 bytes are announced",
     archive(b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63) + b"a."))
case("bytearray8", "A bytearray of 2^62 bytes.", "opcode 0x96", archive(b"\x80\x05\x96" + struct.pack("<Q", 1 << 62) + b"."))
case("long_binput", "Remembers a value under 2^32 - 1, for a memo that is an array, and asks for the one before.",
     "memo entry 4294967294 is not set", archive(b"\x80\x02Nr\xff\xff\xff\xffj\xfe\xff\xff\xff."))
case("repeated_text", "A text of 4 KiB under two thousand names.", "names far longer than itself",
     archive(b"\x80\x02]q\0" + text("x" * 4096) + b"q\x01a(" + b"h\x01" * 2000 + b"e."))

# ---- Tensors ----

case("numel_too_large", "A storage that is said to be larger than its record.", "the file has 64 bytes",
     archive(state(tensor(storage(numel=1 << 40), sizes=(1 << 40,)))))
case("numel_negative", "A storage of -1 elements.", "the file has 64 bytes", archive(state(tensor(storage(numel=-1)))))
case("offset_beyond", "A tensor that begins behind its storage.", "reach beyond the 16 elements", archive(state(tensor(offset=1000))))
case("offset_negative", "A tensor that begins before its storage.", "the offset -4", archive(state(tensor(offset=-4))))
case("sizes_negative", "Sizes of -4 and -4, whose product is positive.", "negative dimension -4",
     archive(state(tensor(sizes=(-4, -4), strides=(1, 1)))))
case("sizes_overflow", "Sizes whose product is 0 in 64 bits.", "Storage size calculation overflowed",
     archive(state(tensor(sizes=(1 << 32, 1 << 32, 16), strides=(0, 0, 1)))))
case("strides_negative", "A stride of -1, which reads backwards out of the storage.", "a stride is negative",
     archive(state(tensor(strides=(-1,)))))
case("strides_overflow", "Strides whose reach is 0 in 64 bits.", "reach beyond the 16 elements",
     archive(state(tensor(sizes=(3, 3), strides=(1 << 62, 1 << 62)))))
case("many_dimensions", "A tensor of a thousand dimensions.", "a tensor of 1000 dimensions", archive(state(tensor(sizes=(1,) * 1000, strides=(1,) * 1000))))
case("dtype_confusion", "Sixteen doubles over the bytes of sixteen floats.", "reach beyond the 8 elements",
     archive(state(named("torch._utils", "_rebuild_tensor_v3") + b"("
                   + storage(numel=64, storage_class=("torch.storage", "UntypedStorage"))
                   + integer(0) + integers((16,)) + integers((1,)) + b"\x89}" + named("torch", "float64") + b"tR")))
case("tensor_over_tensor", "A tensor where a storage belongs.", "over something that is not a storage", archive(state(tensor(tensor()))))
case("persistent_number", "A persistent id that is a number.", "a tuple is expected, not Int(1)", archive(b"\x80\x02K\x01Q."))
case("persistent_list", "A persistent id whose key is a list.", "does not describe a storage",
     archive(b"\x80\x02(" + text("storage") + named("torch", "FloatStorage") + b"]" + text("cpu") + b"K\x10tQ."))

# ---- Archives ----

sound = state(tensor())
case("path_traversal", "A storage whose key is a path out of the folder.", "the archive does not have it",
     archive(state(tensor(storage(key="../../../../../../etc/passwd")))))
case("deflated", "A megabyte of zeros in a record of a kilobyte.", "compressed, which torch.save never does",
     archive(sound, [("data/0", bytes(1 << 20))], zipfile.ZIP_DEFLATED))


def overlapping():
    """Writes a file in which every storage is the same 4 KiB."""
    count = 64
    tensors = [tensor(storage(key=str(key), numel=1024), sizes=(1024,)) for key in range(count)]
    whole = archive(state(*tensors), [("data/00", bytes(4096))])
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    second = whole.index(b"PK\x01\x02", start + 1)
    pickle_entry, entry = whole[start:second], whole[second:end]
    entries = pickle_entry + b"".join(entry.replace(b"data/00", b"data/%02d" % key if key > 9 else b"data/0%d" % key) for key in range(count))
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count + 1, count + 1, len(entries), start, 0)
    return whole[:start] + entries + tail


case("overlapping_records", "Sixty-four storages that are all the same bytes of the file.", "record 'archive/data/", overlapping())


def duplicate():
    """Writes a zip file with two records of the same name; Python's module only warns."""
    other = state(tensor(sizes=(8,)))
    renamed = archive(sound, [("data.pkm", other), ("data/0", bytes(64))])
    return renamed.replace(b"data.pkm", b"data.pkl")


case("duplicate_record", "Two pickles of one name: a scanner may look at the one and a loader take the other.", "two records of the archive have one name", duplicate())
case("lying_size", "A record that is said to have 2^32 - 16 bytes.", "record 'archive/data/0'",
     archive(sound).replace(struct.pack("<II", 64, 64), struct.pack("<II", 0xFFFFFFF0, 0xFFFFFFF0)))
case("bad_checksum", "A storage that was changed after its checksum was made.", "checksum",
     archive(sound, [("data/0", b"\7" * 64)]).replace(b"\7" * 64, b"\7" * 63 + b"\6"))
case("big_endian", "Numbers in an order that would be read as others.", "byte order 'big' is not supported",
     archive(sound, [("byteorder", b"big"), ("data/0", bytes(64))]))
case("no_pickle", "An archive without a pickle.", "no record data.pkl", archive(sound).replace(b"data.pkl", b"data.pkm"))
case("cut_archive", "The first half of an archive.", "not a .pt file", archive(sound)[: len(archive(sound)) // 2])
case("cut_pickle", "A pickle without its end.", "bytes are announced, but 0 are left", archive(sound[:-1]))

# ---- Streams of versions before PyTorch 1.6 ----

magic = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
machine = b"\x80\x02}(" + text("little_endian") + b"\x88u."


def stream(data, keys=(b"0",), storages=struct.pack("<q", 16) + bytes(64)):
    listed = b"\x80\x02](" + b"".join(text(key.decode()) for key in keys) + b"e."
    return magic + b"\x80\x02M\xe9\x03." + machine + data + listed + storages


case("stream_os_system", "os.system in a stream.", "names 'posix.system'", stream(pickle.dumps(Calls(os.system, COMMAND), 2)))
case("stream_count", "A storage of 2^62 elements.", "elements are announced, but", stream(sound, storages=struct.pack("<q", 1 << 62) + bytes(64)))
case("stream_two_dtypes", "One storage as floats and as doubles.", "declared with two dtypes",
     stream(state(tensor(), tensor(storage(numel=8, storage_class=("torch", "DoubleStorage")), sizes=(8,)))))
case("stream_part", "A part of a storage that begins before it.", "the offset -8",
     stream(state(tensor(storage()[:-2] + b"(" + text("part") + integer(-8) + integer(8) + b"ttQ", sizes=(8,)))))


def write():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    lines = ["# Written by tests/oracle/malicious.py: file, what it tries, a part of the message that rejects it.\n"]
    for name, tries, reason, content in CASES:
        (FOLDER / f"{name}.pt").write_bytes(content)
        lines.append(f"{name}.pt\t{tries}\t{reason}\n")
    (FOLDER / "index.txt").write_text("".join(lines))


def check():
    for name, tries, _, content in CASES[:18]:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                result = repr(pickle.loads(file.read("archive/data.pkl")))[:80]
        except Exception as error:  # noqa: BLE001: any outcome is recorded
            result = f"{type(error).__name__}: {error}"[:80]
        print(f"{name}: {result}")


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else write()
