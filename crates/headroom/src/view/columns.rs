//! Text in aligned columns.

/// Rows as lines, each column as wide as its widest cell, two spaces between columns and none at the end.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..).map_while(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// One row.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_by_characters() {
        let rows = [row(["GROUP", "SIZE", "PODS"]), row(["bücher", "2 -> 8 (+6)", "9"]), row(["b", "3"])];
        assert_eq!(columns(&rows), ["GROUP   SIZE         PODS", "bücher  2 -> 8 (+6)  9", "b       3"]);
    }
}
