//! Legacy VTK poly data, binary, which is big endian by definition: points, a vertex cell for each
//! particle (ParaView shows no points without cells), lines, polygons, and the point data.

use std::io::{self, Write};

use glam::Vec3;

use super::Frame;

pub(super) fn write(out: &mut dyn Write, frame: &Frame<'_>) -> io::Result<()> {
    let count = frame.positions.len();
    writeln!(out, "# vtk DataFile Version 3.0\nmotes, metres and seconds, y up\nBINARY")?;
    writeln!(out, "DATASET POLYDATA\nPOINTS {count} float")?;
    vectors(out, frame.positions)?;
    if count > 0 {
        cells(out, "VERTICES", (0..count as u32).map(|i| [i]), count)?;
    }
    if !frame.edges.is_empty() {
        cells(out, "LINES", frame.edges.iter().copied(), frame.edges.len())?;
    }
    if !frame.triangles.is_empty() {
        cells(out, "POLYGONS", frame.triangles.iter().copied(), frame.triangles.len())?;
    }
    writeln!(out, "POINT_DATA {count}\nVECTORS velocity float")?;
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
    kind: &str,
    items: impl Iterator<Item = [u32; N]>,
    count: usize,
) -> io::Result<()> {
    writeln!(out, "{kind} {count} {}", count * (N + 1))?;
    for item in items {
        out.write_all(&(N as u32).to_be_bytes())?;
        for index in item {
            out.write_all(&index.to_be_bytes())?;
        }
    }
    writeln!(out)
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
        assert_eq!(file.line(), "DATASET POLYDATA");
        assert_eq!(file.line(), "POINTS 3 float");
        assert_eq!(file.floats(9), flat(FRAME.positions));
        assert_eq!(file.line(), "VERTICES 3 6");
        assert_eq!(file.words(6), [1, 0, 1, 1, 1, 2]);
        assert_eq!(file.line(), "LINES 2 6");
        assert_eq!(file.words(6), [2, 0, 1, 2, 1, 2]);
        assert_eq!(file.line(), "POLYGONS 1 4");
        assert_eq!(file.words(4), [3, 0, 1, 2]);
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
