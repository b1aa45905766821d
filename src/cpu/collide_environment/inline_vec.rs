//! A short list without an allocation that grows into one when it must: almost every particle
//! meets fewer than a dozen triangles, and the finder runs once per particle and substep.

#[derive(Debug)]
pub(super) struct InlineVec<T, const N: usize> {
    inline: [T; N],
    len: usize,
    /// Holds everything once the list is longer than `N`.
    spill: Vec<T>,
}

impl<T: Copy + Default, const N: usize> InlineVec<T, N> {
    pub fn new() -> Self {
        InlineVec { inline: [T::default(); N], len: 0, spill: Vec::new() }
    }

    pub fn push(&mut self, value: T) {
        if let Some(slot) = self.inline.get_mut(self.len) {
            *slot = value;
            self.len += 1;
            return;
        }
        if self.spill.is_empty() {
            self.spill.extend_from_slice(&self.inline);
        }
        self.spill.push(value);
    }

    pub fn as_slice(&self) -> &[T] {
        if self.spill.is_empty() { &self.inline[..self.len] } else { &self.spill }
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        if self.spill.is_empty() { &mut self.inline[..self.len] } else { &mut self.spill }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_past_the_inline_part() {
        let mut list = InlineVec::<u32, 4>::new();
        for n in 0..20 {
            list.push(n);
            assert_eq!(list.as_slice(), (0..=n).collect::<Vec<_>>());
        }
        list.as_mut_slice().reverse();
        assert_eq!(list.as_slice().first(), Some(&19));
    }
}
