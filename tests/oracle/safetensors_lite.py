"""A small safetensors writer, so that the fixtures depend only on numpy.

File: header length (u64, little endian), header (JSON, padded with spaces to a multiple of 8), then the raw bytes.
Tensors come in the order in which they were given; the same input gives the same file, byte for byte.
"""

import json
import struct

import numpy as np

NAMES = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}


def save(path, tensors, metadata=None):
    """Write `tensors`, a dict from name to numpy array, to `path`; `metadata` is a dict of strings."""
    header, blobs, at = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, array in tensors.items():
        array = np.asarray(array, order="C")
        blob = array.astype(array.dtype.newbyteorder("<")).tobytes()
        header[name] = {
            "dtype": NAMES[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(blob)],
        }
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def load(path):
    """Read a file written by `save` back into a dict of numpy arrays."""
    dtypes = {short: long for long, short in NAMES.items()}
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], dtypes[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }
