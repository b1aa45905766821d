//! What the device is told: the commands of [`gpu`](crate::gpu), one batch at a time.

pub(super) use crate::gpu::{Commands, Recorder, Recording};
