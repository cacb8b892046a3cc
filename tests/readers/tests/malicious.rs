//! The files of `tests/data/malicious` are rejected, each for its own reason.

mod watch;

use rushlight_base::ErrorKind;
use rushlight_io::pt;
use rushlight_readers::seeds::{files_in, folder};
use std::fs;
use watch::within;

#[test]
fn malicious_files_are_rejected_with_a_reason() {
    let folder = folder().join("../data/malicious");
    let index = fs::read_to_string(folder.join("index.txt")).unwrap();
    let (mut named, mut faults) = (Vec::new(), Vec::new());
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let [file, tries, reason] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let path = folder.join(file);
        let rejected = within(4 << 20, || pt::load(&path));
        match rejected {
            Ok(_) => faults.push(format!("{file} was read. {tries}")),
            Err(error) => {
                let told = error.kind() == ErrorKind::Io && error.message().contains(reason);
                if !told || error.message().contains(char::is_control) {
                    faults.push(format!("{file}: {:?}: {:?}", error.kind(), error.message()));
                }
            }
        }
        named.push(path);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    named.sort();
    let files: Vec<_> = files_in(&folder).into_iter().filter(|path| !path.ends_with("index.txt")).collect();
    assert_eq!(named, files);
    assert!(files.len() >= 20);
}
