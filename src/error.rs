//! Everything that can go wrong, as values: each message names what was wrong, where, and the remedy.

use std::path::PathBuf;

/// The library's one error type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A scene file, a mesh or a snapshot holds something that is not allowed.
    #[error("{file}{}: {field}: {message}", Line(*line))]
    Input {
        /// The file (or `--set`, `snapshot`...) the value came from.
        file: String,
        /// 1-based line, where it is known.
        line: Option<usize>,
        /// Path of the field, such as `cloth.0.radius`.
        field: String,
        /// What was wrong and what would be right.
        message: String,
    },
    /// A value given to the library is not allowed.
    #[error("{field}: {message}")]
    Value {
        /// Name of the argument or parameter.
        field: String,
        /// What was wrong and what would be right.
        message: String,
    },
    /// The scene asks for more than this machine or the engine's 32-bit indices can hold.
    #[error("{what} needs {needed}, but {limit}")]
    TooLarge {
        /// The object or scene concerned.
        what: String,
        /// What it asks for.
        needed: String,
        /// What there is, and how to get below it.
        limit: String,
    },
    /// A pass panicked in an earlier step, and the program caught the panic.
    #[error(
        "engine: a panic ended an earlier step half-way, so its world and lists do not belong \
         together; make a new engine from a copy of the world or a snapshot"
    )]
    HalfWay,
    /// Vulkan is not there, or failed.
    #[error("Vulkan: {what}; {remedy}")]
    Vulkan {
        /// What went wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Error {
    /// A value error for `field`.
    pub fn value(field: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Value { field: field.into(), message: message.into() }
    }

    /// An input error in `file`.
    pub fn input(
        file: impl Into<String>,
        line: Option<usize>,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Error::Input { file: file.into(), line, field: field.into(), message: message.into() }
    }

    /// Wraps an IO error with the path it happened on.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }

    /// True when the user's input is at fault (exit code 2), false when the run failed (exit code 1).
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Input { .. } | Error::Value { .. } | Error::TooLarge { .. })
    }
}

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

struct Line(Option<usize>);
impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}
