//! Aligned text tables.

use std::fmt;

/// A table; the first column is aligned left and the others right unless told otherwise.
pub struct Table {
    rows: Vec<Vec<String>>,
    align: &'static str,
}

impl Table {
    /// A table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Table { rows: vec![headings.into_iter().map(Into::into).collect()], align: "<" }
    }

    /// One `<` for each column of words, `>` for each of numbers.
    pub fn align(mut self, columns: &'static str) -> Self {
        self.align = columns;
        self
    }

    /// Adds a row; missing cells stay empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(c));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (c, &width) in widths.iter().enumerate() {
                let cell = row.get(c).map_or("", String::as_str);
                let gap = if c == 0 { "" } else { "  " };
                line += &match self.align.as_bytes().get(c) == Some(&b'<') {
                    true => format!("{gap}{cell:<width$}"),
                    false => format!("{gap}{cell:>width$}"),
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number with as many digits as say something: 0.0123, 1.23, 12.3, 123, 1.2e9.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        a if !(1e-4..1e7).contains(&a) => format!("{value:.2e}"),
        a if a < 0.1 => format!("{value:.4}"),
        a if a < 1.0 => format!("{value:.3}"),
        a if a < 10.0 => format!("{value:.2}"),
        a if a < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["pass", "ms"]);
        table.row(["predict", "1.5"]);
        table.row(["sleep"]);
        assert_eq!(table.to_string(), "pass      ms\npredict  1.5\nsleep\n");
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0, 0.012_34, 0.5, 1.234, 56.78, 1234.5, 1e9].map(number);
        assert_eq!(shown, ["0", "0.0123", "0.500", "1.23", "56.8", "1234", "1.00e9"]);
    }
}
