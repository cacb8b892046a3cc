"""Write digits.safetensors from the copy of the UCI handwritten digits that scikit-learn ships.

Run with a Python that has numpy and scikit-learn: `python tests/data/digits/make.py`.
"""

import hashlib
import pathlib
import sys

from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "oracle"))
import safetensors_lite  # noqa: E402


def main():
    digits = load_digits()
    images = digits.data.astype("uint8")
    labels = digits.target.astype("int64")
    assert (images == digits.data).all() and images.shape == (1797, 64) and images.max() == 16
    # Labels first: eight-byte values at an address that is a multiple of eight.
    path = HERE / "digits.safetensors"
    safetensors_lite.save(
        path,
        {"labels": labels, "images": images},
        {
            "title": "Optical Recognition of Handwritten Digits, test set",
            "source": "https://archive.ics.uci.edu/dataset/80",
            "doi": "10.24432/C50P49",
            "licence": "CC BY 4.0",
            "author": "E. Alpaydin, C. Kaynak",
        },
    )
    print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)


main()
