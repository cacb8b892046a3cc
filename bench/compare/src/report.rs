//! The figures of a report and its tables. A table is Markdown both in the terminal and in bench/RESULTS.md.

use crate::bars::{self, Bar, bars};
use crate::record::{Case, Contender, Copy, Limits, Measured, Record, Setting};
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The numbers of threads that have columns.
const THREADS: [usize; 2] = [1, 2];
/// Allowed difference of the libraries' checksums, which are sums of squares of results with few digits.
const SAME: f64 = 1e-2;

/// A bar and its result: the number of threads, or none if that does not matter.
struct Verdict {
    bar: Bar,
    threads: Option<usize>,
    met: bool,
}

struct Row<'a> {
    measured: &'a Measured,
    limits: &'a [Limits],
    verdicts: Vec<Verdict>,
}

/// The geometric mean of the ratios of a group, as a whole or at one size.
struct Mean {
    group: String,
    size: Option<String>,
    /// Per number of threads: the mean and how many ratios it is of.
    means: [Option<(f64, usize)>; 2],
    /// Its limit; the mean of all sizes is only shown.
    most: Option<f64>,
}

pub struct Report<'a> {
    records: &'a [Record],
    rows: Vec<Row<'a>>,
    means: Vec<Mean>,
}

impl<'a> Report<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        for record in records {
            for measured in &record.cases {
                let row = Row { measured, limits: &record.limits, verdicts: Vec::new() };
                match rows.iter_mut().find(|other| other.measured.case.id() == measured.case.id()) {
                    Some(other) => *other = row,
                    None => rows.push(row),
                }
            }
        }
        for at in 0..rows.len() {
            rows[at].verdicts = judge(&rows[at], &rows);
        }
        let means = means(&rows);
        Report { records, rows, means }
    }

    /// Every figure, then the summary.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.tables("\n"), self.summary())
    }

    /// Geometric means, bars, and cases that could not be compared.
    pub fn summary(&self) -> String {
        format!("{}\n{}\n{}\n{}{}", self.setting(), self.mean_table(), self.bar_table(), self.missed(), self.left_out())
    }

    /// The file bench/RESULTS.md.
    pub fn document(&self) -> String {
        format!(
            "# Results\n\nWritten by `make compare`; [README.md](README.md) says what is measured and how. A ratio is Rushlight's time \
             over libtorch's.\n\n{}\n## Geometric means of the ratios\n\n{}\n## Bars\n\n{}\n{}\n## Not compared\n\n{}\n## Figures\n{}",
            self.setting(),
            self.mean_table(),
            self.bar_table(),
            self.missed(),
            self.left_out(),
            self.tables("\n### ")
        )
    }

    pub fn all_met(&self) -> bool {
        self.verdicts().all(|(_, verdict)| verdict.met) && self.mean_verdicts().all(|met| met)
    }

    fn verdicts(&self) -> impl Iterator<Item = (&Row<'a>, &Verdict)> {
        self.rows.iter().flat_map(|row| row.verdicts.iter().map(move |verdict| (row, verdict)))
    }

    fn mean_verdicts(&self) -> impl Iterator<Item = bool> {
        self.means
            .iter()
            .filter_map(|mean| Some((mean, mean.most?)))
            .flat_map(|(mean, most)| mean.means.iter().flatten().map(move |(value, _)| *value <= most))
    }

    /// The machine, and for each run its date, commit and the machine's limits at that time.
    fn setting(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: &dyn Fn(&Setting) -> String| {
            let values = distinct(self.records.iter().map(|record| value(&record.setting)));
            let _ = writeln!(out, "- {name}: {}", values.join("; "));
        };
        line("machine", &|setting| format!("{}, {} cores, {}", setting.cpu, setting.cores, setting.system));
        line("versions", &|setting| {
            let libtorch = setting.libtorch.as_deref().unwrap_or("not there");
            format!("Rushlight {}, libtorch {libtorch}, g++ {}", setting.rushlight, setting.compiler)
        });
        let header = [
            "run",
            "date",
            "commit",
            "rounds",
            "environment of libtorch",
            "load before",
            "processors busy with others",
            "GFLOP/s of 1 core, f32 (f64)",
            "of 2",
            "copies with 1 core, GB/s (of bytes read and written)",
            "with 2",
        ];
        let mut table = table(header.map(String::from).to_vec());
        for Record { setting, limits, cases } in self.records {
            let limits_of = |threads| limits.iter().find(|limits| limits.threads == threads);
            let peak = |limits: &Limits| format!("{:.0} ({:.0})", limits.fma_f32 / 1e9, limits.fma_f64 / 1e9);
            let copies = |limits: &Limits| {
                let copy = |copy: &Copy| format!("{:.0} ({})", copy.rate / 1e9, bytes(copy.bytes));
                limits.copies.iter().map(copy).collect::<Vec<_>>().join(", ")
            };
            let mut cells = vec![
                distinct(cases.iter().map(|measured| measured.case.group.clone())).join(", "),
                setting.date.clone(),
                setting.commit.clone(),
                setting.rounds.to_string(),
                setting.libtorch_env.join(" "),
                format!("{:.2}", setting.load),
                format!("{:.2}", setting.others),
            ];
            cells.extend(THREADS.map(|threads| limits_of(threads).map_or("-".into(), peak)));
            cells.extend(THREADS.map(|threads| limits_of(threads).map_or("-".into(), copies)));
            table.add_row(cells);
        }
        let _ = writeln!(out, "\n{table}");
        out
    }

    /// A table per group.
    fn tables(&self, heading: &str) -> String {
        let groups = distinct(self.rows.iter().map(|row| row.measured.case.group.clone()));
        let mut out = String::new();
        for group in groups {
            let mut header = vec!["case".to_string(), "size".to_string()];
            for threads in THREADS {
                header.extend([
                    format!("{threads}T Rushlight"),
                    "libtorch".into(),
                    "ratio".into(),
                    "of the limit".into(),
                ]);
            }
            header.extend(["2T / 1T".to_string(), "bars".to_string()]);
            let mut table = table(header);
            for row in self.rows.iter().filter(|row| row.measured.case.group == group) {
                table.add_row(row.cells());
            }
            align(&mut table, 2, 10);
            let _ = writeln!(out, "{heading}{group}\n\n{table}");
        }
        out
    }

    fn mean_table(&self) -> String {
        let mut table = table(["group", "size", "1T", "2T", "cases", "bar"].map(String::from).to_vec());
        for mean in &self.means {
            let text = |at: usize| mean.means[at].map_or("-".into(), |(mean, _)| format!("{mean:.2}"));
            let met = |most: f64| {
                let each = mean.means.iter().flatten().map(|(value, _)| verdict(*value <= most));
                each.collect::<Vec<_>>().join(", ")
            };
            let bar = mean.most.map_or_else(String::new, |most| format!("≤ {most}: {}", met(most)));
            let count = mean.means.iter().flatten().map(|(_, count)| *count).max().unwrap_or_default();
            let size = mean.size.clone().unwrap_or_else(|| "all".into());
            table.add_row([mean.group.clone(), size, text(0), text(1), count.to_string(), bar]);
        }
        align(&mut table, 2, 5);
        format!("{table}\n")
    }

    /// Number of figures that meet each bar.
    fn bar_table(&self) -> String {
        let mut counts: Vec<(String, usize, usize)> = Vec::new();
        for (row, verdict) in self.verdicts() {
            let name = format!("{}: {}", row.measured.case.group, verdict.bar.text());
            let at = counts.iter().position(|(other, ..)| *other == name).unwrap_or_else(|| {
                counts.push((name, 0, 0));
                counts.len() - 1
            });
            counts[at].1 += usize::from(verdict.met);
            counts[at].2 += 1;
        }
        counts.sort();
        let mut table = table(["bar", "met", "of"].map(String::from).to_vec());
        for (name, met, of) in counts {
            table.add_row([name, met.to_string(), of.to_string()]);
        }
        let means: Vec<bool> = self.mean_verdicts().collect();
        let met = means.iter().filter(|met| **met).count();
        table.add_row(["geometric means".to_owned(), met.to_string(), means.len().to_string()]);
        align(&mut table, 1, 3);
        format!("{table}\n")
    }

    /// The names of the missed cases, by bar.
    fn missed(&self) -> String {
        let mut missed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (row, verdict) in self.verdicts().filter(|(_, verdict)| !verdict.met) {
            let Case { group, name, size, .. } = &row.measured.case;
            let threads = verdict.threads.map_or(String::new(), |threads| format!(" {threads}T"));
            let value = row
                .value(&verdict.bar, verdict.threads, &self.rows)
                .map_or(String::new(), |value| format!(" {value:.2}"));
            missed
                .entry(format!("{group}: {}", verdict.bar.text()))
                .or_default()
                .push(format!("{name} {size}{threads}{value}"));
        }
        missed.iter().fold(String::new(), |mut out, (bar, cases)| {
            let _ = writeln!(out, "- missed, {bar}: {}", cases.join("; "));
            out
        })
    }

    /// Functions that a library lacks, failures, and differing results.
    fn left_out(&self) -> String {
        let mut notes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for row in &self.rows {
            let Case { group, name, size, .. } = &row.measured.case;
            for figure in &row.measured.figures {
                let library = figure.contender.name();
                if let Some(reason) = &figure.missing {
                    notes.entry(format!("missing in {library}: {group}/{name}: {reason}")).or_default().push(size);
                }
                if let Some(reason) = &figure.failed {
                    notes.entry(format!("failed in {library}: {group}/{name}: {reason}")).or_default().push(size);
                }
            }
            for threads in THREADS {
                let sum = |contender| row.measured.figure(contender, threads).and_then(|figure| figure.checksum);
                if let (Some(ours), Some(theirs)) = (sum(Contender::Rushlight), sum(Contender::Libtorch))
                    && (ours - theirs).abs() > SAME * ours.abs().max(theirs.abs())
                {
                    let note = format!(
                        "results differ: {group}/{name}: sums of squares {ours:.6e} and {theirs:.6e}, threads {threads}"
                    );
                    notes.entry(note).or_default().push(size);
                }
            }
        }
        notes.iter_mut().fold(String::new(), |mut out, (note, sizes)| {
            sizes.dedup();
            let _ = writeln!(out, "- {note} ({})", sizes.join(", "));
            out
        })
    }
}

impl Row<'_> {
    fn ratio(&self, threads: usize) -> Option<f64> {
        Some(
            self.measured.nanoseconds(Contender::Rushlight, threads)?
                / self.measured.nanoseconds(Contender::Libtorch, threads)?,
        )
    }

    /// Relative to the multiply-adds that the cores can do, or to the speed of copying arrays of about this size.
    fn share(&self, contender: Contender, threads: usize) -> Option<f64> {
        let case = &self.measured.case;
        let seconds = self.measured.nanoseconds(contender, threads)? * 1e-9;
        let limits = self.limits.iter().find(|limits| limits.threads == threads)?;
        if case.operations > 0.0 {
            let peak = if case.name == "f64" { limits.fma_f64 } else { limits.fma_f32 };
            return Some(case.operations / seconds / peak);
        }
        let distance = |bytes: f64| (bytes / case.bytes).ln().abs();
        let copy = limits.copies.iter().min_by(|a, b| distance(a.bytes).total_cmp(&distance(b.bytes)))?;
        (case.bytes > 0.0).then(|| case.bytes / seconds / copy.rate)
    }

    /// The description of a bar.
    fn value(&self, bar: &Bar, threads: Option<usize>, rows: &[Row]) -> Option<f64> {
        let ours = |threads| self.measured.nanoseconds(Contender::Rushlight, threads);
        match *bar {
            Bar::Ratio { .. } => self.ratio(threads?),
            Bar::Share { threads, .. } => self.share(Contender::Rushlight, threads),
            Bar::Nanoseconds { .. } => ours(1),
            Bar::Rate { .. } => Some(self.measured.case.bytes / ours(threads?)?),
            Bar::Threads { .. } => Some(ours(2)? / ours(1)?),
            Bar::Against { name, .. } => {
                let Case { group, size, .. } = &self.measured.case;
                let same = |case: &Case| (&case.group, case.name.as_str(), &case.size) == (group, name, size);
                let other = rows.iter().find(|row| same(&row.measured.case))?;
                Some(ours(threads?)? / other.measured.nanoseconds(Contender::Rushlight, threads?)?)
            }
        }
    }

    fn cells(&self) -> Vec<String> {
        let Case { name, size, .. } = &self.measured.case;
        let mut cells = vec![name.clone(), size.clone()];
        for threads in THREADS {
            let time = |contender| self.measured.nanoseconds(contender, threads).map_or("-".into(), duration);
            let percent =
                |contender| self.share(contender, threads).map_or("-".into(), |share| format!("{:.0}", 100.0 * share));
            cells.push(time(Contender::Rushlight));
            cells.push(time(Contender::Libtorch));
            cells.push(self.ratio(threads).map_or("-".into(), |ratio| format!("{ratio:.2}")));
            let limit = match (percent(Contender::Rushlight), percent(Contender::Libtorch)) {
                (ours, theirs) if ours == "-" && theirs == "-" => String::new(),
                (ours, theirs) => format!("{ours} ({theirs}) %"),
            };
            cells.push(limit);
        }
        cells
            .push(self.value(&Bar::Threads { most: 0.0 }, None, &[]).map_or("-".into(), |ratio| format!("{ratio:.2}")));
        let mut strings: Vec<(String, Vec<&str>)> = Vec::new();
        for kept in &self.verdicts {
            let text = kept.bar.text();
            match strings.last_mut() {
                Some((last, verdicts)) if *last == text => verdicts.push(verdict(kept.met)),
                _ => strings.push((text, vec![verdict(kept.met)])),
            }
        }
        cells.push(
            strings.iter().map(|(text, met)| format!("{text}: {}", met.join(", "))).collect::<Vec<_>>().join("; "),
        );
        cells
    }
}

/// The bars of a row that have figures.
fn judge(row: &Row, rows: &[Row]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for bar in bars(&row.measured.case) {
        let numbers: Vec<Option<usize>> = match bar {
            Bar::Ratio { threads: Some(threads), .. } => vec![Some(threads)],
            Bar::Ratio { .. } | Bar::Rate { .. } | Bar::Against { .. } => THREADS.map(Some).to_vec(),
            Bar::Share { .. } | Bar::Nanoseconds { .. } | Bar::Threads { .. } => vec![None],
        };
        for threads in numbers {
            let Some(value) = row.value(&bar, threads, rows) else { continue };
            let met = match bar {
                Bar::Ratio { most, .. }
                | Bar::Nanoseconds { most }
                | Bar::Threads { most }
                | Bar::Against { most, .. } => value <= most,
                Bar::Share { least, .. } | Bar::Rate { least } => value >= least,
            };
            verdicts.push(Verdict { bar: bar.clone(), threads, met });
        }
    }
    verdicts
}

fn means(rows: &[Row]) -> Vec<Mean> {
    let mut keys: Vec<(String, Option<String>, Option<f64>)> = Vec::new();
    for row in rows {
        for (group, most) in bars::means(&row.measured.case) {
            keys.push((group.clone(), None, None));
            if most.is_some() {
                keys.push((group, Some(row.measured.case.size.clone()), most));
            }
        }
    }
    let mean = |group: &str, size: &Option<String>, threads| {
        let of_group = |case: &Case| bars::means(case).iter().any(|(name, _)| name == group);
        let of_size = |case: &Case| size.as_ref().is_none_or(|size| *size == case.size);
        let chosen = rows.iter().filter(|row| of_group(&row.measured.case) && of_size(&row.measured.case));
        let logarithms: Vec<f64> = chosen.filter_map(|row| row.ratio(threads)).map(f64::ln).collect();
        let count = logarithms.len();
        (count > 0).then(|| ((logarithms.iter().sum::<f64>() / count as f64).exp(), count))
    };
    let mut keys = distinct(keys.into_iter());
    keys.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    keys.into_iter()
        .map(|(group, size, most)| Mean {
            means: THREADS.map(|threads| mean(&group, &size, threads)),
            group,
            size,
            most,
        })
        .collect()
}

/// Each distinct value once, in order of first occurrence.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    values.for_each(|value| {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    });
    distinct
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

fn table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    table
}

fn align(table: &mut Table, from: usize, to: usize) {
    for at in from..to.max(from) {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Nanoseconds in a suitable unit.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

fn bytes(count: f64) -> String {
    match count {
        n if n < 1e6 => format!("{:.0} KB", n / 1e3),
        n => format!("{:.0} MB", n / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Figure;

    /// A case with times (in ns) of Rushlight and libtorch at one and two threads.
    fn measured(name: &str, size: &str, ours: [f64; 2], theirs: [f64; 2]) -> Measured {
        let figure = |contender, threads, ns| Figure { rounds: vec![ns], ..Figure::new(contender, threads) };
        let figures = [1, 2].into_iter().zip(ours.into_iter().zip(theirs)).flat_map(|(threads, (ours, theirs))| {
            [figure(Contender::Rushlight, threads, ours), figure(Contender::Libtorch, threads, theirs)]
        });
        let case =
            Case { group: "elementwise".into(), name: name.into(), size: size.into(), bytes: 8e3, operations: 0.0 };
        Measured { case, figures: figures.collect() }
    }

    fn record(cases: Vec<Measured>) -> Record {
        let copies = vec![Copy { bytes: 8e3, rate: 1e11 }, Copy { bytes: 8e7, rate: 1e10 }];
        let limits =
            |threads| Limits { threads, compiler: "12".into(), fma_f32: 1e11, fma_f64: 5e10, copies: copies.clone() };
        let setting = Setting {
            date: "2026-11-21".into(),
            commit: "abc".into(),
            cpu: "a CPU".into(),
            cores: 2,
            system: "Linux".into(),
            compiler: "12".into(),
            rushlight: "0.1.0".into(),
            libtorch: Some("2.7.1".into()),
            libtorch_env: Vec::new(),
            rounds: 1,
            load: 0.0,
            others: 0.0,
        };
        Record { setting, limits: vec![limits(1), limits(2)], cases }
    }

    #[test]
    fn means_are_geometric_and_judged_by_size() {
        let cases = vec![
            measured("add", "10^2", [100.0, 100.0], [100.0, 400.0]),
            measured("mul", "10^2", [100.0, 100.0], [400.0, 400.0]),
            measured("mul", "10^3", [200.0, 100.0], [100.0, 100.0]),
        ];
        let records = [record(cases)];
        let report = Report::new(&records);
        let of_size = |size: &str| report.means.iter().find(|mean| mean.size.as_deref() == Some(size)).unwrap().means;
        assert_eq!(of_size("10^2").map(|mean| mean.unwrap().0), [0.5, 0.25]);
        assert_eq!(report.mean_verdicts().collect::<Vec<_>>(), [true, true, false, false]);
        assert!(report.mean_table().contains("≤ 0.6: met, met"));
    }

    #[test]
    fn a_row_reports_which_bars_hold() {
        let cases = vec![
            measured("add", "10^3", [100.0, 120.0], [200.0, 100.0]),
            measured("add transposed", "10^3", [250.0, 480.0], [1.0, 1.0]),
        ];
        let records = [record(cases)];
        let report = Report::new(&records);
        assert_eq!(report.rows[0].cells()[11], "ratio ≤ 1.1: met, missed; 2T ≤ 1.1 × 1T: missed");
        assert_eq!(report.rows[1].cells()[11], "≤ 3 × \"add\": met, missed; 2T ≤ 1.1 × 1T: missed");
        // 8000 bytes in 100 ns are 80 GB/s of the 100 that a copy of as many bytes has.
        assert_eq!(report.rows[0].cells()[5], "80 (40) %");
        assert!(!report.all_met());
    }

    #[test]
    fn missing_functions_of_a_library_are_reported() {
        let mut lacking = measured("tanh", "10^2", [0.0; 2], [100.0; 2]);
        for figure in lacking.figures.iter_mut().filter(|figure| figure.contender == Contender::Rushlight) {
            figure.rounds.clear();
            figure.missing = Some("no such function".into());
        }
        let records = [record(vec![lacking])];
        let report = Report::new(&records);
        assert_eq!(report.left_out(), "- missing in Rushlight: elementwise/tanh: no such function (10^2)\n");
        assert_eq!(report.rows[0].cells()[2], "-");
    }

    #[test]
    fn different_results_are_reported() {
        let mut wrong = measured("exp", "10^2", [1.0; 2], [1.0; 2]);
        for (figure, sum) in wrong.figures.iter_mut().zip([10.0, 10.01, 10.0, 20.0]) {
            figure.checksum = Some(sum);
        }
        let records = [record(vec![wrong])];
        let text = Report::new(&records).left_out();
        assert_eq!(
            text,
            "- results differ: elementwise/exp: sums of squares 1.000000e1 and 2.000000e1, threads 2 (10^2)\n"
        );
    }

    #[test]
    fn of_several_records_the_last_counts() {
        let older =
            record(vec![measured("add", "10^2", [9.0; 2], [9.0; 2]), measured("mul", "10^2", [9.0; 2], [9.0; 2])]);
        let records = [older, record(vec![measured("add", "10^2", [1.0; 2], [2.0; 2])])];
        let ratios: Vec<_> = Report::new(&records).rows.iter().map(|row| row.ratio(1).unwrap()).collect();
        assert_eq!(ratios, [0.5, 1.0]);
    }
}
