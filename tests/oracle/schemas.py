"""Writes every operator schema that PyTorch registers to a file, one per line.

    /opt/torch/bin/python tests/oracle/schemas.py FILE
    RUSHLIGHT_SCHEMAS=FILE cargo test -p rushlight-schema --test signatures

`core/schema/tests/data/registered.txt` is a sample of them.
"""

import sys

import torch


def main() -> None:
    schemas = sorted({str(schema) for schema in torch._C._jit_get_all_schemas()})
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.writelines(f"{schema}\n" for schema in schemas)
    print(f"{len(schemas)} schemas")


if __name__ == "__main__":
    main()
