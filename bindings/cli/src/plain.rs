//! Text of files as a terminal may have it.

use std::fmt::Display;

/// The text on one line, with what would not show, or command the terminal (tabs, line ends, escapes), in words of ASCII.
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
    fn only_what_does_not_show_is_escaped() {
        assert_eq!(plain("résumé of 'a' \"b\" 数"), "résumé of 'a' \"b\" 数");
        assert_eq!(plain("a\tb\nc\u{1b}[31m\u{202e}\u{9b}\0\\"), r"a\tb\nc\u{1b}[31m\u{202e}\u{9b}\0\\");
    }
}
