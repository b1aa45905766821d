//! Finding neighbours: the points and the structures over them, and the lists that come out. The
//! passes that build and search each structure are files of their own in `src/cpu`.

pub(crate) mod broad;
pub(crate) mod bvh;
pub(crate) mod candidates;
pub(crate) mod joined;
pub(crate) mod lists;
pub(crate) mod nearest;
pub(crate) mod neighbors;
pub(crate) mod sorted;
