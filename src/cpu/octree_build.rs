//! stub
//! Reads Writes Order
use super::broad::Broad;
use super::team::Team;
use crate::world::Params;
#[derive(Default)]
pub(crate) struct Octree {}
impl Octree {
    pub fn bytes(&self) -> usize {
        0
    }
}
pub(crate) fn run(_team: &Team, _broad: &mut Broad, _params: &Params) {}
