//! Every construct of the language: programs that are accepted, with the tree they mean, and errors.

mod support;

use rushlight_script::{Source, parse_expression, parse_functions, parse_type_comment, print_expression};
use support::{parse, round_trip};

/// The expression printed with the fewest parentheses, after a round trip.
fn canonical(text: &str) -> String {
    let read = |text: &str| parse_expression(Source::new("e", text).unwrap()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (module, expr) = read(text);
    let printed = print_expression(&module, expr);
    let (again, same) = read(&printed);
    assert_eq!(support::dump_expr(&module, expr), support::dump_expr(&again, same), "{text} -> {printed}");
    printed
}

/// Whether two expressions are the same tree.
fn same(left: &str, right: &str) {
    assert_eq!(canonical(left), canonical(right));
}

/// The body of a function, indented.
fn function(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("  {line}\n")).collect();
    format!("def f(x):\n{}", lines.concat())
}

/// Accepts each body.
fn bodies(bodies: &[&str]) {
    assert!(bodies.len() >= 3);
    for body in bodies {
        round_trip(&function(body));
    }
}

/// The first line of the error, and the marked text of it.
fn error_of(program: &str) -> (String, String) {
    let error = parse(program).map(|_| ()).expect_err(program).to_string();
    let message = error.lines().next().unwrap().strip_suffix(':').unwrap().to_string();
    let lines: Vec<&str> = error.lines().collect();
    let marker = lines.iter().position(|line| line.ends_with("<--- HERE")).unwrap_or_else(|| panic!("{error}"));
    let from = lines[marker].find('~').unwrap();
    let length = lines[marker].matches('~').count();
    (message, lines[marker - 1].chars().skip(from).take(length).collect())
}

fn rejected(program: &str, message: &str, marked: &str) {
    let (found, text) = error_of(program);
    assert_eq!((found.as_str(), text.as_str()), (message, marked), "{program}");
}

fn rejected_body(body: &str, message: &str, marked: &str) {
    rejected(&function(body), message, marked);
}

#[test]
fn precedence_is_that_of_python() {
    same("a or b and not c == d", "a or (b and (not (c == d)))");
    same("a | b ^ c & d << e + f * -g ** h", "a | (b ^ (c & (d << (e + (f * (-(g ** h)))))))");
    same("a - b - c", "(a - b) - c");
    same("a ** b ** c", "a ** (b ** c)");
    same("2 ** -x", "2 ** (-x)");
    same("a @ b // c % d / e", "(((a @ b) // c) % d) / e");
    same("not a in b", "not (a in b)");
    same("a if b else c if d else e", "a if b else (c if d else e)");
    same("a or b if c else d", "(a or b) if c else d");
    same("~-+a.b(c)[d]", "~(-(+((a.b)(c)[d])))");
    assert_eq!(canonical("(a if b else c) if d else e"), "(a if b else c) if d else e");
    assert_eq!(canonical("(a ** b) ** -c"), "(a ** b) ** -c");
    assert_eq!(canonical("a - (b - c)"), "a - (b - c)");
    assert_eq!(canonical("(a < b) < c"), "(a < b) < c");
    assert_eq!(canonical("(not a) == b"), "(not a) == b");
    assert_eq!(canonical("(1).x + (-a).b + (a + b).c"), "(1).x + (-a).b + (a + b).c");
    rejected_body("return x ==", "expected ident but found 'newline' here", "");
    rejected_body("return x <> 1", "expected ident but found '>' here", ">");
    rejected_body("return x == not x", "expected ident but found 'not' here", "not");
}

#[test]
fn comparisons_chain() {
    for text in ["a < b <= c", "a is None", "a is not b", "a in b", "a not in b", "a == b != c is d", "a > b >= c"] {
        assert_eq!(canonical(text), text);
    }
    rejected_body("return x is", "expected ident but found 'newline' here", "");
    rejected_body("return x not x", "expected newline but found 'not' here", "not");
}

#[test]
fn numbers() {
    for (text, value) in [
        ("0x10", "16"),
        ("0b101", "5"),
        ("0o17", "15"),
        ("017", "15"),
        ("1_000", "1000"),
        ("1e5", "100000.0"),
        (".5", "0.5"),
        ("1.", "1.0"),
        ("1.5E-3", "0.0015"),
        ("2j", "2.0j"),
        ("1.5e1J", "15.0j"),
        ("1e400", "1e999"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775807", "9223372036854775807"),
        ("0.10000000000000001", "0.1"),
        ("0.+1.5j", "0.0 + 1.5j"),
        ("inf", "inf"),
        ("-nan", "-nan"),
    ] {
        assert_eq!(canonical(text), value, "{text}");
    }
    let range = "Integral constant out of range (must fit in a signed 64 bit integer)";
    rejected_body("return 99999999999999999999", range, "99999999999999999999");
    rejected_body("return 9223372036854775808", range, "9223372036854775808");
    rejected_body("return 0xFFFFFFFFFFFFFFFF", range, "0xFFFFFFFFFFFFFFFF");
    rejected_body("return 09", "invalid number", "09");
    rejected_body("return 1e", "expected newline but found 'ident' here", "e");
}

#[test]
fn strings() {
    for (text, value) in [
        (r#"'a"b'"#, r#""a\"b""#),
        (r#""a'b""#, r#""a\'b""#),
        ("'''a\nb'''", r#""a\nb""#),
        ("\"\"\"a\"b\"\"\"", r#""a\"b""#),
        (r"'\n\t\r\\\'\a\0'", r#""\n\t\r\\\'\a\000""#),
        (r"'\101\x41\u0041\U00000041'", r#""AAAA""#),
        (r"'\303\251'", r#""\303\251""#),
        ("'é'", r#""\303\251""#),
        (r"'\xe9'", r#""\303\251""#),
        (r"'\377'", r#""\377""#),
        (r"r'\n'", r#""\\n""#),
        (r"'\q'", r#""\\q""#),
        ("'a' \"b\" 'c'", r#""abc""#),
        ("'a'\\\n'b'", r#""ab""#),
        ("('a'\n 'b')", r#""ab""#),
        ("'a\\\nb'", r#""ab""#),
        ("''", r#""""#),
        ("'#'", r##""#""##),
    ] {
        assert_eq!(canonical(text), value, "{text}");
    }
    let message = "expected a valid token: the string has no end";
    rejected_body("x = 'abc\nreturn x", message, "'");
    rejected_body("x = '''abc\nreturn x", message, "'");
    rejected_body(r"x = '\x4'", r"invalid escape \x: expected 2 digits", r"\x");
    rejected_body(r"x = '\400'", r"an octal escape exceeds \377", r"\400");
    rejected_body("x = b'a'", "expected newline but found 'string_literal' here", "'a'");
}

#[test]
fn f_strings() {
    for (text, value) in [
        ("f'a{x}b'", "f\"\"\"a{x}b\"\"\""),
        ("f'{x + 1}{y[\"k\"]}'", "f\"\"\"{x + 1}{y[\"k\"]}\"\"\""),
        ("f'{{}}{x}'", "f\"\"\"{{}}{x}\"\"\""),
        ("'a' f'{x}' 'b'", "f\"\"\"a{x}b\"\"\""),
        ("f'{ {1: 2}[1] }'", "f\"\"\"{ {1: 2}[1]}\"\"\""),
        ("f'{x != y}'", "f\"\"\"{x != y}\"\"\""),
        ("rf'\\n{x}'", "f\"\"\"\\\\n{x}\"\"\""),
    ] {
        assert_eq!(canonical(text), value, "{text}");
    }
    rejected_body("return f'{x!r}'", "Don't support conversion in JoinedStr", "!");
    rejected_body("return f'{x:.2f}'", "Don't support formatting in JoinedStr", ":");
    rejected_body("return f'{x'", "expected } but found the end of the f-string", "{");
    rejected_body("return f'}'", "a single '}' is not allowed in an f-string", "}");
    rejected_body("return f'{}'", "expected ident but found 'eof' here", "}");
    rejected_body("return f'{f\"a\"}'", "f-strings inside of f-strings are not supported", "f\"a\"");
}

#[test]
fn calls() {
    for text in ["f()", "f(a, b=1, c=2)", "f(*a, b)", "f(a)(b).c(d=e)", "f([i for i in x])"] {
        assert_eq!(canonical(text), text);
    }
    same("f(i for i in x)", "f([i for i in x])");
    same("f(a, )", "f(a)");
    rejected_body("return f(**x)", "arguments after ** are not supported", "**");
    rejected_body("return f(a=1, 2)", "positional argument follows keyword argument", "2");
    rejected_body("return f(a=1, a=2)", "keyword argument repeated: a", "a");
    rejected_body("return f(a b)", "expected ) but found 'ident' here", "b");
}

#[test]
fn subscripts() {
    for text in ["x[0]", "x[1:2]", "x[:]", "x[::2]", "x[1::]", "x[..., None, 1:2, ::2, :]", "x[a, b][c]", "x[(1, 2)]"] {
        assert_eq!(canonical(text), text.replace("1::]", "1:]"));
    }
    rejected_body("return x[]", "expected an index but found none", "[]");
    rejected_body("return x[1:2:3:4]", "expected ] but found ':' here", ":");
    rejected_body("return x[1", "expected ] but found 'eof' here", "");
}

#[test]
fn attributes() {
    for text in ["a.b.c", "\"a\".upper()", "(a, b).c", "[a].b"] {
        assert_eq!(canonical(text), text);
    }
    rejected_body("return x.if", "expected ident but found 'if' here", "if");
    rejected_body("return x.1", "expected newline but found 'number' here", ".1");
}

#[test]
fn displays_and_comprehensions() {
    for text in [
        "[]",
        "[a, *b]",
        "()",
        "(a,)",
        "(a, b)",
        "{}",
        "{a: b, \"c\": [d]}",
        "[i + j for i in x if i if j for j in y]",
        "{k: v for (k, v) in x}",
    ] {
        assert_eq!(canonical(text), text);
    }
    same("[a, ]", "[a]");
    same("{a: b, }", "{a: b}");
    same("a, b", "(a, b)");
    same("[i for i, in x]", "[i for (i,) in x]");
    rejected_body("return {i for i in x}", "expected : but found 'for' here", "for");
    rejected_body("return {**x}", "expected ident but found '**' here", "**");
    rejected_body("return [1)", "expected ] but found ')' here", ")");
    rejected_body("return (1, 2\nx = 2", "expected ) but found 'ident' here", "x");
    rejected_body("return [i for 1 in x]", "unexpected expression on left-hand side of assignment", "1");
    rejected_body("return lambda y: y", "'lambda' is not supported in TorchScript", "lambda");
}

#[test]
fn ternaries() {
    bodies(&["return a if b else c", "y = (a if b else c).d", "return [a if b else c if d else e]"]);
    rejected_body("return x if x", "expected else but found 'newline' here", "");
}

#[test]
fn assignments() {
    bodies(&[
        "a = 1",
        "a = b = 1",
        "a, b = 1, 2",
        "(a, b), c = x",
        "[a, b] = x",
        "a, *b = x",
        "a, = x",
        "x.a, x[0], x[1:2, 3] = x",
        "a: int = 1",
        "a: List[int]",
        "x.a: int = 1",
        "(a): int = 1",
        "a = *x, 1",
        "a = []  # type: List[int]",
        "a, b = x  # type: int, int",
        "a = b = []  # type: List[int] # note",
    ]);
    let message = "unexpected expression on left-hand side of assignment";
    rejected_body("1 = x", message, "1");
    rejected_body("x + 1 = x", message, "x + 1");
    rejected_body("f(x) = 1", message, "f(x)");
    rejected_body("None = 1", message, "None");
    rejected_body("a, b: int = 1", "only variables and attributes can be annotated", "a, b");
    rejected_body("a = (b := 1)", "expected ) but found ':' here", ":");
}

#[test]
fn augmented_assignments() {
    let all =
        "x += 1\nx -= 1\nx *= 1\nx /= 1\nx //= 1\nx %= 1\nx **= 1\nx @= y\nx &= 1\nx |= 1\nx ^= 1\nx <<= 1\nx >>= 1";
    bodies(&[all, "x[0] += 1, 2", "x.a.b -= 3"]);
    rejected_body("x, y += 1", "augmented assignment can only have one LHS expression", "x, y");
    rejected_body("x + 1 += 1", "unexpected expression on left-hand side of augmented assignment", "x + 1");
}

#[test]
fn conditions() {
    bodies(&[
        "if a:\n  b\nelif c:\n  d\nelif e: f\nelse:\n  g",
        "if a: return 1\nelse: return 2",
        "if a:\n  if b:\n    pass\n  else:\n    pass",
    ]);
    rejected("def f(x):\n  elif x:\n    pass\n", "expected ident but found 'elif' here", "elif");
    rejected_body("if x\n  pass", "expected : but found 'newline' here", "");
    rejected_body("if x:\nreturn x", "expected indent but found 'return' here", "return");
}

#[test]
fn loops() {
    bodies(&[
        "while a:\n  break",
        "while True: continue",
        "for i in x:\n  pass",
        "for i, j in x:\n  for (k, l), m in y: pass",
        "for i in 1, 2:\n  pass",
        "for x.a in y:\n  pass",
        "for i, *j in x:\n  pass",
    ]);
    rejected_body("while x:\n  pass\nelse:\n  pass", "else branches of while loops aren't supported", "else");
    rejected_body("for i in x:\n  pass\nelse:\n  pass", "else branches of for loops aren't supported", "else");
    rejected_body("for 1 in x:\n  pass", "unexpected expression on left-hand side of assignment", "1");
    rejected_body("for i of x:\n  pass", "expected in but found 'ident' here", "of");
}

#[test]
fn simple_statements() {
    bodies(&["return", "return 1,", "pass; pass;", "return *x, 1", "'doc'\nreturn None", "print(x)"]);
    bodies(&["assert a", "assert a, 'b'", "assert(a, 'b')"]);
    bodies(&["raise E", "raise E('a')", "raise a.E('b', c)"]);
    bodies(&["del a", "del a[0], b", "del a['k'][1],"]);
    bodies(&["with a:\n  pass", "with a as b, c():\n  pass", "with torch.no_grad(): pass"]);
    rejected_body("raise", "expected ident but found 'newline' here", "");
    rejected_body("raise E from x", "expected newline but found 'ident' here", "from");
    rejected_body("assert", "expected ident but found 'newline' here", "");
    rejected_body("return )", "expected ident but found ')' here", ")");
    let del = "del statements are only supported for deleting list and dict items and variables";
    rejected_body("del 1", del, "1");
    rejected_body("with x as 1:\n  pass", "unexpected expression on left-hand side of assignment", "1");
    rejected_body("pass x", "expected newline but found 'ident' here", "x");
    rejected_body("global x", "Unrecognized statement kind global", "global");
    rejected_body("nonlocal x", "'nonlocal' is not supported in TorchScript", "nonlocal");
    rejected_body("try:\n  pass", "'try' is not supported in TorchScript", "try");
    rejected_body("async def g(): pass", "'async' is not supported in TorchScript", "async");
    rejected_body("import x", "imports inside of functions are not supported", "import");
    rejected_body("x $ 2", "expected a valid token here", "$");
}

#[test]
fn functions() {
    for program in [
        "def f(): return 1\n",
        "def f(a: int, b: Tensor=None, *, c, d: str=\"x\") -> int:\n  return a\n",
        "def f(\n  a,\n  b,\n ):\n  return a\n",
        "def f(x):\n  def g(y: int=2):\n    return y\n  return fork(g)\n",
        "@torch.jit.export\ndef f(x):\n  return x\n",
        "@torch.jit.unused\n@torch.jit.ignore(drop=True)\ndef f(x):\n  return x\n",
        "def f(a, *):\n  return a\n",
        "def f(a: 'List[int]', b: int | None):\n  return a\n",
    ] {
        if program.contains("*):") {
            parse(program).unwrap();
        } else {
            round_trip(program);
        }
    }
    rejected("def f(*args):\n  pass\n", "Compiled functions can't take variable number of arguments", "*");
    rejected("def f(**kw):\n  pass\n", "Compiled functions can't take variable number of arguments", "**");
    rejected("def f(a, /, b):\n  pass\n", "expected ident but found '/' here", "/");
    rejected("def f(a=1, b):\n  pass\n", "non-default argument follows default argument", "b");
    rejected("def f(a, a):\n  pass\n", "duplicate argument 'a' in function definition", "a");
    rejected("def f(a)\n  pass\n", "expected : but found 'newline' here", "");
    rejected("@foo\ndef f(a):\n  pass\n", "the decorator 'foo' is not supported in TorchScript", "foo");
    rejected("def f(a):\n", "expected indent but found 'eof' here", "");
}

#[test]
fn type_comments_are_annotations() {
    let annotated = support::dump(&parse("def f(a: int, b: Tensor) -> Tensor:\n  return b\n").unwrap());
    for program in [
        "def f(a, b):\n  # type: (int, Tensor) -> Tensor\n  return b\n",
        "def f(a, b):  # type: (int, Tensor) -> Tensor\n  return b\n",
        "def f(a, b):\n# type: (int, Tensor) -> Tensor\n\n  # other\n  return b\n",
        "def f(a,  # type: int\n  b  # type: Tensor\n  ):\n  # type: (...) -> Tensor\n  return b\n",
    ] {
        assert_eq!(support::dump(&parse(program).unwrap()), annotated, "{program}");
    }
    round_trip("class A:\n  def f(self, a):\n    # type: (int) -> int\n    return a\n");
    parse("def f(a): # type: ignore\n  # type: is a word\n  return a\n").unwrap_err();
    parse("def f(a): # type: ignore\n  b = 1\n  # type: is a word\n  return a\n").unwrap();
    rejected(
        "def f(a, b):\n  # type: (int) -> int\n  return a\n",
        "Number of type annotations (1) did not match the number of function parameters (2)",
        "(a, b)",
    );
    rejected("def f(a):\n  # type: int\n  return a\n", "expected ( but found 'ident' here", "int");
    let both = "the function has both a type comment and annotations";
    rejected("def f(a: int):\n  # type: (int) -> int\n  pass\n", both, "# type: (int) -> int");
    rejected_body("f(x) # type: int", "expected newline but found 'type comment' here", "# type: int");
    let source = Source::new("c", "# type: (List[int], Optional[Dict[str, Tensor]]) -> Tuple[int, Tensor]").unwrap();
    let (module, params, returns) = parse_type_comment(source).unwrap();
    assert_eq!(print_expression(&module, params[1]), "Optional[Dict[str, Tensor]]");
    assert_eq!(print_expression(&module, returns), "Tuple[int, Tensor]");
    assert!(parse_type_comment(Source::new("c", "int").unwrap()).is_err());
}

#[test]
fn classes() {
    let module = round_trip(
        "op_version_set = 1\nimport torch\nfrom torch import nn\n'doc'\nclass M(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n  __buffers__ = []\n  \
         weight : Tensor\n  stride : Final[int] = 1\n  __annotations__[\"0\"] = __torch__.A\n  \
         def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return x\n",
    );
    let class = module.classes().next().unwrap();
    assert_eq!(class.kind, rushlight_script::ast::ClassKind::Module);
    let names: Vec<&str> = class.names("__parameters__").iter().map(|name| &**name).collect();
    assert_eq!(names, ["weight", "bias"]);
    assert!(class.names("__constants__").is_empty());
    assert_eq!(class.method("forward").unwrap().params.len(), 2);
    for program in [
        "class C(Enum):\n  RED = 1\n  BLUE = \"b\"\n",
        "class N(NamedTuple):\n  a : Tensor\n  b : Optional[int] = None\n",
        "class I(Interface):\n  def f(self, x: Tensor) -> Tensor:\n    pass\n",
        "class I(ModuleInterface):\n  def f(self) -> int: ...\n",
        "@torch.jit.script\nclass P:\n  '''doc'''\n  x : int\n  @property\n  def y(self) -> int:\n    return self.x\n  @y.setter\n  def y(self, v: int):\n    self.x = v\n",
        "class E: pass\n",
        "class E(torch.nn.Module):\n  pass\n",
        "class E(Exception):\n  pass\n",
        "@torch.jit.interface\nclass I(torch.nn.Module):\n  def f(self): pass\n",
    ] {
        round_trip(program);
    }
    rejected("class A(B):\n  pass\n", "Torchscript does not support class inheritance.", "B");
    rejected("class A(Module, B):\n  pass\n", "Torchscript does not support multiple inheritance", "B");
    rejected("class A:\n  x\n", "expected = or : but found 'newline' here", "");
    rejected("class A:\n  1\n", "expected an attribute or a method but found 'number' here", "1");
    let names = "expected a list of strings in __parameters__";
    rejected("class A:\n  __parameters__ = 1\n", names, "__parameters__ = 1");
    rejected("class A:\n  __buffers__ = [x]\n", "expected a string with a name", "x");
    rejected("op_version_set = x\n", "expected a version number", "op_version_set = x");
    rejected("x = 1\n", "expected def but found 'ident' here", "x");
    let error = parse_functions(Source::new("<string>", "class A:\n  pass\n").unwrap()).unwrap_err();
    assert!(error.to_string().contains("expected def but found 'class' here"), "{error}");
}

#[test]
fn lines_and_indentation() {
    let plain = support::dump(&parse("def f(x):\n  y = [1, 2]\n  return y\n").unwrap());
    for program in [
        "  def f(x):\n    y = [1, 2]\n    return y\n",
        "def f(x):\n\ty = [1, 2]\n\treturn y",
        "\n# c\ndef f(x): # c\n  # c\n\n  y = [1,\n2 # c\n# c\n\n]\n   # c\n  return y # c\n# c\n   # c\n\n",
        "def f(x):\r\n  y = [1, 2]\r\n  return \\\r\n    y\r\n",
        "def f(x):\n  y = [1, 2]; return y\n",
        "\x0cdef f(x):\n        y = [1, 2]\n\treturn y\n",
    ] {
        assert_eq!(support::dump(&parse(program).unwrap()), plain, "{program}");
    }
    rejected("def f(x):\n   y = 1\n  return x\n", "invalid indent level 2", "r");
    rejected("def f(x):\n  y = 1\n    z = 1\n", "expected ident but found 'indent' here", "z");
    let deep: String = (0..101).map(|n| format!("{}if x:\n", " ".repeat(n + 1))).collect();
    let (message, _) = error_of(&format!("def f(x):\n{deep}{}pass\n", " ".repeat(102)));
    assert_eq!(message, "the code is indented too deeply");
}

#[test]
fn errors_show_the_excerpt() {
    let program = "def f(x):\n    x1 = 1\n    x2 = 1\n    y = $\n    x4 = 1\n    x5 = 1\n    x6 = 1\n";
    let error = parse(program).unwrap_err().to_string();
    let expected = "expected a valid token here:\n  File \"test.py\", line 4\n    x1 = 1\n    x2 = 1\n    y = $\n        \
                    ~ <--- HERE\n    x4 = 1\n    x5 = 1\n";
    assert!(error.ends_with(expected), "{error}");
    let error = parse("def f(x):\n  return g(\n    x) + 1 = 2\n").unwrap_err().to_string();
    assert!(error.contains("expected newline but found '=' here"), "{error}");
    let error = parse("def f(x):\n  g(1,\n    x) = 2\n").unwrap_err().to_string();
    let expected = "line 2\ndef f(x):\n  g(1,\n  ~~~~\n    x) = 2\n    ~~ <--- HERE\n";
    assert!(error.ends_with(expected), "{error}");
    let source = Source::at_line("model.py", "é = $", 41).unwrap();
    let error = parse_expression(source).unwrap_err().to_string();
    assert!(error.ends_with("  File \"model.py\", line 41\né = $\n    ~ <--- HERE\n"), "{error}");
}
