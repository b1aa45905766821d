//! The assembled shaders, one module a pass. `spirv/<pass>.spvasm` is what was written by hand.

use crate::step::Pass;

macro_rules! modules {
    ($($pass:ident $name:literal)*) => {
        /// The module of a pass, if it has one yet.
        pub(crate) fn module(pass: Pass) -> Option<&'static [u8]> {
            match pass {
                $(Pass::$pass => Some(include_bytes!(concat!("../../spirv/", $name, ".spv"))),)*
                #[allow(unreachable_patterns)]
                _ => None,
            }
        }
    };
}

modules! {
    CollideEnvironment "collide_environment"
}
