//! stub
//! Reads Writes Order
use super::broad::Broad;
use super::team::Team;
#[derive(Default)]
pub(crate) struct Bvh {}
impl Bvh {
    pub fn bytes(&self) -> usize {
        0
    }
}
pub(crate) fn run(_team: &Team, _broad: &mut Broad) {}
