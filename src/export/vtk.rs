//! Legacy VTK, binary, which is big endian by definition: an unstructured grid of points, a vertex
//! cell for each particle (ParaView shows no points without cells), lines, triangles, and the point
//! data. Poly data would say the same, but meshio does not read it.

use std::io::{self, Write};

use glam::Vec3;

use super::Frame;

/// The numbers of VTK for what a cell is.
const VERTEX: u32 = 1;
const LINE: u32 = 3;
const TRIANGLE: u32 = 5;

pub(super) fn write(out: &mut dyn Write, frame: &Frame<'_>) -> io::Result<()> {
    let count = frame.positions.len();
    writeln!(out, "# vtk DataFile Version 3.0\nmotes, metres and seconds, y up\nBINARY")?;
    writeln!(out, "DATASET UNSTRUCTURED_GRID\nPOINTS {count} float")?;
    vectors(out, frame.positions)?;
    let (edges, triangles) = (frame.edges.len(), frame.triangles.len());
    let all = count + edges + triangles;
    writeln!(out, "CELLS {all} {}", 2 * count + 3 * edges + 4 * triangles)?;
    cells(out, (0..count as u32).map(|i| [i]))?;
    cells(out, frame.edges.iter().copied())?;
    cells(out, frame.triangles.iter().copied())?;
    writeln!(out, "\nCELL_TYPES {all}")?;
    for (kind, count) in [(VERTEX, count), (LINE, edges), (TRIANGLE, triangles)] {
        for _ in 0..count {
            out.write_all(&kind.to_be_bytes())?;
        }
    }
    writeln!(out, "\nPOINT_DATA {count}\nVECTORS velocity float")?;
    vectors(out, frame.velocities)?;
    scalars(out, "radius float", frame.radii.iter().map(|value| value.to_be_bytes()))?;
    scalars(out, "phase unsigned_int", frame.phases.iter().map(|value| value.to_be_bytes()))?;
    scalars(out, "id unsigned_int", frame.ids.iter().map(|value| value.to_be_bytes()))
}

fn vectors(out: &mut dyn Write, values: &[Vec3]) -> io::Result<()> {
    for value in values.iter().flat_map(|v| v.to_array()) {
        out.write_all(&value.to_be_bytes())?;
    }
    writeln!(out)
}

fn cells<const N: usize>(
    out: &mut dyn Write,
    items: impl Iterator<Item = [u32; N]>,
) -> io::Result<()> {
    for item in items {
        out.write_all(&(N as u32).to_be_bytes())?;
        for index in item {
            out.write_all(&index.to_be_bytes())?;
        }
    }
    Ok(())
}

fn scalars(
    out: &mut dyn Write,
    name_and_type: &str,
    values: impl Iterator<Item = [u8; 4]>,
) -> io::Result<()> {
    writeln!(out, "SCALARS {name_and_type} 1\nLOOKUP_TABLE default")?;
    for value in values {
        out.write_all(&value)?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::super::sample::FRAME;
    use super::*;

    /// Walks a file: text lines, and runs of big-endian words that end with a line break.
    struct Reader<'a>(&'a [u8]);

    impl Reader<'_> {
        fn line(&mut self) -> String {
            let end = self.0.iter().position(|&byte| byte == b'\n').unwrap();
            let line = std::str::from_utf8(&self.0[..end]).unwrap().to_owned();
            self.0 = &self.0[end + 1..];
            line
        }

        fn words(&mut self, count: usize) -> Vec<u32> {
            let (data, rest) = self.0.split_at(count * 4);
            self.0 = rest.strip_prefix(b"\n").unwrap();
            data.as_chunks().0.iter().map(|&word| u32::from_be_bytes(word)).collect()
        }

        fn floats(&mut self, count: usize) -> Vec<f32> {
            self.words(count).into_iter().map(f32::from_bits).collect()
        }
    }

    fn flat(values: &[Vec3]) -> Vec<f32> {
        values.iter().flat_map(|v| v.to_array()).collect()
    }

    #[test]
    fn reads_back_bit_for_bit() {
        let mut bytes = Vec::new();
        write(&mut bytes, &FRAME).unwrap();
        let mut file = Reader(&bytes);
        assert_eq!(file.line(), "# vtk DataFile Version 3.0");
        file.line();
        assert_eq!(file.line(), "BINARY");
        assert_eq!(file.line(), "DATASET UNSTRUCTURED_GRID");
        assert_eq!(file.line(), "POINTS 3 float");
        assert_eq!(file.floats(9), flat(FRAME.positions));
        assert_eq!(file.line(), "CELLS 6 16");
        assert_eq!(file.words(16), [1, 0, 1, 1, 1, 2, 2, 0, 1, 2, 1, 2, 3, 0, 1, 2]);
        assert_eq!(file.line(), "CELL_TYPES 6");
        assert_eq!(file.words(6), [1, 1, 1, 3, 3, 5]);
        assert_eq!(file.line(), "POINT_DATA 3");
        assert_eq!(file.line(), "VECTORS velocity float");
        assert_eq!(file.floats(9), flat(FRAME.velocities));
        assert_eq!(file.line(), "SCALARS radius float 1");
        assert_eq!(file.line(), "LOOKUP_TABLE default");
        assert_eq!(file.floats(3), FRAME.radii);
        assert_eq!(file.line(), "SCALARS phase unsigned_int 1");
        assert_eq!(file.line(), "LOOKUP_TABLE default");
        assert_eq!(file.words(3), FRAME.phases);
        assert_eq!(file.line(), "SCALARS id unsigned_int 1");
        assert_eq!(file.line(), "LOOKUP_TABLE default");
        assert_eq!(file.words(3), FRAME.ids);
        assert!(file.0.is_empty());
    }
}
