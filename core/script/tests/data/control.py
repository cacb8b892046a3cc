"""Writes control.txt: random programs of nested branches and loops with exits, and what Python returns for them."""
import random

random.seed(20)
NAMES = ["a", "b", "c"]


def value(names):
    kind = random.random()
    if kind < 0.3:
        return str(random.randrange(5))
    if kind < 0.7:
        return random.choice(names)
    return f"{random.choice(names)} {random.choice('+-')} {random.choice(names + ['1', '2'])}"


def condition(names, depth=0):
    kind = random.random()
    if depth < 2 and kind < 0.25:
        word = random.choice(["and", "or"])
        return f"({condition(names, depth + 1)} {word} {condition(names, depth + 1)})"
    if kind < 0.35:
        return f"not {random.choice(names)} > {random.randrange(4)}"
    if kind < 0.45:
        return f"{random.randrange(3)} < {random.choice(names)} < {random.randrange(3, 9)}"
    return f"{random.choice(names)} {random.choice(['<', '>', '==', '!='])} {value(names)}"


def statement(names, depth, loops, pad):
    kind = random.random()
    if depth > 0 and kind < 0.35:
        lines = [f"{pad}if {condition(names)}:"] + block(names, depth - 1, loops, pad + "    ")
        if random.random() < 0.3:
            lines += [f"{pad}elif {condition(names)}:"] + block(names, depth - 1, loops, pad + "    ")
        if random.random() < 0.5:
            lines += [f"{pad}else:"] + block(names, depth - 1, loops, pad + "    ")
        return lines
    if depth > 0 and kind < 0.55:
        if random.random() < 0.6:
            target = f"i{loops}"
            source = random.choice([f"range({random.randrange(4)})", f"range(a % 5)", "range(1, 6, 2)", "range(5, 0, -2)"])
            body = block(names + [target], depth - 1, loops + 1, pad + "    ")
            return [f"{pad}for {target} in {source}:"] + body
        counter = f"n{loops}"
        body = block(names + [counter], depth - 1, loops + 1, pad + "    ")
        test = f"{counter} < {random.randrange(1, 5)}"
        if random.random() < 0.5:
            test += f" and {condition(names)}"
        return [f"{pad}{counter} = 0", f"{pad}while {test}:", f"{pad}    {counter} += 1"] + body
    if kind < 0.62:
        return [f"{pad}return {value(names)}"]
    if loops and kind < 0.74:
        return [pad + random.choice(["break", "continue"])]
    if kind < 0.77:
        return [f"{pad}assert {condition(names)}"]
    if kind < 0.8:
        return [f"{pad}{random.choice(NAMES)} = {value(names)} if {condition(names)} else {value(names)}"]
    return [f"{pad}{random.choice(NAMES)} {random.choice(['=', '+=', '-='])} {value(names)}"]


def block(names, depth, loops, pad):
    lines = []
    for _ in range(random.randrange(1, 4)):
        lines += statement(names, depth, loops, pad)
    return lines


number = 0
while number < 600:
    lines = ["def f(a: int, b: int) -> int:", "    c = a + 1"]
    lines += block(NAMES, 3, 0, "    ") + block(NAMES, 3, 0, "    ") + ["    return a + b * 10 + c * 100"]
    if not 12 < len(lines) < 40:
        continue
    number += 1
    space = {}
    exec("\n".join(lines), space)
    results = []
    for arguments in [(0, 0), (1, 2), (3, 1), (2, 7), (5, -3), (-2, 4)]:
        try:
            results.append(str(space["f"](*arguments)))
        except AssertionError:
            results.append("raises")
    print(f"=== {number}")
    print("\n".join(lines))
    print("--- " + " ".join(results))
