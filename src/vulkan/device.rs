//! Which device the backend opens, and what its users are told when something goes wrong there.

use crate::error::{Error, Result};
use crate::gpu::{Device, DeviceInfo, Failure, Loader};
use std::sync::Arc;

pub(super) const INSTALL: &str =
    "install a driver (Debian: mesa-vulkan-drivers has one in software), or use --backend cpu";

/// An error with what to do about it.
pub(crate) fn failed(what: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Vulkan { what: what.into(), remedy: remedy.into() }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        const FEWER: &str = "use fewer particles, another --device, or --backend cpu";
        let what = failure.to_string();
        match failure {
            Failure::Absent(_) => failed(what, INSTALL),
            Failure::Lost(_) => {
                failed(what, "the driver gave up on the device; start again, or use --backend cpu")
            }
            Failure::NoMemory(_) => failed(what, FEWER),
            Failure::TooLarge { what, bytes, limit } => Error::TooLarge {
                what,
                needed: format!("{} MiB", bytes >> 20),
                limit: format!("{limit}; {FEWER}"),
            },
            Failure::Refused(_) => failed(what, "update the driver, or use --backend cpu"),
            Failure::Unable(_) => failed(what, "choose another --device, or use --backend cpu"),
        }
    }
}

/// The Vulkan devices of this machine, best first: discrete, integrated, software.
///
/// # Errors
/// When there is no Vulkan here at all; the message says how to get it.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    Ok(Loader::new(&[])?.devices()?.into_iter().map(|found| found.info).collect())
}

/// Opens the device of this number or name (a part of it will do); the best one when none is given.
pub(super) fn open(wanted: Option<&str>) -> Result<Device> {
    let loader = Arc::new(Loader::new(&[])?);
    let list = loader.devices()?;
    let matches = |info: &DeviceInfo| match wanted.map(|text| (text, text.parse::<usize>())) {
        Some((_, Ok(number))) => info.number == number,
        Some((text, Err(_))) => info.name.to_lowercase().contains(&text.to_lowercase()),
        None => true,
    };
    let Some(found) = list.iter().find(|found| matches(&found.info)) else {
        let all: Vec<_> =
            list.iter().map(|f| format!("{} {}", f.info.number, f.info.name)).collect();
        let (wanted, all) = (wanted.unwrap_or_default(), all.join(", "));
        return Err(Error::value("device", format!("`{wanted}` is not here; there are: {all}")));
    };
    must_serve(&found.info.name, &found.info.refused)?;
    let family = loader.computing_family(found.physical).unwrap_or(0);
    Ok(Device::open(&loader, found, family, &[])?)
}

/// An error when there is a reason why the engine cannot use a device.
pub(super) fn must_serve(name: &str, refused: &Option<String>) -> Result<()> {
    match refused {
        Some(why) => Err(Failure::Unable(format!("{name} cannot be used: {why}")).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::check;
    use ash::vk;

    #[test]
    fn what_a_device_answers_becomes_an_error_with_a_remedy() {
        for (code, remedy) in [
            (vk::Result::ERROR_DEVICE_LOST, "start again"),
            (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "fewer particles"),
            (vk::Result::ERROR_INCOMPATIBLE_DRIVER, "mesa-vulkan-drivers"),
            (vk::Result::NOT_READY, "update the driver"),
        ] {
            let said = Error::from(check::<()>("stepping", Err(code)).unwrap_err()).to_string();
            assert!(said.contains("stepping") && said.contains(remedy), "{said}");
        }
    }

    #[test]
    fn a_device_that_cannot_serve_is_refused() {
        must_serve("a card", &None).unwrap();
        let said = must_serve("a card", &Some("it is old".into())).unwrap_err().to_string();
        assert!(said.contains("it is old") && said.contains("--backend cpu"), "{said}");
    }
}
