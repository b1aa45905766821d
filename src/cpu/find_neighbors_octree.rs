//! stub
//! Reads Writes Order
use super::broad::{Accept, Broad};
use super::lists::Lists;
use super::team::Team;
use crate::error::Result;
pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    accept: &A,
    lists: &mut Lists<A::Entry>,
) -> Result<()> {
    super::find_neighbors_brute::run(team, broad, accept, lists)
}
