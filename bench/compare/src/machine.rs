//! Information recorded with the figures: the machine, versions, date and commit. Linux only, as the programs' times
//! are.

use std::process::Command;

/// The value for information that a program did not report.
pub const UNKNOWN: &str = "unknown";

pub fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or(String::new(), |(_, value)| value.trim().to_string())
    };
    // Virtual machines report a name without a model: the model number is more informative.
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model"))
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

pub fn system() -> String {
    output("uname", &["-sr"])
}

pub fn date() -> String {
    output("date", &["-u", "+%Y-%m-%d %H:%M UTC"])
}

/// The commit of the work tree, with `-dirty` where files differ from it; [`UNKNOWN`] outside of a repository.
pub fn commit() -> String {
    output("git", &["describe", "--always", "--dirty", "--exclude=*"])
}

/// Number of runnable processes during the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Time that all processors were busy.
#[derive(Clone, Copy)]
pub struct Spent {
    ticks_of_all: u64,
    ticks_of_ours: u64,
    at: std::time::Instant,
}

impl Spent {
    pub fn now() -> Self {
        let fields = |path: &str, skipped: usize| -> Vec<u64> {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            // In /proc/self/stat the name of the program may hold blanks; it ends with the last bracket.
            let text = text.rsplit(") ").next().unwrap_or_default().lines().next().unwrap_or_default();
            text.split_whitespace().skip(skipped).map(|word| word.parse().unwrap_or(0)).collect()
        };
        // user, nice, system, (idle, iowait,) irq, softirq, steal: time that a hypervisor used for others is not
        // available to us either.
        let all = fields("/proc/stat", 1);
        let busy = all.iter().enumerate().filter(|&(at, _)| at < 8 && at != 3 && at != 4).map(|(_, ticks)| ticks).sum();
        // utime, stime, and the same of terminated children.
        let ours = fields("/proc/self/stat", 11).iter().take(4).sum();
        Spent { ticks_of_all: busy, ticks_of_ours: ours, at: std::time::Instant::now() }
    }

    /// Average number of processors that other programs have kept busy since then.
    pub fn others(self) -> f64 {
        let now = Spent::now();
        let ours = now.ticks_of_ours.saturating_sub(self.ticks_of_ours);
        let others = now.ticks_of_all.saturating_sub(self.ticks_of_all).saturating_sub(ours);
        // Ticks of /proc are hundredths of a second on every Linux.
        others as f64 / 100.0 / now.at.duration_since(self.at).as_secs_f64().max(0.01)
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        _ => UNKNOWN.to_string(),
    }
}
