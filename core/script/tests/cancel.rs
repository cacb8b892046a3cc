//! The cancel flag, which belongs to the process: no other test may run beside this one.

use rushlight_base::ErrorKind;
use rushlight_script::program::Program;

#[test]
fn a_cancelled_loop_ends() {
    let program =
        Program::compile("def f() -> int:\n    i = 0\n    while True:\n        i += 1\n    return i\n").unwrap();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| program.call("f", Vec::new(), Vec::new()));
        std::thread::sleep(std::time::Duration::from_millis(50));
        rushlight_base::runtime::set_cancelled(true);
        let result = running.join().unwrap();
        rushlight_base::runtime::set_cancelled(false);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    });
}
