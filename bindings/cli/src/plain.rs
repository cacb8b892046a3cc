//! Strings of files, made safe for a terminal.

use std::fmt::Display;

/// The string on one line, with characters that are invisible or control the terminal (tabs, line ends, escapes)
/// escaped in ASCII.
pub fn plain(text: impl Display) -> String {
    let mut shown = String::new();
    for character in text.to_string().chars() {
        match character {
            '\'' | '"' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invisible_characters_are_escaped() {
        assert_eq!(plain("résumé of 'a' \"b\" 数"), "résumé of 'a' \"b\" 数");
        assert_eq!(plain("a\tb\nc\u{1b}[31m\u{202e}\u{9b}\0\\"), r"a\tb\nc\u{1b}[31m\u{202e}\u{9b}\0\\");
    }
}
