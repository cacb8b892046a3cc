"""Puts golden files into tests/data/golden, one archive for each family of operators: `python golden_pack.py DIR`.

DIR holds what golden.py (NAME.safetensors) or golden_overloads.py (NAME.overloads.safetensors) wrote. Each file replaces the file of
its name in FAMILY.tar.zst, or is added; archives whose files stay the same are not written. `core/schema/ops` says which family an
operator belongs to. Needs Python 3.11 and the program `zstd`, not PyTorch. `--list` prints families, files and cases instead.
"""

import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden"


def families():
    """Returns the family of each operator name. If families share a name (`max`, `max.other`), the one without overload wins."""
    shared, exact = {}, {}
    for path in sorted((ROOT / "core" / "schema" / "ops").glob("*.toml")):
        declared = tomllib.loads(path.read_text())
        for operator in declared["op"]:
            full = re.match(r"[\w.:]+", operator["func"])[0].rpartition("::")[2]
            shared.setdefault(full.split(".")[0], declared["family"])
            exact[full] = declared["family"]
            for alias in operator.get("aliases", []):
                shared.setdefault(re.match(r"\w+", alias.removeprefix("only "))[0], declared["family"])
    return shared | {name: family for name, family in exact.items() if "." not in name}


def family_of(file_name, known):
    name = file_name.split(".")[0]
    # An in-place form belongs to its operator, and an out form without a functional one to an internal operator.
    family = known.get(name) or known.get(name.removesuffix("_")) or known.get("_" + name)
    if family is None:
        sys.exit(f"{file_name}: core/schema/ops declares no operator {name}")
    return family


def read(archive):
    """Returns file contents by file name."""
    if not archive.exists():
        return {}
    unpacked = subprocess.run(["zstd", "-dcq", archive], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


def write(archive, files):
    """Packs files reproducibly: the same files result in the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
    archive.parent.mkdir(parents=True, exist_ok=True)
    with open(archive, "wb") as file:
        subprocess.run(["zstd", "-19", "-cq"], input=packed.getvalue(), stdout=file, check=True)


def cases(content):
    (length,) = struct.unpack("<Q", content[:8])
    return len(json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["cases"]))


def show():
    counts = []
    for archive in sorted(GOLDEN.glob("*.tar.zst")):
        files = read(archive)
        counts.append((len(files), sum(map(cases, files.values())), archive.stat().st_size))
        print(f"{archive.name:24} {counts[-1][0]:4} files {counts[-1][1]:6} cases {counts[-1][2]:8} bytes")
    files, all_cases, size = map(sum, zip(*counts))
    print(f"{'all':24} {files:4} files {all_cases:6} cases {size:8} bytes")


def main():
    if sys.argv[1:] == ["--list"]:
        return show()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    known, new = families(), {}
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.safetensors")):
        new.setdefault(family_of(path.name, known), {})[path.name] = path.read_bytes()
    for family, files in new.items():
        archive = GOLDEN / f"{family}.tar.zst"
        before = read(archive)
        after = before | files
        if after != before:
            write(archive, after)
            print(f"{archive.relative_to(ROOT)}: {len(files)} of {len(after)} files given")


if __name__ == "__main__":
    main()
