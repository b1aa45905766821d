//! Parity of these passes.
