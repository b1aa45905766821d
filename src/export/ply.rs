//! Binary PLY, little endian: one `vertex` element a particle, 36 bytes each, then one `face` a
//! triangle, 13 bytes each.

use std::io::{self, Write};

use super::Frame;

pub(super) fn write(out: &mut dyn Write, frame: &Frame<'_>) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0\ncomment motes, metres and seconds, y up")?;
    writeln!(out, "element vertex {}", frame.positions.len())?;
    for name in ["x", "y", "z", "vx", "vy", "vz", "radius"] {
        writeln!(out, "property float {name}")?;
    }
    writeln!(out, "property uint phase\nproperty uint id")?;
    // Readers differ in what they make of an element that has none.
    if !frame.triangles.is_empty() {
        writeln!(out, "element face {}", frame.triangles.len())?;
        writeln!(out, "property list uchar int vertex_indices")?;
    }
    writeln!(out, "end_header")?;
    for (i, position) in frame.positions.iter().enumerate() {
        for value in position.to_array().into_iter().chain(frame.velocities[i].to_array()) {
            out.write_all(&value.to_le_bytes())?;
        }
        out.write_all(&frame.radii[i].to_le_bytes())?;
        out.write_all(&frame.phases[i].to_le_bytes())?;
        out.write_all(&frame.ids[i].to_le_bytes())?;
    }
    for triangle in frame.triangles {
        out.write_all(&[3])?;
        for corner in triangle {
            out.write_all(&corner.to_le_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::FRAME;
    use super::*;

    #[test]
    fn reads_back_bit_for_bit() {
        let mut bytes = Vec::new();
        write(&mut bytes, &FRAME).unwrap();
        let mark = b"end_header\n";
        let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let header = std::str::from_utf8(&bytes[..start]).unwrap();
        assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"));
        assert!(header.contains("\nelement vertex 3\n"));
        let properties: Vec<&str> =
            header.lines().filter_map(|line| line.strip_prefix("property ")).collect();
        assert_eq!(
            properties.join(", "),
            "float x, float y, float z, float vx, float vy, float vz, float radius, \
             uint phase, uint id, list uchar int vertex_indices"
        );
        assert!(header.contains("\nelement face 1\n"));
        let per_vertex = properties.len() - 1;
        let (vertices, faces) = bytes[start..].split_at(3 * 4 * per_vertex);
        assert_eq!(faces, [3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        let (words, rest) = vertices.as_chunks::<4>();
        assert!(rest.is_empty());
        for (i, row) in words.chunks(per_vertex).enumerate() {
            let float = |k: usize| f32::from_le_bytes(row[k]);
            assert_eq!([float(0), float(1), float(2)], FRAME.positions[i].to_array());
            assert_eq!([float(3), float(4), float(5)], FRAME.velocities[i].to_array());
            assert_eq!(float(6), FRAME.radii[i]);
            assert_eq!(u32::from_le_bytes(row[7]), FRAME.phases[i]);
            assert_eq!(u32::from_le_bytes(row[8]), FRAME.ids[i]);
        }
    }
}
