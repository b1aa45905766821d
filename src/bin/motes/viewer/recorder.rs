//! PNG files written on a thread of their own: encoding takes longer than drawing.

use super::messages::Note;
use crate::painter::Canvas;
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use motes::file::write_atomically;
use std::path::PathBuf;
use std::thread::JoinHandle;

/// Pictures waiting at most; the window waits when the disk is slower than that.
const QUEUE: usize = 8;

/// A picture to write, and whether to say so.
struct Job {
    canvas: Canvas,
    path: PathBuf,
    tell: bool,
}

/// Writes pictures in the order they come.
pub struct Recorder {
    jobs: Option<Sender<Job>>,
    notes: Receiver<Note>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    pub fn start() -> std::io::Result<Self> {
        let (jobs, inbox) = bounded::<Job>(QUEUE);
        let (outbox, notes) = unbounded();
        let work = move || {
            for Job { canvas, path, tell } in inbox {
                let note = match write_atomically(&path, |out| canvas.write_png(out)) {
                    Ok(()) if !tell => continue,
                    Ok(()) => Note::info(format!("picture saved as {}", path.display())),
                    Err(error) => Note::error(error.to_string()),
                };
                let _ = outbox.send(note);
            }
        };
        let thread = std::thread::Builder::new().name("pictures".into()).spawn(work)?;
        Ok(Recorder { jobs: Some(jobs), notes, thread: Some(thread) })
    }

    pub fn write(&self, canvas: Canvas, path: PathBuf, tell: bool) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Job { canvas, path, tell });
        }
    }

    pub fn notes(&self) -> impl Iterator<Item = Note> + '_ {
        self.notes.try_iter()
    }
}

impl Drop for Recorder {
    /// Waits for the pictures that are still to be written.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
