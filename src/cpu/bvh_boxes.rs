//! stub
//! Reads Writes Order
use super::broad::Broad;
use super::team::Team;
use crate::world::Params;
pub(crate) fn run(_team: &Team, _broad: &mut Broad, _params: &Params, _phase: &[u32]) {}
