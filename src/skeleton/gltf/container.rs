//! Where the bytes of a glTF file are: in the chunks of a GLB file, in its text, or in files beside it.

use std::borrow::Cow;
use std::path::Path;

use super::json;
use crate::skeleton::rig::read_file;
use crate::{Error, Result};

/// The JSON of a file, and the binary chunk when it is a GLB file that has one.
pub fn open<'a>(name: &str, bytes: &'a [u8]) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    if !bytes.starts_with(b"glTF") {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return Ok((text, None));
    }
    let fail = |field: &str, message: String| Err(Error::input(name, None, field, message));
    let word = |at: usize| -> Option<u32> {
        let bytes = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(*bytes.first_chunk()?))
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return fail("GLB", "ends within its header; it was cut short".into());
    };
    if version != 2 {
        return fail("GLB", format!("version {version} is not read; export version 2"));
    }
    if (bytes.len() as u64) < u64::from(length) {
        let message = format!(
            "ends after {} of {length} bytes; it was cut short, export or copy it again",
            bytes.len()
        );
        return fail("GLB", message);
    }
    let (mut text, mut binary, mut at) = (None, None, 12usize);
    while at + 8 <= length as usize {
        let (size, kind) = (word(at).unwrap_or(0) as usize, word(at + 4));
        let Some(chunk) = bytes.get(at + 8..at.saturating_add(8).saturating_add(size)) else {
            return fail(
                "GLB",
                format!("the chunk at byte {at} goes on after the end of the file"),
            );
        };
        match kind {
            Some(0x4e4f_534a) if text.is_none() => text = Some(chunk),
            Some(0x004e_4942) if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at += 8 + size.next_multiple_of(4);
    }
    match text {
        Some(text) => Ok((text, binary)),
        None => fail("GLB", "has no JSON chunk; export it again".into()),
    }
}

/// The bytes of every buffer.
pub fn buffers<'a>(
    name: &str,
    root: &json::Root,
    binary: Option<&'a [u8]>,
    folder: Option<&Path>,
) -> Result<Vec<Cow<'a, [u8]>>> {
    let buffer = |(k, buffer): (usize, &json::Buffer)| -> Result<Cow<'a, [u8]>> {
        let field = format!("buffers.{k}");
        let fail = |message: String| Error::input(name, None, &field, message);
        let bytes: Cow<[u8]> = match (&buffer.uri, binary) {
            (None, Some(binary)) if k == 0 => Cow::Borrowed(binary),
            (None, _) => return Err(fail("has neither a uri nor a binary chunk".into())),
            (Some(uri), _) => match uri.strip_prefix("data:") {
                Some(data) => Cow::Owned(from_base64(data).map_err(fail)?),
                None => Cow::Owned(beside(uri, folder).map_err(|error| match error {
                    Error::Input { file, message, .. } => {
                        Error::input(name, None, &field, format!("{file} {message}"))
                    }
                    other => other,
                })?),
            },
        };
        if (bytes.len() as u64) < buffer.byte_length {
            let (has, needs) = (bytes.len(), buffer.byte_length);
            let message = format!("has {has} of {needs} bytes; it was cut short, export it again");
            return Err(fail(message));
        }
        Ok(bytes)
    };
    root.buffers.iter().enumerate().map(buffer).collect()
}

fn beside(uri: &str, folder: Option<&Path>) -> Result<Vec<u8>> {
    let shown: String = uri.chars().take(80).collect();
    let Some(folder) = folder else {
        let message = "is a file of its own, which is not read here; embed the buffer, or give GLB";
        return Err(Error::input(shown, None, "buffer", message));
    };
    let path = folder.join(decoded(uri));
    read_file(&path.display().to_string(), &path)
}

/// A name in which blanks and others stand as %20.
fn decoded(uri: &str) -> String {
    let mut out = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                out.push(code);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What follows `data:`, up to the comma what it is, then base64.
fn from_base64(data: &str) -> Result<Vec<u8>, String> {
    let Some((_, text)) = data.split_once(";base64,") else {
        return Err("is data that is not in base64; export it again".into());
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for (k, byte) in text.trim_end_matches('=').bytes().enumerate() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\r' | b'\n' => continue,
            _ => return Err(format!("byte {} of the data is not base64; export it again", k + 1)),
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_names_are_decoded() {
        let decode = |text: &str| from_base64(&format!("application/octet-stream;base64,{text}"));
        assert_eq!(decode("TWFu").unwrap(), b"Man");
        assert_eq!(decode("TWE=").unwrap(), b"Ma");
        assert_eq!(decode("TQ==").unwrap(), b"M");
        assert_eq!(decode("/+8=").unwrap(), [0xff, 0xef]);
        assert!(decode("T Q=").unwrap_err().contains("byte 2 "));
        assert_eq!(decoded("a%20b%2Fc%"), "a b/c%");
    }
}
