//! OBJ text: `v` positions, `l` edges, `f` triangles. Numbers are written with as many digits as
//! give the same f32 when read.

use std::io::{self, Write};

use super::Frame;

pub(super) fn write(out: &mut dyn Write, frame: &Frame<'_>) -> io::Result<()> {
    writeln!(out, "# motes, metres, y up")?;
    for v in frame.positions {
        writeln!(out, "v {} {} {}", v.x, v.y, v.z)?;
    }
    // OBJ counts from 1; in u64, so that the last u32 has a successor.
    let number = |i: u32| u64::from(i) + 1;
    for &[a, b] in frame.edges {
        writeln!(out, "l {} {}", number(a), number(b))?;
    }
    for &[a, b, c] in frame.triangles {
        writeln!(out, "f {} {} {}", number(a), number(b), number(c))?;
    }
    Ok(())
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
    fn a_written_skin_loads_as_a_mesh() {
        let mut bytes = Vec::new();
        write(&mut bytes, &FRAME).unwrap();
        let (mesh, _) = TriangleMesh::from_obj_bytes("frame", &bytes).unwrap();
        assert_eq!(mesh.vertices, FRAME.positions);
        assert_eq!(mesh.triangles, FRAME.triangles);
    }
}
