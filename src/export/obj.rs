//! OBJ text: `v` positions, `l` edges, `f` triangles, `p` particles without them, `g` groups. Numbers are written with as many digits as
//! give the same f32 when read.

use std::io::{self, Write};

use super::{Frame, Group};

pub(super) fn write(out: &mut dyn Write, frame: &Frame<'_>) -> io::Result<()> {
    writeln!(out, "# motes, metres, y up")?;
    for v in frame.positions {
        writeln!(out, "v {} {} {}", v.x, v.y, v.z)?;
    }
    // OBJ counts from 1; in u64, so that the last u32 has a successor.
    let number = |i: u32| u64::from(i) + 1;
    if !frame.edges.is_empty() && !frame.groups.is_empty() {
        writeln!(out, "g edges")?;
    }
    for &[a, b] in frame.edges {
        writeln!(out, "l {} {}", number(a), number(b))?;
    }
    let everything = [Group { name: "", triangles: 0..frame.triangles.len(), points: &[] }];
    let groups = if frame.groups.is_empty() { &everything[..] } else { frame.groups };
    for Group { name, triangles, points } in groups {
        if !frame.groups.is_empty() {
            writeln!(out, "g {}", one_word(name))?;
        }
        for &[a, b, c] in &frame.triangles[triangles.clone()] {
            writeln!(out, "f {} {} {}", number(a), number(b), number(c))?;
        }
        for &point in *points {
            writeln!(out, "p {}", number(point))?;
        }
    }
    Ok(())
}

/// A name that readers take for one: blanks would make several groups of it, and a line break
/// would end it.
fn one_word(name: &str) -> String {
    let word = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
    if name.is_empty() { "object".into() } else { name.chars().map(word).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::sample::FRAME;
    use super::*;
    use crate::shape::mesh::TriangleMesh;

    #[test]
    fn reads_back_bit_for_bit() {
        let mut bytes = Vec::new();
        write(&mut bytes, &FRAME).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let rows = |kind: &str| -> Vec<Vec<String>> {
            let of_kind = text.lines().filter_map(|line| line.strip_prefix(kind));
            of_kind.map(|row| row.split(' ').map(str::to_owned).collect()).collect()
        };
        let positions: Vec<[f32; 3]> = rows("v ")
            .iter()
            .map(|row| [&row[0], &row[1], &row[2]].map(|word| word.parse().unwrap()))
            .collect();
        assert_eq!(positions, FRAME.positions.iter().map(|v| v.to_array()).collect::<Vec<_>>());
        assert_eq!(rows("l "), [["1", "2"], ["2", "3"]]);
        assert_eq!(rows("f "), [["1", "2", "3"]]);
    }

    #[test]
    fn every_group_has_its_faces_and_its_name_in_one_word() {
        let groups = [
            Group { name: "no skin", triangles: 0..0, points: &[0, 2] },
            Group { name: "", triangles: 0..1, points: &[] },
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, &Frame { groups: &groups, ..FRAME }).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let rest = text.split_once("g edges\n").unwrap().1;
        assert_eq!(rest, "l 1 2\nl 2 3\ng no_skin\np 1\np 3\ng object\nf 1 2 3\n");
    }

    #[test]
    fn a_written_skin_loads_as_a_mesh() {
        let mut bytes = Vec::new();
        write(&mut bytes, &FRAME).unwrap();
        let (mesh, _) = TriangleMesh::from_obj_bytes("frame", &bytes).unwrap();
        assert_eq!(mesh.vertices, FRAME.positions);
        assert_eq!(mesh.triangles, FRAME.triangles);
    }
}
