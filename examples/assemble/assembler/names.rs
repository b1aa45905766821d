//! What the driver declares by itself, because the name says it all.

use motes::pass::PassInfo;
use motes::vulkan::layout;

/// Names of storage classes in `%ptr_<storage>_<type>`.
const STORAGE: &[(&str, &str)] = &[
    ("buffer", "StorageBuffer"),
    ("input", "Input"),
    ("output", "Output"),
    ("push", "PushConstant"),
    ("shared", "Workgroup"),
    ("own", "Private"),
    ("local", "Function"),
    ("uniform", "Uniform"),
    ("sampled", "UniformConstant"),
];

/// Built-in inputs of a compute shader.
const BUILT_IN: &[(&str, &str)] = &[
    ("%invocation", "GlobalInvocationId"),
    ("%lane", "LocalInvocationId"),
    ("%group", "WorkgroupId"),
    ("%group_count", "NumWorkgroups"),
];

/// A declaration, and what is said of the id: decorations and the name that tests look for.
#[derive(Debug, Default, PartialEq)]
pub struct Known {
    pub text: String,
    pub remarks: Vec<String>,
}

/// The declaration of a name that speaks for itself.
pub fn known(id: &str) -> Option<Known> {
    let plain = |text: String| Known { text: format!("{id} = {text}"), remarks: Vec::new() };
    let name = id.strip_prefix('%')?;
    basic_type(name)
        .or_else(|| vector_type(name))
        .or_else(|| pointer_type(name))
        .or_else(|| number(name))
        .or_else(|| repeated(name))
        .map(plain)
        .or_else(|| word(id))
        .or_else(|| built_in(id))
}

fn basic_type(name: &str) -> Option<String> {
    let text = match name {
        "void" => "OpTypeVoid",
        "bool" => "OpTypeBool",
        "uint" => "OpTypeInt 32 0",
        "int" => "OpTypeInt 32 1",
        "float" => "OpTypeFloat 32",
        "true" => "OpConstantTrue %bool",
        "false" => "OpConstantFalse %bool",
        _ => return None,
    };
    Some(text.into())
}

/// What a vector of this name is made of, and how many of it.
fn vector(name: &str) -> Option<(&'static str, char)> {
    let (kind, size) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let of = match kind {
        "vec" => "float",
        "uvec" => "uint",
        "ivec" => "int",
        "bvec" => "bool",
        _ => return None,
    };
    let size = size.chars().next()?;
    matches!(size, '2'..='4').then_some((of, size))
}

fn vector_type(name: &str) -> Option<String> {
    vector(name).map(|(of, size)| format!("OpTypeVector %{of} {size}"))
}

fn pointer_type(name: &str) -> Option<String> {
    let (storage, to) = name.strip_prefix("ptr_")?.split_once('_')?;
    let (_, class) = STORAGE.iter().find(|(word, _)| *word == storage)?;
    Some(format!("OpTypePointer {class} %{to}"))
}

/// `u12`, `i3`, `i_minus_1`, `f2`, `f0_5`, `f_minus_1`.
fn number(name: &str) -> Option<String> {
    let kind = match name.get(..1)? {
        "u" => "uint",
        "i" => "int",
        "f" => "float",
        _ => return None,
    };
    let (sign, digits) = match name[1..].strip_prefix("_minus_") {
        Some(_) if kind == "uint" => return None,
        Some(digits) => ("-", digits),
        None => ("", &name[1..]),
    };
    let (whole, part) = digits.split_once('_').unwrap_or((digits, ""));
    let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let written = !whole.is_empty() && digits_only(whole) && digits_only(part);
    if !written || (digits.contains('_') && (part.is_empty() || kind != "float")) {
        return None;
    }
    let point = if part.is_empty() { "" } else { "." };
    Some(format!("OpConstant %{kind} {sign}{whole}{point}{part}"))
}

/// `vec3_0`, `uvec3_1`: the same number in every place.
fn repeated(name: &str) -> Option<String> {
    let (kind, value) = name.split_once('_')?;
    let (of, size) = vector(kind)?;
    let element = format!("{}{value}", &of[..1]);
    number(&element)?;
    let all = format!(" %{element}").repeat(size.to_digit(10)? as usize);
    Some(format!("OpConstantComposite %{kind}{all}"))
}

/// A word of a buffer, as `src/vulkan/layout.rs` has it.
fn word(id: &str) -> Option<Known> {
    let name = &id[1..];
    let at = layout::word(name)?;
    let text = format!("{id} = OpConstant %uint {at}");
    Some(Known { text, remarks: vec![format!("OpName {id} \"{name}\"")] })
}

fn built_in(id: &str) -> Option<Known> {
    if let Some((_, what)) = BUILT_IN.iter().find(|(name, _)| *name == id) {
        let text = format!("{id} = OpVariable %ptr_input_uvec3 Input");
        return Some(Known { text, remarks: vec![format!("OpDecorate {id} BuiltIn {what}")] });
    }
    let known = |text: &str, remarks: &[&str]| Known {
        text: format!("{id} = {text}"),
        remarks: remarks.iter().map(|r| r.to_string()).collect(),
    };
    match id {
        "%push" => Some(known("OpVariable %ptr_push_pushed PushConstant", &[])),
        "%pushed" => Some(known(
            "OpTypeStruct %uint %uint %uint %uint",
            &[
                "OpDecorate %pushed Block",
                "OpMemberDecorate %pushed 0 Offset 0",
                "OpMemberDecorate %pushed 1 Offset 4",
                "OpMemberDecorate %pushed 2 Offset 8",
                "OpMemberDecorate %pushed 3 Offset 12",
            ],
        )),
        "%group_size" => {
            Some(known("OpSpecConstant %uint 64", &["OpDecorate %group_size SpecId 0"]))
        }
        "%workgroup_size" => Some(known(
            "OpSpecConstantComposite %uvec3 %group_size %u1 %u1",
            &["OpDecorate %workgroup_size BuiltIn WorkgroupSize"],
        )),
        _ => array(id),
    }
}

/// What a buffer is: `%block_of_uint`, which holds an `%array_of_uint`.
fn array(id: &str) -> Option<Known> {
    if let Some(element) = id.strip_prefix("%block_of_") {
        let text = format!("{id} = OpTypeStruct %array_of_{element}");
        let remarks =
            [format!("OpDecorate {id} Block"), format!("OpMemberDecorate {id} 0 Offset 0")];
        return Some(Known { text, remarks: remarks.into() });
    }
    let element = id.strip_prefix("%array_of_")?;
    let stride = vector(element).map_or(4, |(_, size)| 4 * size.to_digit(10).unwrap_or(1));
    let text = format!("{id} = OpTypeRuntimeArray %{element}");
    Some(Known { text, remarks: vec![format!("OpDecorate {id} ArrayStride {stride}")] })
}

/// The buffers that a pass binds, in the order of their bindings.
pub fn buffers(info: &PassInfo) -> Vec<String> {
    let first = ["globals".to_string(), "state".to_string()];
    first
        .into_iter()
        .chain(info.bindings().map(|b| b.name()))
        .map(|name| format!("%{name}"))
        .collect()
}

/// The buffers that a pass may write.
pub fn written(info: &PassInfo) -> Vec<String> {
    let own = info.writes.iter().map(|b| format!("%{}", b.name()));
    own.chain(["%state".to_string()]).collect()
}
