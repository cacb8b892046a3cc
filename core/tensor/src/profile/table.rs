//! A profile as a table: a row for each name, as PyTorch's `key_averages().table()`.

use super::events::{Event, Profile, format_shapes};
use rushlight_base::{Error, Result, err, list};
use std::collections::HashMap;
use std::str::FromStr;

/// The column by which a table is sorted, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The first call.
    Order,
    /// Time without that of inner events.
    SelfTime,
    /// Time.
    Time,
    /// Time of a call.
    TimeOfCall,
    /// Number of calls.
    Count,
    /// Bytes without those of inner events.
    SelfBytes,
    /// Bytes.
    Bytes,
}

/// PyTorch's names of columns.
const COLUMNS: [(&str, SortBy); 7] = [
    ("", SortBy::Order),
    ("self_cpu_time_total", SortBy::SelfTime),
    ("cpu_time_total", SortBy::Time),
    ("cpu_time", SortBy::TimeOfCall),
    ("count", SortBy::Count),
    ("self_cpu_memory_usage", SortBy::SelfBytes),
    ("cpu_memory_usage", SortBy::Bytes),
];

impl FromStr for SortBy {
    type Err = Error;

    fn from_str(name: &str) -> Result<SortBy> {
        let found = COLUMNS.into_iter().find(|(column, _)| *column == name);
        let columns = COLUMNS[1..].iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        found
            .map(|(_, column)| column)
            .ok_or_else(|| err!(Value, "a profile cannot be sorted by '{name}'; the columns are {columns}"))
    }
}

/// What a table shows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The order of rows.
    pub sort_by: SortBy,
    /// The most rows; `None`: all.
    pub rows: Option<usize>,
    /// A row for each name and shapes of arguments, instead of each name.
    pub by_shape: bool,
}

/// The events of a name.
struct Row {
    name: usize,
    shapes: String,
    calls: u64,
    self_time: u64,
    time: u64,
    self_bytes: i64,
    bytes: i64,
}

impl Row {
    fn add(&mut self, event: &Event) {
        self.calls += 1;
        self.self_time += event.self_duration;
        self.time += event.duration;
        self.self_bytes += event.self_bytes;
        self.bytes += event.allocated - event.freed;
    }

    fn time_of_call(&self) -> u64 {
        self.time / self.calls.max(1)
    }
}

impl Profile {
    /// The table as lines of text.
    pub fn table(&self, table: Table) -> Result<String> {
        let mut rows = self.rows(table.by_shape)?;
        match table.sort_by {
            SortBy::Order => {}
            SortBy::SelfTime => rows.sort_by_key(|row| std::cmp::Reverse(row.self_time)),
            SortBy::Time => rows.sort_by_key(|row| std::cmp::Reverse(row.time)),
            SortBy::TimeOfCall => rows.sort_by_key(|row| std::cmp::Reverse(row.time_of_call())),
            SortBy::Count => rows.sort_by_key(|row| std::cmp::Reverse(row.calls)),
            SortBy::SelfBytes => rows.sort_by_key(|row| std::cmp::Reverse(row.self_bytes)),
            SortBy::Bytes => rows.sort_by_key(|row| std::cmp::Reverse(row.bytes)),
        }
        let total = rows.iter().map(|row| row.self_time).sum();
        rows.truncate(table.rows.unwrap_or(usize::MAX));
        let cells = rows.iter().map(|row| self.cells(row, total, table.by_shape));
        let mut text = aligned(&self.header(table.by_shape), &list::collect(cells)?);
        text.push_str(&format!("Self CPU time total: {}\n", format_time(total)));
        Ok(text)
    }

    fn rows(&self, by_shape: bool) -> Result<Vec<Row>> {
        let mut index: HashMap<(usize, String), usize> = HashMap::new();
        let mut rows: Vec<Row> = Vec::new();
        for event in &self.events {
            let shapes = if by_shape { format_shapes(&event.inputs) } else { String::new() };
            let key = (event.name, shapes);
            let position = match index.get(&key) {
                Some(position) => *position,
                None => {
                    let shapes = key.1.clone();
                    list::push(
                        &mut rows,
                        Row { name: event.name, shapes, calls: 0, self_time: 0, time: 0, self_bytes: 0, bytes: 0 },
                    )?;
                    index.insert(key, rows.len() - 1);
                    rows.len() - 1
                }
            };
            rows[position].add(event);
        }
        Ok(rows)
    }

    fn header(&self, by_shape: bool) -> Vec<&'static str> {
        let times = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"];
        let memory = ["CPU Mem", "Self CPU Mem"];
        let memory = memory.into_iter().filter(|_| self.options.memory);
        let shapes = by_shape.then_some("Input Shapes");
        times.into_iter().chain(memory).chain(["# of Calls"]).chain(shapes).collect()
    }

    fn cells(&self, row: &Row, total: u64, by_shape: bool) -> Vec<String> {
        let percent =
            |time: u64| if total == 0 { "0.00%".into() } else { format!("{:.2}%", 100.0 * time as f64 / total as f64) };
        let name = self.names.get(row.name).map_or("", |name| name);
        let mut cells = vec![
            // A line break in the name of a range would end the row.
            name.replace(char::is_control, " "),
            percent(row.self_time),
            format_time(row.self_time),
            percent(row.time),
            format_time(row.time),
            format_time(row.time_of_call()),
        ];
        if self.options.memory {
            cells.extend([format_bytes(row.bytes), format_bytes(row.self_bytes)]);
        }
        cells.push(row.calls.to_string());
        if by_shape {
            cells.push(row.shapes.clone());
        }
        cells
    }
}

/// Columns with two blanks between them: the first one to the left, the others to the right.
fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  ") + "\n";
    let body: String = rows.iter().map(|row| line(&mut row.iter().map(String::as_str))).collect();
    format!("{rule}{}{rule}{body}{rule}", line(&mut header.iter().copied()))
}

/// `1.234us`, `1.234ms`, `1.234s`.
fn format_time(nanoseconds: u64) -> String {
    let time = nanoseconds as f64;
    match nanoseconds {
        0..1_000_000 => format!("{:.3}us", time / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3}ms", time / 1e6),
        _ => format!("{:.3}s", time / 1e9),
    }
}

/// `16 b`, `1.50 Kb`, `-2.00 Mb`, `1.00 Gb`.
fn format_bytes(bytes: i64) -> String {
    let size = bytes as f64;
    match bytes.unsigned_abs() {
        0..1024 => format!("{bytes} b"),
        1024..1_048_576 => format!("{:.2} Kb", size / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.2} Mb", size / 1_048_576.0),
        _ => format!("{:.2} Gb", size / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes_have_the_units_of_pytorch() {
        assert_eq!([1, 1_500_000, 2_000_000_000].map(format_time), ["0.001us", "1.500ms", "2.000s"]);
        assert_eq!([-16, 1536, -2 << 20, 1 << 30].map(format_bytes), ["-16 b", "1.50 Kb", "-2.00 Mb", "1.00 Gb"]);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["one".to_owned(), "1".to_owned()], vec!["three".to_owned(), "100".to_owned()]];
        let text = aligned(&["Name", "n"], &rows);
        assert_eq!(text, "-----  ---\nName     n\n-----  ---\none      1\nthree  100\n-----  ---\n");
    }

    #[test]
    fn an_unknown_column_is_an_error_that_lists_the_columns() {
        assert_eq!("count".parse::<SortBy>().unwrap(), SortBy::Count);
        let error = "speed".parse::<SortBy>().unwrap_err();
        assert!(
            error.message().starts_with("a profile cannot be sorted by 'speed'; the columns are self_cpu_time_total,")
        );
    }
}
