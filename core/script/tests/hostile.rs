//! Input that is made to break a parser: deep nesting in a small stack, long chains, random edits.

mod support;

use rushlight_script::{Source, parse_expression, parse_module, print_expression, print_module};

/// The stack that the parser may use. Without optimization its functions use several times as much; `tests/c/small_stack.c`
/// measures the library that is shipped.
const STACK: usize = if cfg!(debug_assertions) { 1 << 20 } else { 128 << 10 };

/// Runs in a thread with the stack that the parser may use.
fn with_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap()
}

fn error_of(text: String) -> String {
    with_small_stack(move || {
        let error = parse_module(Source::new("deep.py", &text).unwrap()).unwrap_err().to_string();
        error.lines().next().unwrap().to_string()
    })
}

#[test]
fn nesting_ends_in_an_error() {
    let many = 100_000;
    let brackets = "the brackets are nested too deeply:";
    let expression = "the expression is nested too deeply:";
    for (open, message) in [("(", brackets), ("[", brackets), ("{", brackets), ("f(", brackets), ("x[", brackets)] {
        assert_eq!(error_of(format!("def f(x):\n  return {}", open.repeat(many))), message);
        assert_eq!(error_of(format!("def f(x):\n  return {}", open.repeat(900))), expression, "{open}");
    }
    for open in
        ["-", "not ", "~", "x ** (", "a.b(c=x[", "x ** ", "x if y else ", "a + (b if ", "{1: ", "x[(", "[i for i in "]
    {
        assert_eq!(error_of(format!("def f(x):\n  return {}", open.repeat(450))), expression, "{open}");
    }
    for open in ["- ", "x ** ", "x if y else "] {
        assert_eq!(error_of(format!("def f(x):\n  return {}x", open.repeat(many))), expression, "{open}");
    }
    let nested: String = (1..5000).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    assert_eq!(error_of(format!("def f(x):\n{nested}")), "the code is indented too deeply:");
}

#[test]
fn the_deepest_accepted_nesting_fits_the_stack() {
    let prefix: String = (1..99).map(|depth| format!("{}for i in x:\n", " ".repeat(depth))).collect();
    for (open, value, close) in [
        ("(", "x", ",)"),
        ("[", "x", "]"),
        ("{1: ", "x", "}"),
        ("f(", "x", ")"),
        ("f(a=", "x", ")"),
        ("x[1:", "x", "]"),
        ("[i for i in ", "x", "]"),
        ("-(", "x", ")"),
    ] {
        let mut accepted = 0;
        for depth in 1..96 {
            let expr = format!("{}{value}{}", open.repeat(depth), close.repeat(depth));
            let text = format!("def f(x):\n{prefix}{}y = {expr}\n", " ".repeat(99));
            accepted += usize::from(with_small_stack(move || match parse_module(Source::new("t", &text).unwrap()) {
                Ok(module) => !print_module(&module.clone()).is_empty(),
                Err(_) => false,
            }));
        }
        assert!(accepted >= 40, "{open}: only {accepted} levels");
    }
}

#[test]
fn chains_have_no_limit() {
    for (first, link) in [("x", " + x"), ("x", ".y"), ("x", "(1)"), ("x", "[0]"), ("x", " and y"), ("x", " < y")] {
        let text = format!("{first}{}", link.repeat(50_000));
        with_small_stack(move || {
            let (module, expr) = parse_expression(Source::new("chain", &text).unwrap()).unwrap();
            assert_eq!(print_expression(&module, expr), text);
        });
    }
    let branches: String = (0..20_000).map(|n| format!("  elif x == {n}:\n    pass\n")).collect();
    let text = format!("def f(x):\n  if x:\n    pass\n{branches}");
    with_small_stack(move || {
        let module = parse_module(Source::new("branches", &text).unwrap()).unwrap();
        assert_eq!(print_module(&module), text);
    });
}

/// A generator of numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const PIECES: [&str; 44] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    ".",
    "=",
    "==",
    "\n",
    "  ",
    "\t",
    "'",
    "\"\"\"",
    "f'{",
    "\\",
    "# type: ",
    "->",
    " if ",
    " else ",
    " for ",
    " in ",
    " not ",
    "is",
    "def ",
    "class ",
    "lambda",
    "*",
    "**",
    "@",
    "0x",
    "1e",
    "j",
    "é",
    "\0",
    "...",
    "None",
    "\r",
    "~",
    ";",
    "_",
    "99999999999999999999",
];

#[test]
fn random_edits_never_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/code");
    let mut programs: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    programs.sort();
    programs.push(
        "def f(a, b: int=1, *, c='x'):\n  # type: (int) -> int\n  with a as b:\n    x = f'{a[1]}' r'b'\n  return [i for \
         i, j in x if 0x1F]\n"
            .into(),
    );
    let mut random = Random(20_2607);
    let (mut accepted, mut rejected) = (0, 0);
    for _ in 0..4000 {
        let program = &programs[random.below(programs.len())];
        let mut chars: Vec<char> = program.chars().collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(chars.len());
            let end = (at + random.below(12)).min(chars.len());
            match random.below(3) {
                0 => drop(chars.drain(at..end)),
                1 => drop(chars.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
                _ => drop(chars.splice(at..end, PIECES[random.below(PIECES.len())].chars())),
            }
        }
        let text: String = chars.into_iter().collect();
        match support::parse(&text) {
            Ok(_) => {
                accepted += 1;
                support::round_trip(&text);
            }
            Err(error) => {
                rejected += 1;
                let message = error.to_string();
                assert!(message.contains("\n  File \"test.py\", line "), "{message}");
            }
        }
    }
    assert!(accepted > 200 && rejected > 200, "{accepted} accepted, {rejected} rejected");
}
