//! A reader of legacy VTK that keeps to the rules of meshio 5.3 (`meshio/vtk/_vtk_42.py`), which is
//! stricter than ParaView: what it refuses is refused here, for the same reason. It reads binary
//! files only, since we write no others.

use std::collections::BTreeMap;

/// How many corners a cell has, by its number; -1 is a kind that meshio cannot handle.
const CORNERS: [i8; 15] = [0, 1, -1, 2, -1, 3, -1, -1, -1, 4, 4, -1, 8, 6, 5];

/// Sections that stand for themselves; everything else belongs to the one before it.
const SECTIONS: [&str; 9] = [
    "METADATA",
    "DATASET",
    "POINTS",
    "CELLS",
    "CELL_TYPES",
    "POINT_DATA",
    "CELL_DATA",
    "LOOKUP_TABLE",
    "COLOR_SCALARS",
];

/// Values of one array as the words they are in the file.
#[derive(Debug, PartialEq)]
pub struct Array {
    pub kind: String,
    /// Words of each row.
    pub width: usize,
    pub words: Vec<u32>,
}

impl Array {
    pub fn floats(&self) -> Vec<f32> {
        assert_eq!(self.kind, "float");
        self.words.iter().map(|&word| f32::from_bits(word)).collect()
    }
}

#[derive(Default)]
pub struct Mesh {
    pub points: Option<Array>,
    /// Neighbouring cells of one kind are a block: the kind's number, and the corners of each.
    pub blocks: Vec<(i32, Vec<Vec<u32>>)>,
    pub point_data: BTreeMap<String, Array>,
}

pub type Read<T> = Result<T, String>;

struct File<'a>(&'a [u8]);

impl File<'_> {
    /// A line with its end, or nothing at the end of the file.
    fn line(&mut self) -> Read<String> {
        let end = self.0.iter().position(|&byte| byte == b'\n').map_or(self.0.len(), |at| at + 1);
        let (line, rest) = self.0.split_at(end);
        self.0 = rest;
        // Python's `decode` fails on what is not UTF-8, as binary data rarely is.
        String::from_utf8(line.to_vec()).map_err(|_| "a line is not UTF-8".into())
    }

    /// Big-endian words, and the end of a line after them.
    fn words(&mut self, count: usize) -> Read<Vec<u32>> {
        let bytes = count.checked_mul(4).filter(|&bytes| bytes <= self.0.len());
        let (data, rest) = self.0.split_at(bytes.ok_or("the file ends within an array")?);
        self.0 = rest;
        if self.line()? != "\n" {
            return Err("no line break after an array".into());
        }
        Ok(data.as_chunks().0.iter().map(|&word| u32::from_be_bytes(word)).collect())
    }

    fn array(&mut self, kind: &str, width: usize, rows: usize) -> Read<Array> {
        let kind = kind.to_lowercase();
        // All that we write is four bytes wide.
        if !["float", "int", "unsigned_int"].contains(&kind.as_str()) {
            return Err(format!("unknown type {kind}"));
        }
        Ok(Array { kind, width, words: self.words(width * rows)? })
    }
}

fn word<'a>(words: &[&'a str], at: usize) -> Read<&'a str> {
    words.get(at).copied().ok_or_else(|| format!("{words:?} ends too early"))
}

fn number(words: &[&str], at: usize) -> Read<usize> {
    word(words, at)?.parse().map_err(|_| format!("{words:?}: expected a number at {at}"))
}

pub fn read(bytes: &[u8]) -> Read<Mesh> {
    let mut file = File(bytes);
    if !file.line()?.trim().starts_with("# vtk DataFile Version") {
        return Err("illegal VTK header".into());
    }
    // The title is skipped.
    file.line()?;
    let kind = file.line()?.trim().to_uppercase();
    if kind != "BINARY" {
        return Err(format!("unknown VTK data type {kind}"));
    }
    let mut mesh = Mesh::default();
    let (mut cells, mut kinds) = (None, None);
    let (mut active, mut rows, mut has_dataset) = (String::new(), 0, false);
    loop {
        let line = file.line()?;
        if line.is_empty() {
            break;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(section) = words.first().map(|word| word.to_uppercase()) else { continue };
        if SECTIONS.contains(&section.as_str()) {
            active = section.clone();
        }
        match section.as_str() {
            "DATASET" if word(&words, 1)? == "UNSTRUCTURED_GRID" => has_dataset = true,
            "DATASET" => return Err(format!("{} is not supported", word(&words, 1)?)),
            "POINTS" => mesh.points = Some(file.array(word(&words, 2)?, 3, number(&words, 1)?)?),
            "CELLS" => cells = Some(file.words(number(&words, 2)?)?),
            "CELL_TYPES" => kinds = Some(file.words(number(&words, 1)?)?),
            "POINT_DATA" => rows = number(&words, 1)?,
            "SCALARS" | "VECTORS" if active == "POINT_DATA" => {
                let width = match section.as_str() {
                    "VECTORS" => 3,
                    _ => scalars_width(&mut file, &words)?,
                };
                let array = file.array(word(&words, 2)?, width, rows)?;
                mesh.point_data.insert(word(&words, 1)?.into(), array);
            }
            _ => return Err(format!("unknown section {section}")),
        }
    }
    if !has_dataset {
        return Err("no DATASET".into());
    }
    let cells = cells.ok_or("required section CELLS not found")?;
    let kinds = kinds.ok_or("required section CELL_TYPES not found")?;
    mesh.blocks = blocks(&cells, &kinds)?;
    check(&mesh)?;
    Ok(mesh)
}

/// The components of scalars, and the line with their table of colours.
fn scalars_width(file: &mut File, words: &[&str]) -> Read<usize> {
    let width = if words.len() > 3 { number(words, 3)? } else { 1 };
    if !(1..=4).contains(&width) {
        return Err("the number of components must be from 1 to 4".into());
    }
    let line = file.line()?;
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [table, _] if table.eq_ignore_ascii_case("LOOKUP_TABLE") => Ok(width),
        _ => Err(format!("expected LOOKUP_TABLE and a name, got {line:?}")),
    }
}

/// Where each cell begins follows from the kinds before it, and its own count has to agree.
fn blocks(cells: &[u32], kinds: &[u32]) -> Read<Vec<(i32, Vec<Vec<u32>>)>> {
    let mut blocks: Vec<(i32, Vec<Vec<u32>>)> = Vec::new();
    let mut rest = cells;
    for &kind in kinds {
        let corners = CORNERS.get(kind as usize).copied().filter(|&corners| corners > 0);
        let corners = corners.ok_or_else(|| format!("cells of kind {kind}"))? as usize;
        let (cell, after) =
            rest.split_at_checked(corners + 1).ok_or("CELLS end before CELL_TYPES do")?;
        if cell[0] as usize != corners {
            return Err(format!("a cell of kind {kind} has {} corners", cell[0]));
        }
        rest = after;
        match blocks.last_mut() {
            Some((last, block)) if *last == kind as i32 => block.push(cell[1..].to_vec()),
            _ => blocks.push((kind as i32, vec![cell[1..].to_vec()])),
        }
    }
    Ok(blocks)
}

/// What `meshio.Mesh` asks of its parts, and that every corner is a point, which it leaves to whoever
/// uses the mesh.
fn check(mesh: &Mesh) -> Read<()> {
    let points = mesh.points.as_ref().ok_or("no POINTS")?.words.len() / 3;
    for (name, array) in &mesh.point_data {
        if array.words.len() != array.width * points {
            return Err(format!("{name} has not as many rows as there are points"));
        }
    }
    let mut corners = mesh.blocks.iter().flat_map(|(_, block)| block.iter().flatten());
    match corners.find(|&&corner| corner as usize >= points) {
        Some(corner) => Err(format!("point {corner} of {points}")),
        None => Ok(()),
    }
}
