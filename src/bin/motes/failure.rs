//! Why a command did not succeed, and the exit code that says so: 1 failed, 2 wrong usage or input.

use std::io::ErrorKind;
use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The command line or the input is wrong.
    Usage(String),
    /// The run failed: a check, a device, the disk.
    Failed(String),
    /// Whoever read our output has enough of it, as `head` does. Not worth a message.
    Closed,
}

impl Failure {
    /// Prints the message and says which code to exit with.
    pub fn report(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Usage(message) => (message, 2),
            Failure::Failed(message) => (message, 1),
            Failure::Closed => return ExitCode::SUCCESS,
        };
        // A closed standard error leaves the exit code to tell.
        let _ =
            std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("error: {message}\n"));
        ExitCode::from(code)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Failed(message) => f.write_str(message),
            Failure::Closed => f.write_str("the output was closed"),
        }
    }
}

impl From<motes::Error> for Failure {
    fn from(error: motes::Error) -> Self {
        // A file that was named and is not there is wrong input, not a failing disk.
        let missing = matches!(&error, motes::Error::Io { source, .. }
            if source.kind() == ErrorKind::NotFound);
        if error.is_usage() || missing {
            Failure::Usage(error.to_string())
        } else {
            Failure::Failed(error.to_string())
        }
    }
}

/// Errors of standard output; files go through the library, which names them.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Failed(format!("standard output: {error}")),
        }
    }
}
