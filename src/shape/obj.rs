//! Reads OBJ files. `tobj` parses and triangulates; what it sees is a checked copy of the file that
//! holds positions and faces alone. Handed the file itself, tobj overflows on some texture indices,
//! lets `nan` and `inf` through as positions, fails on colours given for half the vertices, and
//! never says on which line.

use std::io::Write;
use std::path::Path;

use glam::Vec3;

use super::mesh::{MeshReport, TriangleMesh};
use crate::{Error, Result};

impl TriangleMesh {
    /// Loads an OBJ file: all objects and groups as one mesh, polygons cut into fans (so a polygon
    /// should be convex), identical vertices welded, triangles without an area dropped and counted.
    /// Materials, colours, normals, texture coordinates, points and lines are not read.
    pub fn load_obj(path: impl AsRef<Path>) -> Result<(Self, MeshReport)> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let remedy = match error.kind() {
                std::io::ErrorKind::NotFound => "check the spelling and the folder",
                std::io::ErrorKind::PermissionDenied => "check the permissions of the file",
                _ => "give an OBJ file that can be read",
            };
            Error::input(&name, None, "mesh", format!("cannot be opened ({error}); {remedy}"))
        };
        // A device or a pipe might never end.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(Error::input(&name, None, "mesh", "is not a file; give an OBJ file"));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Self::from_obj_bytes(&name, &bytes)
    }

    /// Reads an OBJ file that is already in memory; `name` stands for the file in errors.
    pub fn from_obj_bytes(name: &str, bytes: &[u8]) -> Result<(Self, MeshReport)> {
        let checked = checked_copy(name, bytes)?;
        let options = tobj::LoadOptions {
            single_index: true,
            triangulate: true,
            ignore_points: true,
            ignore_lines: true,
        };
        let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
        let (models, _) = tobj::load_obj_buf(&mut checked.as_slice(), &options, no_materials)
            .map_err(|error| {
                Error::input(name, None, "mesh", format!("{error}; export it again as plain OBJ"))
            })?;

        let mut mesh = Self::default();
        for model in models {
            let base = mesh.vertices.len() as u32;
            mesh.vertices.extend(model.mesh.positions.as_chunks().0.iter().map(|&p| Vec3::from(p)));
            let faces = model.mesh.indices.as_chunks().0.iter();
            mesh.triangles.extend(faces.map(|f: &[u32; 3]| f.map(|i| base + i)));
        }
        let (mesh, report) = mesh.welded();
        if report.triangles == 0 {
            let message = format!(
                "all {} triangles have no area; check the coordinates and the unit (metres)",
                report.degenerate
            );
            return Err(Error::input(name, None, "mesh", message));
        }
        mesh.validate().map_err(|error| Error::input(name, None, "mesh", error.to_string()))?;
        Ok((mesh, report))
    }
}

/// The file's positions and faces as `v` and `f` lines that tobj cannot stumble over.
fn checked_copy(name: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    if let Some(zero) = bytes.iter().position(|&byte| byte == 0) {
        let line = 1 + bytes[..zero].iter().filter(|&&byte| byte == b'\n').count();
        let message = "holds a zero byte, so it is not text; give an OBJ file";
        return Err(Error::input(name, Some(line), "mesh", message));
    }
    let mut positions = Vec::new();
    let mut faces: Vec<u8> = Vec::new();
    let mut position_count = 0_i64;
    let mut face_count = 0_usize;
    let mut highest = Corner { index: 0, line: 0 };
    for (line, text) in statements(bytes) {
        let fail = |field: &str, message: String| Error::input(name, Some(line), field, message);
        let mut words = text.split_whitespace();
        match words.next() {
            Some("v") => {
                let [x, y, z] = position(words).map_err(|message| fail("vertex", message))?;
                position_count += 1;
                writeln_into(&mut positions, format_args!("v {x} {y} {z}"));
            }
            Some("f") => {
                let corners = words
                    .map(|word| corner(word, position_count))
                    .collect::<Result<Vec<i64>, String>>()
                    .map_err(|message| fail("face", message))?;
                if corners.len() < 3 {
                    let message = format!("has {} corners; a face needs three", corners.len());
                    return Err(fail("face", message));
                }
                face_count += 1;
                faces.push(b'f');
                for index in corners {
                    if index > highest.index {
                        highest = Corner { index, line };
                    }
                    faces.extend_from_slice(format!(" {index}").as_bytes());
                }
                faces.push(b'\n');
            }
            Some(kind @ ("curv" | "curv2" | "surf")) => {
                let message = "is a free-form shape, which is not read; export it as polygons";
                return Err(fail(kind, message.into()));
            }
            _ => {}
        }
    }
    if face_count == 0 {
        let message = format!(
            "has {position_count} vertices and no faces; give an OBJ file with at least one face"
        );
        return Err(Error::input(name, None, "mesh", message));
    }
    if highest.index > position_count {
        let message = format!(
            "names vertex {}, but there are {position_count}; indices run from 1 to that",
            highest.index
        );
        return Err(Error::input(name, Some(highest.line), "face", message));
    }
    if position_count > i64::from(u32::MAX) {
        return Err(Error::TooLarge {
            what: name.into(),
            needed: format!("{position_count} vertices"),
            limit: "a mesh holds at most 2^32; give a coarser one".into(),
        });
    }
    positions.append(&mut faces);
    Ok(positions)
}

/// The highest vertex a face asks for, and where.
struct Corner {
    index: i64,
    line: usize,
}

/// Statements with the number of their first line: comments off, lines ending in `\` joined.
/// Bytes that are not UTF-8 are let through, since old files have them in names and comments.
fn statements(bytes: &[u8]) -> impl Iterator<Item = (usize, String)> {
    let mut lines = bytes.split(|&byte| byte == b'\n').enumerate();
    std::iter::from_fn(move || {
        let (start, first) = lines.next()?;
        let mut text = uncommented(first);
        while text.ends_with('\\') {
            text.pop();
            let Some((_, next)) = lines.next() else { break };
            text.push(' ');
            text.push_str(&uncommented(next));
        }
        Some((start + 1, text))
    })
}

fn uncommented(line: &[u8]) -> String {
    let code = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    String::from_utf8_lossy(code).trim().to_owned()
}

/// `x y z`, `x y z w`, or `x y z` and a colour of three or four values.
fn position<'a>(words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], String> {
    let words: Vec<&str> = words.collect();
    let number = |word: &str| match word.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("{word:?} is not finite; give metres as an ordinary number")),
        Err(_) => Err(format!("{word:?} is not a number; give metres such as 0.25")),
    };
    let (&[x, y, z], rest) = words.split_first_chunk().ok_or_else(|| wrong_count(words.len()))?;
    let at = [number(x)?, number(y)?, number(z)?];
    match *rest {
        [] | [_, _, _] | [_, _, _, _] => Ok(at),
        [w] => {
            let weight = number(w)?;
            let scaled = at.map(|value| value / weight);
            if scaled.iter().all(|value| value.is_finite()) {
                Ok(scaled)
            } else {
                Err(format!("cannot be divided by its weight {w}; leave the weight out"))
            }
        }
        _ => Err(wrong_count(words.len())),
    }
}

fn wrong_count(count: usize) -> String {
    format!("has {count} numbers; give x y z, with a weight or a colour at most")
}

/// The position index of a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`, counted from 1.
/// Negative indices count back from the last vertex so far.
fn corner(word: &str, position_count: i64) -> Result<i64, String> {
    let index = word.split('/').next().unwrap_or_default();
    match index.parse::<i64>() {
        Ok(0) => Err("index 0 is not a vertex; OBJ counts from 1".into()),
        Ok(index) if index > 0 => Ok(index),
        Ok(back) if back >= -position_count => Ok(position_count + 1 + back),
        Ok(back) => Err(format!(
            "{back} reaches before the first vertex; {position_count} were given above it"
        )),
        Err(_) => Err(format!("{word:?} is not a vertex index; give numbers such as 3 or 3/1/2")),
    }
}

fn writeln_into(text: &mut Vec<u8>, line: std::fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<(TriangleMesh, MeshReport)> {
        TriangleMesh::from_obj_bytes("test.obj", text.as_bytes())
    }

    fn error(text: &str) -> String {
        load(text).unwrap_err().to_string()
    }

    #[test]
    fn groups_polygons_and_every_way_to_name_a_corner() {
        let text = "mtllib none.mtl\no one\nv 0 0 0\nv 1 0 0 # corner\nv 1 1 0 1 0 0\nv 0 2 0 2\n\
                    vt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3/1 -1\ng two\nusemtl red\nf 1 \\\n2 5\nv 0 0 1\nl 1 2\n";
        let (mesh, report) = load(text).unwrap();
        assert_eq!((report.vertices, report.triangles, report.degenerate), (5, 3, 0));
        assert!(mesh.vertices.contains(&Vec3::Y), "the weight divides: {:?}", mesh.vertices);
    }

    #[test]
    fn identical_vertices_are_welded_and_flat_triangles_counted() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 2 0 0\nf 1 2 3\nf 4 3 2\nf 1 2 5\n";
        let (mesh, report) = load(text).unwrap();
        assert_eq!((report.triangles, report.degenerate), (2, 1));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 1]]);
    }

    #[test]
    fn errors_name_file_line_and_remedy() {
        assert_eq!(
            error("v 0 0 0\n\nv 1 nan 0\n"),
            "test.obj:3: vertex: \"nan\" is not finite; give metres as an ordinary number"
        );
        assert!(error("v 0 0 1e39\n").starts_with("test.obj:1: vertex: "));
        assert!(error("v 0 0\n").contains("has 2 numbers"));
        assert!(error("v 0 0 0 0\n").contains("weight"));
        assert!(error("v 0 0 0\nf 1 1\n").starts_with("test.obj:2: face: has 2 corners"));
        assert!(
            error("v 0 0 0\nf 1 1 7\nf 1 1 1\n").starts_with("test.obj:2: face: names vertex 7")
        );
        assert!(error("f -1 1 1\n").contains("reaches before"));
        assert!(error("f 0 1 1\n").contains("counts from 1"));
        assert!(error("f 1 b 1\n").contains("\"b\" is not a vertex index"));
        assert!(error("surf 0 1 0 1 1\n").starts_with("test.obj:1: surf: "));
        assert!(error("v 0 0 0\nf 1 1 1\n").contains("no area"));
        assert!(error("").contains("no faces"));
        assert!(error("v 1 2 3\nab\0c").starts_with("test.obj:2: mesh: holds a zero byte"));
    }

    #[test]
    fn texture_indices_beyond_any_range_do_not_matter() {
        let text =
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/9223372036854775807 2/-9223372036854775808 3\n";
        assert_eq!(load(text).unwrap().1.triangles, 1);
    }

    #[test]
    fn bytes_that_are_not_utf8_may_stand_in_names() {
        let text = b"# caf\xe9\no \xff\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        assert!(TriangleMesh::from_obj_bytes("latin1", text).is_ok());
    }
}
