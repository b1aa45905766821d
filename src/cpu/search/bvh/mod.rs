//! The parts of the tree of volumes that are no passes: what bounds a node, and ways through it.

#[cfg(test)]
mod tests;
pub(crate) mod volume;
pub(crate) mod walk;
