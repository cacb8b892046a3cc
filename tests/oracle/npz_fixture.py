"""Writes tests/data/io/arrays*.npz with NumPy, for the tests of the command-line tool (bindings/cli)."""

import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "io"
DTYPES = [
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip

if __name__ == "__main__":
    arrays = {name: np.array([0, 1, 2, 3]).astype(name) for name in DTYPES}
    arrays["fortran"] = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.savez(FOLDER / "arrays.npz", **arrays)
    np.savez_compressed(FOLDER / "arrays_compressed.npz", a=np.zeros(100))
    np.savez(FOLDER / "arrays_big_endian.npz", a=np.zeros(2, dtype=">f4"))
