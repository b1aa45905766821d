//! What can go wrong on a device.

use ash::vk;

/// What went wrong, without what to do about it: that depends on who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// There is no Vulkan on this machine: no library, no driver or no device.
    #[error("{0}")]
    Absent(String),
    /// The driver gave up on the device; nothing of it can be used any more.
    #[error("{0}")]
    Lost(String),
    /// The driver found no memory for a call.
    #[error("{0}")]
    NoMemory(String),
    /// A buffer or an image is larger than what there is room for.
    #[error("{what} needs {} MiB, but {limit}", bytes.div_ceil(1 << 20))]
    TooLarge {
        /// What was to be made, and on which device.
        what: String,
        /// How large it would be.
        bytes: u64,
        /// What there is.
        limit: String,
    },
    /// The driver refused a call for another reason.
    #[error("{0}")]
    Refused(String),
    /// The device cannot do what is asked of it.
    #[error("{0}")]
    Unable(String),
}

/// What a Vulkan call answered while `doing` something.
pub fn check<T>(doing: &str, answer: Result<T, vk::Result>) -> Result<T, Failure> {
    answer.map_err(|code| {
        let what = format!("{doing}: {code}");
        match code {
            vk::Result::ERROR_DEVICE_LOST => Failure::Lost(what),
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Failure::NoMemory(what)
            }
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Failure::Absent(what),
            _ => Failure::Refused(what),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_answers_is_told_apart() {
        let said = |code| check::<()>("stepping", Err(code)).unwrap_err();
        let lost = said(vk::Result::ERROR_DEVICE_LOST);
        assert!(matches!(&lost, Failure::Lost(what) if what.starts_with("stepping: ")), "{lost}");
        assert!(matches!(said(vk::Result::ERROR_OUT_OF_HOST_MEMORY), Failure::NoMemory(_)));
        assert!(matches!(said(vk::Result::ERROR_INCOMPATIBLE_DRIVER), Failure::Absent(_)));
        assert!(matches!(said(vk::Result::NOT_READY), Failure::Refused(_)));
        assert_eq!(check("stepping", Ok(1)), Ok(1));
    }
}
